"""Which change flips it: between a failed handoff and a good one, the smallest that matters.

Each set of differences is tried as a re-run of the failed handoff with these edits, as often as
asked; nothing is concluded from what a model says about itself.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from handoff_console.runtime.causes import Cause, smallest_cause
from handoff_console.runtime.changes import Attempt, Change, changes_between, edits_of
from handoff_console.runtime.contract import HandoffResult
from handoff_console.runtime.errors import RequestError
from handoff_console.runtime.events import (
    Event,
    HandoffClosed,
    HandoffRequested,
    Payload,
    Recording,
    ToolCalled,
    ToolReturned,
    is_within,
)
from handoff_console.runtime.flow import Flow
from handoff_console.runtime.recorded import find_handoff, recorded_result
from handoff_console.runtime.rerun import RerunResult, rerun
from handoff_console.runtime.rerun_player import Mode
from handoff_console.runtime.taping import read_tape

Passes = Callable[[RerunResult], bool]
"""Says of a re-run whether it came out well."""


async def bisect(
    flow: Flow,
    failed: Attempt,
    good: Attempt,
    *,
    mode: Mode = Mode.WHAT_IF,
    repeats: int = 3,
    passes: Passes | None = None,
    watch: Callable[[Sequence[Change], bool], None] = lambda _changes, _passed: None,
    **options: Any,
) -> Cause:
    """Find the smallest set of differences that makes a failed handoff come out as a good one did.

    Tools answer as they did in either of the two; where the mode lets them, they run.

    Args:
        flow: The flow, as the user named it.
        failed: The attempt that failed.
        good: One that did not: a re-run of it, or a handoff of another session.
        mode: How much of each re-run is real; `verify` and `continue` try nothing of this.
        repeats: How often each set is tried.
        passes: What counts as coming out well; by default the good one's status, or where both have
            the same status, its very result.
        watch: Told after each re-run what was changed for it, and whether it came out well.
        options: Fields of `RunOptions`, for every re-run. The sink's digests have to be made with
            the key of the recording's; by default nothing is kept.

    Raises:
        RequestError: A handoff is not there or never began, or the mode tries nothing.
        FlowError: An agent of the flow has no model.
    """
    if mode in {Mode.VERIFY, Mode.CONTINUE}:
        raise RequestError(
            f"In the mode {mode.value!r} nothing is tried; choose what-if, live-reads or live."
        )
    changes = changes_between(failed, good)
    both = _with_answers_of(failed, good)
    came_out_well = passes or _as_good(failed, good)

    async def run(chosen: Sequence[Change]) -> bool:
        edits = edits_of(chosen)
        came = await rerun(flow, both, failed.handoff_id, mode=mode, edits=edits, **options)
        passed = came_out_well(came)
        watch(chosen, passed)
        return passed

    return await smallest_cause(changes, run, repeats=repeats)


def _as_good(failed: Attempt, good: Attempt) -> Passes:
    bad, wanted = _result(failed), _result(good)
    if wanted is None:
        raise RequestError(
            f"The handoff {good.handoff_id!r} of session {good.recording.session_id!r} has no "
            "result, so nothing says what coming out well is; choose an attempt that has ended."
        )
    by_status = bad is None or bad.status is not wanted.status

    def passes(came: RerunResult) -> bool:
        result = came.session.result
        if came.session.waiting_for:
            return False
        if by_status:
            return result.status is wanted.status
        return (result.data, result.notes) == (wanted.data, wanted.notes)

    return passes


def _result(attempt: Attempt) -> HandoffResult | None:
    event = find_handoff(*attempt).event
    recording = attempt.recording
    return recorded_result(recording, read_tape(recording), event.path or "", event.attempt)


LATER_STEPS = 1_000_000
"""Added to the steps of answers that are taken over, so that they stand beside the handoff's own:
a re-run looks for them by what is asked."""


def _with_answers_of(failed: Attempt, good: Attempt) -> Recording:
    """Return the failed recording, which also knows what the good one's tools and calls answered.

    Otherwise an edit that makes the agent ask something else could never be seen to work.
    """
    mine = failed.recording
    here, there = find_handoff(*failed).event, find_handoff(*good).event
    added: list[Event] = []
    for event in good.recording.events:
        path = event.path or ""
        if is_within(path, there.path or ""):
            rest = path.removeprefix(there.path or "")
            added += _taken_over(event, here.path or "", rest, mine.events[-1].seq + len(added) + 1)

    def body(digest: str) -> Any:
        try:
            return mine.body(digest)
        except KeyError:
            return good.recording.body(digest)

    return Recording(mine.session_id, [*mine.events, *added], body)


def _taken_over(event: Event, root: str, rest: str, seq: int) -> Iterator[Event]:
    """Yield an event of a good attempt as one of a failed handoff, if it answers something."""
    payload: Payload = event.payload
    if isinstance(payload, ToolCalled | ToolReturned):
        path = f"{root}{rest}"
        payload = replace(payload, step=payload.step + LATER_STEPS)
    elif isinstance(payload, HandoffRequested | HandoffClosed) and rest:
        path = f"{root}/good{rest}"
    else:
        return
    yield event._replace(seq=seq, handoff_id=None, path=path, payload=payload)
