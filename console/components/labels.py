"""Recorded names as labels of fields: Streamlit reads Markdown in them, and shall find none."""

import re

_SIGNS = frozenset("\\`*_{}[]#+-.!~:$|<>&")
"""Not `(` and `)`: without brackets before them they are text, and a label is read aloud as it is
written, with every backslash."""
_LIST = re.compile(r"(\s*\d+)\)")
_PLAIN = re.compile(r"(?<=[^\W_])[_-](?=[^\W_])|(?<=\d):(?= )")
"""Signs that are text where they stand, as in `customer_id`."""


def label(text: str) -> str:
    """Return a text that a field shows exactly as it is."""
    plain = {found.start() for found in _PLAIN.finditer(text)}
    shown = "".join(
        f"\\{sign}" if sign in _SIGNS and place not in plain else sign
        for place, sign in enumerate(text)
    )
    return _LIST.sub(r"\1\\)", shown, count=1) if _LIST.match(shown) else shown
