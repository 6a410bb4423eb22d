"""The events of a session, one step at a time, painted in the browser."""

from collections.abc import Callable

import streamlit as st

from handoff_console.console import theme
from handoff_console.console.components.source import source
from handoff_console.console.components.wire import wire
from handoff_console.console.viewmodels.stepper import StepRow, StepWindow

KEY = "stepper"

_HTML = """
<div id="stepper">
  <div class="bar" role="toolbar" aria-label="Step through the events">
    <button data-move="first" aria-label="First event" title="First event (Home)">|←</button>
    <button data-move="previous" aria-label="Previous event" title="Previous event (←)">←</button>
    <button data-move="next" aria-label="Next event" title="Next event (→)">→</button>
    <button data-move="end" aria-label="Show the end" title="Show the end (Esc)">→|</button>
    <span class="group"><button data-move="previous-handoff" aria-label="Previous handoff"
      title="Previous handoff ([)">‹</button>handoff<button data-move="next-handoff"
      aria-label="Next handoff" title="Next handoff (])">›</button></span>
    <span class="group"><button data-move="previous-problem" aria-label="Previous problem"
      title="Previous problem (p)">‹</button>problem<button data-move="next-problem"
      aria-label="Next problem" title="Next problem (n)">›</button></span>
    <span class="keys" aria-hidden="true">keys: ← → &nbsp; [ ] &nbsp; p n &nbsp; Esc</span>
  </div>
  <div class="sums"><span id="where" role="status"></span> <span id="what"></span></div>
  <div id="log" role="listbox" aria-label="Events" tabindex="0">
    <div id="rows" role="none"></div>
  </div>
  <div class="sums"><span id="pool"></span> <span id="sum"></span></div>
</div>
"""

_MISSING = "There is no event {:,} (yet): this is the last one."

_mount = st.components.v2.component(
    "event_stepper",
    html=_HTML,
    css=source("common.css", "stepper.css"),
    js=source("common.js", "stepper.js"),
)


def event_stepper(
    window: StepWindow,
    *,
    scope: str,
    nonce: int,
    seq: int | None,
    handoff: str | None,
    lines: int,
    on_step: Callable[[], None],
    on_window: Callable[[], None],
) -> None:
    """Draw the stepper.

    Args:
        window: The events around `seq`.
        scope: The session's id.
        nonce: Changes when the server moved the cursor; otherwise the page knows better.
        seq: The event the reader stands at; None for the end.
        handoff: The handoff that is selected; its events stand out.
        lines: How many events are in sight; two fewer in a low window.
        on_step: Called when the reader rests at an event (`stepped_to`).
        on_window: Called when other events are wanted (`wanted_seq`).
    """
    rows = window.rows
    _mount(
        key=KEY,
        data=wire(
            {
                "rows": [_fields(row) for row in rows],
                "first": rows[0].seq if rows else 1,
                "total": window.total,
                "problems": list(window.problems),
                "handoffs": list(window.handoffs),
                "pool": window.pool_tokens,
                "scope": scope,
                "nonce": nonce,
                "seq": seq,
                "missing": _MISSING.format(window.missing) if window.missing else "",
                "handoff": handoff,
                "lines": lines,
                "problem_colors": theme.palette()["error"][1:3],
            }
        ),
        on_cursor_change=on_step,
        on_window_change=on_window,
    )


def stepped_to(scope: str) -> tuple[int | None, str | None] | None:
    """Return (seq, handoff) where the reader rests; None when they took no step in this session."""
    cursor = (st.session_state.get(KEY) or {}).get("cursor") or {}
    if cursor.get("scope") != scope:
        return None
    return cursor.get("seq"), cursor.get("handoff")


def wanted_seq(scope: str, nonce: int) -> int | None:
    """Return the event around which the page wants a window; None when it asked for none.

    What it asked for before the server moved the reader somewhere else (`nonce`) is past.
    """
    wanted = (st.session_state.get(KEY) or {}).get("window") or {}
    is_current = wanted.get("scope") == scope and wanted.get("nonce") == nonce
    return wanted.get("seq") if is_current else None


def _fields(row: StepRow) -> list[object]:
    return [
        row.seq,
        row.elapsed,
        row.kind,
        row.agent,
        row.what,
        row.delta,
        row.handoff_id,
        row.free,
        row.open,
        row.spent,
        int(row.problem),
    ]
