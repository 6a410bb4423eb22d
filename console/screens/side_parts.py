"""The parts of the page on which two runs stand side by side."""

from collections.abc import Sequence

import streamlit as st

from handoff_console.console import (
    inbox_queries,
    queries,
    rerun_queries,
    rerun_state,
    shell_lines,
    state,
)
from handoff_console.console.commands.attempt_names import AttemptName
from handoff_console.console.commands.errors import CommandError
from handoff_console.console.components.panel import panel, tag
from handoff_console.console.components.side_by_side import (
    chosen_side,
    picked_pair,
    show_head,
    show_pair,
    show_rows,
)
from handoff_console.console.family_queries import Member
from handoff_console.console.rerun_queries import Compared
from handoff_console.console.screens import attempt_parts
from handoff_console.console.viewmodels.comparison import pairs_to_show, that_varies
from handoff_console.console.viewmodels.text import one_line
from handoff_console.store.analysis.lineage import Attempt
from handoff_console.store.session_filter import SessionFilter

HEIGHT = "clamp(460px, calc(100vh - 420px), 900px)"
"""Of many handoffs; a few are as high as they are."""
FEW_ROWS = 12
FOLLOW_SECONDS = 2.0
CHOICES = 200
"""Sessions that are offered to be compared: the newest ones."""


def chooser(left: Member | None, right: Member | None, asked: Sequence[AttemptName | None]) -> None:
    """Let the reader choose the session that is missing, and say which one does not exist."""
    gone = [one for one, found in zip(asked, (left, right), strict=True) if one and found is None]
    said = (
        f"There is no session {gone[0].session!r} in this store."
        if gone
        else "Compare two sessions."
    )
    panel("missing", [tag("p.big.text", said)])
    rows = inbox_queries.sessions(SessionFilter(), CHOICES, 0)
    if not rows:
        panel("none", [tag("p.text", "This store has no session yet that could be compared.")])
        st.page_link("screens/sessions.py", label="To the list of sessions")
        return
    labels = {row.session_id: f"{row.outcome} · {one_line(row.asked, 80)}" for row in rows}
    chosen: list[str | None] = []
    for title, found in (("Left", left), ("Right", right)):
        known = found.version.session_id if found else None
        chosen.append(
            st.selectbox(
                title,
                list(dict.fromkeys(filter(None, [known, *labels]))),
                index=0 if known else None,
                format_func=lambda one: f"{labels.get(one, '')} · {one}".removeprefix(" · "),
                placeholder="Choose a session",
            )
        )
    first, second = chosen
    if first and second:
        st.button("Compare", type="primary", on_click=rerun_state.put_sides, args=(first, second))


def compared(left: Member, right: Member, handoff_id: str) -> tuple[Compared, tuple[Attempt, ...]]:
    """Return both sides, and the attempts of the handoff where they are attempts of it.

    Where a side names a handoff that is not there, that is said, and the page ends.
    """
    asked = [one.handoff_id if one else "" for one in rerun_queries.sides()]
    sides = [
        AttemptName(member.version.session_id, name)
        for member, name in zip((left, right), asked, strict=True)
    ]
    found = attempt_parts.attempts_of(left.version.session_id, handoff_id) if handoff_id else ()
    names = rerun_queries.names_of(sides[0], sides[1], found, handoff_id)
    try:
        both = rerun_queries.compared(left, right, names, (asked[0], asked[1]))
    except CommandError as error:
        panel("missing", [tag("p.big.text", str(error))])
        st.stop()
    return both, found if names else ()


def follow(sides: Sequence[Member]) -> None:
    """Draw the page again as long as one of two runs goes on, when it has come further."""
    names = {one.version.session_id for one in sides}
    running = {name: queries.version(name) for name in names if queries.is_running(name)}

    def look() -> None:
        if any(queries.version(name) != was for name, was in running.items()):
            st.rerun()

    if running:
        st.fragment(look, run_every=FOLLOW_SECONDS)()


def ways_back(both: Compared, left: Member, right: Member, handoff_id: str) -> None:
    """Draw the ways to the session and to the form, with the same handoff."""
    whole = next((one for one in (left, right) if not one.mode), None)
    session_id = whole.version.session_id if whole else right.rerun_of
    with st.container(horizontal=True, vertical_alignment="center", gap="medium"):
        st.page_link(
            "screens/session.py",
            label="← Back to the session",
            query_params={**state.address_of(session_id), **_at(handoff_id)},
        )
        if handoff_id:
            st.page_link(
                "screens/rerun.py",
                label="↻ Run it again with another change",
                query_params=rerun_state.rerun_address(session_id, handoff_id),
            )
        sides = str(both.right), str(both.left)
        st.button("⇄ Swap sides", type="tertiary", on_click=rerun_state.put_sides, args=sides)


def head(compared: Compared, attempts: Sequence[Attempt]) -> None:
    """Draw both runs, and where they part."""
    sides = {"left": compared.left, "right": compared.right}

    def on_open() -> None:
        side = sides.get(chosen_side())
        if side:
            handoff_id = side.handoff_id or state.selected_handoff() or ""
            address = {**state.address_of(side.session), **_at(handoff_id)}
            rerun_state.leave_for(rerun_state.SESSION, address)

    strip = rerun_queries.strip_of(attempts, None)
    varies = that_varies(strip, compared.right.session, compared.left.session)
    show_head(compared.view, on_open, varies)


def rows(compared: Compared) -> None:
    """Draw the handoffs, those that differ first of all."""
    view = compared.view
    st.toggle(
        "Also handoffs that are the same",
        value=rerun_state.shows_all(),
        key="sides_all",
        on_change=lambda: rerun_state.show_all(not rerun_state.shows_all()),
    )
    shown = pairs_to_show(view.rows, only_changed=not rerun_state.shows_all())

    def on_pick() -> None:
        place = picked_pair()
        if place is not None:
            rerun_state.select_pair(place)

    height = "auto" if len(shown) <= FEW_ROWS else HEIGHT
    show_rows(view, shown, _selected(compared), height, on_pick)


def pair(compared: Compared) -> None:
    """Draw all that differs in the handoff that is looked at."""
    place = _selected(compared)
    show_pair(None if place is None else compared.pair(place), place)


def from_a_shell(compared: Compared, left: Member, right: Member) -> None:
    """Show the command lines: one prints this comparison, the other makes such a re-run again."""
    st.caption("The same from a shell")
    command = shell_lines.diff_command(compared.left, compared.right)
    st.code(command, language="bash", wrap_lines=True)
    rerun = next((one for one in (right, left) if one.mode), None)
    if rerun:
        st.caption("The re-run once more")
        st.code(shell_lines.command_of(rerun), language="bash", wrap_lines=True)


def _selected(compared: Compared) -> int | None:
    place = rerun_state.selected_pair()
    if place is not None and place < len(compared.found.pairs):
        return place
    return compared.view.first


def _at(handoff_id: str) -> dict[str, str]:
    return {"handoff": handoff_id} if handoff_id else {}
