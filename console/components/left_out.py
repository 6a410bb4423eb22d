"""Values that a record leaves out, asked for before anybody reads on from it."""

from collections.abc import Callable, Mapping, Sequence
from itertools import groupby

import streamlit as st

from handoff_console.console.commands.left_out_values import Asked, said_values
from handoff_console.console.components.labels import label
from handoff_console.console.components.panel import Node, panel, tag
from handoff_console.console.viewmodels.text import one_line

VALUE_CHARACTERS = 20_000
FIELD_PIXELS = 320
MISSING = "Say each value that was left out of its record, or let the agents read the marks."
LEAVE = "Where nothing is said, let the agents read the mark"


def left_out_form(
    asked: Sequence[Asked],
    session_id: str,
    name: str,
    on_click: Callable[[], None],
    *,
    missing: str = "",
    at: str = "",
) -> None:
    """Draw a field for each value, and the button that goes on with them.

    A form, because a hidden field outside one loses what was typed when the next thing is reached
    by the keyboard.

    Args:
        asked: What is asked for.
        session_id: Of the session: what is said is kept for it, by this page alone.
        name: What stands on the button.
        on_click: Goes on; `said_there` has what was said.
        missing: What has to be said elsewhere before it can be pressed.
        at: The act that it belongs to; empty where it belongs to the session.
    """
    head = " ".join(filter(None, ("left_out", at)))
    # The Enter key in a field is no clear yes to an act.
    with st.form(
        _place(session_id, at), border=False, clear_on_submit=False, enter_to_submit=not at
    ):
        nodes: list[Node] = [
            tag("b", "Values were left out of its record. Say them, so that its agents read them."),
            tag("p.quiet.small", "Only their form can be checked. They are written down nowhere."),
        ]
        panel(head, nodes)
        for place, there in groupby(asked, lambda one: one.gap.place):
            fields = list(there)
            where = [tag("span.quiet", f"{place}: "), one_line(fields[0].gap.excerpt, 200)]
            panel(f"{head} {place}", [tag("p.text", *where)])
            with st.container(horizontal=True):
                for one in fields:
                    _field(one, _place(session_id, at))
        st.checkbox(LEAVE, key=f"{_place(session_id, at)}/leave")
        st.form_submit_button(
            name, type="primary", on_click=on_click, disabled=bool(missing), help=missing or None
        )


def _field(one: Asked, form: str) -> None:
    st.text_input(
        _label(one),
        key=_key(form, one),
        type="password",
        max_chars=VALUE_CHARACTERS,
        placeholder="" if one.is_first else "Empty: the same as the first",
        autocomplete="off",
        width=FIELD_PIXELS,
    )


def said_there(
    asked: Sequence[Asked], session_id: str, at: str = ""
) -> tuple[Mapping[str, Sequence[str]], bool]:
    """Return the values that stand in the fields, and whether marks may be read besides."""
    form = _place(session_id, at)
    said = [str(st.session_state.get(_key(form, one)) or "") for one in asked]
    leave = bool(st.session_state.get(f"{form}/leave"))
    return (said_values(asked, said) if any(said) else {}), leave


def forget_said(asked: Sequence[Asked], session_id: str, at: str = "") -> None:
    """Take the values out of the page's memory."""
    for one in asked:
        st.session_state.pop(_key(_place(session_id, at), one), None)


def _label(one: Asked) -> str:
    which = f" ({one.number} of {one.gap.marks})" if one.gap.marks > 1 else ""
    return label(f"{one_line(one.gap.name, 60)}{which}")


def _place(session_id: str, at: str) -> str:
    return "/".join(filter(None, ("left_out", session_id, at)))


def _key(form: str, one: Asked) -> str:
    return f"{form}/{one.gap.place}/{one.gap.name}/{one.number}"
