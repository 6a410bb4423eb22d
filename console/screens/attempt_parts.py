"""The attempts of a handoff, on every page that has them, and where a click on one leads."""

from collections.abc import Callable, Sequence

import streamlit as st

from handoff_console.console import family_queries, rerun_queries, rerun_state
from handoff_console.console.commands.attempt_names import AttemptName
from handoff_console.console.components.attempts import (
    LINE,
    MORE,
    SHOWN_ON_LINE,
    STRIP,
    attempts_line,
    attempts_strip,
    chosen_attempt,
)
from handoff_console.store.analysis.lineage import Attempt


def strip(
    session_id: str, handoff_id: str, selected: tuple[str, str], *, with_repeats: bool = True
) -> None:
    """Draw the attempts of a handoff.

    Args:
        session_id: Any session of the family.
        handoff_id: The handoff.
        selected: Session and handoff of the attempt that is looked at.
        with_repeats: Also how those fared that were made alike.
    """
    found = attempts_of(session_id, handoff_id)
    shown = rerun_queries.strip_of(found, selected)
    attempts_strip(
        shown,
        chooses(found, STRIP),
        first_shown=rerun_state.attempts_from(),
        with_repeats=with_repeats,
    )


def line(
    found: Sequence[Attempt],
    selected: tuple[str, str],
    *,
    with_repeats: bool = False,
    to_compare: bool = False,
    in_sight: int = SHOWN_ON_LINE,
) -> None:
    """Draw attempts on one line; see `attempts_line`."""
    shown = rerun_queries.strip_of(found, selected)
    attempts_line(
        shown,
        chooses(found),
        first_shown=rerun_state.attempts_from(),
        with_repeats=with_repeats,
        to_compare=to_compare,
        shown=in_sight,
    )


def attempts_of(session_id: str, handoff_id: str) -> tuple[Attempt, ...]:
    """Return the attempts of a handoff as they are now."""
    return rerun_queries.handoff_attempts(family_queries.family(session_id), handoff_id)


def leave() -> None:
    """Go where a callback, which may not leave the page itself, wanted to."""
    leaving = rerun_state.leaving()
    if leaving:
        page, address = leaving
        st.switch_page(f"screens/{page}.py", query_params=dict(address))


def chooses(found: Sequence[Attempt], key: str = LINE) -> Callable[[], None]:
    """Return what is to be done when one of these was chosen."""
    return lambda: _choose(found, key)


def _choose(found: Sequence[Attempt], key: str) -> None:
    chosen = chosen_attempt(key)
    if chosen and chosen.what == MORE:
        rerun_state.show_attempts_from(chosen.number)
        return
    one = next((one for one in found if chosen and one.number == chosen.number), None)
    if chosen is None or one is None:
        return
    before = next((other for other in found if other.number == one.repeats), None)
    if chosen.what == "compare" and before:
        sides = [AttemptName(side.session_id) for side in (before, one)]
        if before.session_id == one.session_id:  # a retry, and what it tried again
            sides = [AttemptName(side.session_id, side.handoff_id) for side in (before, one)]
        address = rerun_state.sides_address(str(sides[0]), str(sides[1]), one.handoff_id)
        rerun_state.leave_for(rerun_state.SIDES, address)
    else:
        address = {"session": one.session_id, "handoff": one.handoff_id}
        rerun_state.leave_for(rerun_state.SESSION, address)
