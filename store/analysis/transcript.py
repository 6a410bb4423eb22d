"""A session as lines of text: who handed off to whom and why, and who said what.

Reads events and bodies alone, so that a recorded session prints what the live one did.
"""

from collections.abc import Iterable, Sequence

from handoff_console.runtime.contract import Status
from handoff_console.runtime.events import (
    Event,
    HandoffClosed,
    HandoffOpened,
    HandoffRejected,
    HandoffRequested,
    InputRequested,
)
from handoff_console.store.analysis.answers import result_text
from handoff_console.store.analysis.bodies import Body
from handoff_console.store.analysis.plain_text import as_name, one_line

LINE_CHARACTERS = 1_000
"""What is shown of one answer."""


def transcript(events: Sequence[Event], body: Body | None = None) -> list[str]:
    """Return a session as lines, in the order in which things happened.

    `[handoff] triage -> billing (billing question)` for each handoff that was opened, the user's
    request left out; `[refused] …` for one that was not; `[billing] …` for each result. Without the
    body of a result its notes are shown, or its status.
    """
    return list(_lines(events, body))


def _lines(events: Sequence[Event], body: Body | None) -> Iterable[str]:
    asked: dict[str | None, HandoffRequested] = {}
    for event in events:
        match event.payload:
            case HandoffRequested() as request:
                asked[event.handoff_id] = request
            case HandoffOpened() if _is_asked_by_agent(asked.get(event.handoff_id), event):
                yield _handed_off("handoff", asked[event.handoff_id])
            case HandoffRejected() as rejected:
                if event.handoff_id in asked:
                    yield _handed_off("refused", asked[event.handoff_id], rejected.rule)
            case HandoffClosed(status=Status()) as closed:
                yield f"[{as_name(closed.target)}] {_said(closed, body)}"
            case InputRequested() as wanted:
                yield f"[waiting] {one_line(wanted.question, LINE_CHARACTERS)}"


def _is_asked_by_agent(request: HandoffRequested | None, event: Event) -> bool:
    is_root = event.parent_id is None and (request is None or request.continues is None)
    return request is not None and not is_root


def _handed_off(what: str, request: HandoffRequested, rule: str = "") -> str:
    why = one_line(rule or request.reason, LINE_CHARACTERS)
    return f"[{what}] {as_name(request.source)} -> {as_name(request.target)} ({why})"


def _said(closed: HandoffClosed, body: Body | None) -> str:
    said = result_text(body, closed.result) or closed.notes
    if closed.status is Status.OK:
        return one_line(said or "ok", LINE_CHARACTERS)
    limit = f" ({closed.reason})" if closed.reason else ""
    text = f"{closed.status}{limit}: {said}" if said else f"{closed.status}{limit}"
    return one_line(text, LINE_CHARACTERS)
