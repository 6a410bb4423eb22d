"""A choice of one value, or of all of them."""

from collections.abc import Sequence
from typing import Any

import streamlit as st

from handoff_console.store.analysis.plain_text import one_line

_ALL = ""


def choice(
    label: str, values: Sequence[str], everything: str, *, key: str, width: int, **more: Any
) -> str | None:
    """Draw a choice of one value; None is everything, which is chosen at first.

    Args:
        label: What is chosen.
        values: What there is; a value without a character is left out.
        everything: What the choice of all of them is called.
        key: Where the choice is kept.
        width: In pixels.
        more: What else Streamlit's own select box takes.
    """
    chosen = st.selectbox(
        label,
        # None would be taken for no choice at all, with a cross beside it to clear it away.
        [_ALL, *(value for value in values if value != _ALL)],
        format_func=lambda value: everything if value == _ALL else one_line(value, 60),
        key=key,
        width=width,
        **more,
    )
    return chosen or None
