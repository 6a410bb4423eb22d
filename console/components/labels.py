"""Recorded names as labels of fields: Streamlit reads Markdown in them, and shall find none."""

import re

_SIGNS = frozenset("\\`*_[]#+-.!~:$|<>&")
"""Not `(`, `)`, `{` and `}`: without brackets or a colon before them they are text, and a label is
read aloud as it is written, with every backslash."""
_LIST = re.compile(r"(\s*\d+)\)")
_PLAIN = re.compile(r"(?<=[^\W_])[_-](?=[^\W_])|:(?= )")
"""Signs that are text where they stand, as in `customer_id`."""

_DRAWN = re.compile(r"(?<=:)(?=material/|streamlit:)|(?<=-)(?=[->])|(?<=<)(?=[-=])|(?<=[>~])(?==)")
"""Where Streamlit puts a sign or an arrow in the place of text, escaped or not: an invisible sign
that joins words keeps it from doing so."""


def label(text: str) -> str:
    """Return a text that a field shows exactly as it is."""
    text = _DRAWN.sub("\u2060", text)
    plain = {found.start() for found in _PLAIN.finditer(text)}
    shown = "".join(
        f"\\{sign}" if sign in _SIGNS and place not in plain else sign
        for place, sign in enumerate(text)
    )
    return _LIST.sub(r"\1\\)", shown, count=1) if _LIST.match(shown) else shown
