"""Recorded names as labels of fields: Streamlit reads Markdown in them, and shall find none."""

_SIGNS = frozenset("\\`*_{}[]()#+-.!~:$|<>&")


def label(text: str) -> str:
    """Return a text that a field shows exactly as it is."""
    return "".join(f"\\{sign}" if sign in _SIGNS else sign for sign in text)
