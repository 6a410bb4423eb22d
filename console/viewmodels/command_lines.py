"""Command lines that go on with a session, as a screen shows them."""

import shlex
from collections.abc import Sequence

from handoff_console.store.analysis.plain_text import one_line


def resume_line(session_id: str, *, flow: str = "", store: str = "") -> str:
    """Return the `handoff resume …` of a session: one line that does nothing but be read.

    Args:
        session_id: As recorded.
        flow: Where the session's flow came from, as recorded; a file (`path:name`) is named,
            because its code is run only then.
        store: The store's file; empty for the one that the command would take anyway.
    """
    return _line("resume", one_line(session_id, 80), flow=flow if ":" in flow else "", store=store)


def yes_line(
    session_id: str, approval_id: str, names: Sequence[str], *, flow: str = "", store: str = ""
) -> str:
    """Return the `handoff approve …` that says what was left out of an act, and goes on.

    Args:
        session_id: As recorded; for the others see `resume_line`.
        approval_id: The act.
        names: Of what was left out.
        flow: Where the session's flow came from.
        store: The store's file.
    """
    values = [word for name in names for word in ("--value", f"{one_line(name, 60)}=VALUE")]
    words = ("approve", one_line(session_id, 80), approval_id, *values)
    return _line(*words, flow=flow if ":" in flow else "", store=store)


def ways_on(session_id: str, *, flow: str, store: str = "") -> str:
    """Return what to do where no code is run because a record says so; see `resume_line`."""
    return (
        "The session ran a flow of your own, and no code is run because a record says so: go on "
        f"with `{resume_line(session_id, flow=flow, store=store)}`, or open the console with "
        f"`{_line('open', flow=flow, store=store)}`."
    )


def _line(*words: str, flow: str, store: str) -> str:
    named = ["--flow", one_line(flow, 200)] if flow else []
    return shlex.join(["handoff", *words, *named, *(["--db", store] if store else [])])
