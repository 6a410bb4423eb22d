"""A session in the printed forms of the source documents: packet, results, answer, routes.

Reads events and bodies alone. What was recorded stays on its line, and cannot forge the marks that
these forms have.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from handoff_console.runtime.canonical import canonical_text
from handoff_console.runtime.contract import HandoffKind, Packet
from handoff_console.runtime.events import (
    AgentActivated,
    ApprovalRequested,
    Event,
    HandoffClosed,
    HandoffOpened,
    HandoffRequested,
    SessionClosed,
    ToolDenied,
    ToolReturned,
    UserMessageReceived,
)
from handoff_console.store.analysis.answers import result_text
from handoff_console.store.analysis.bodies import Body, read, read_fields
from handoff_console.store.analysis.plain_text import as_name, block, one_line

LINE_CHARACTERS = 1_000
_MARK = re.compile(r"<(?=/?result\b)", re.IGNORECASE)


def printed_lines(events: Sequence[Event], body: Body) -> list[str]:
    """Return a session in these forms, one after the other: routes, packets, results, answer."""
    return [
        *route_lines(events, body),
        *packet_lines(events, body),
        *result_lines(events, body),
        *answer_lines(events, body),
    ]


def packet_lines(events: Iterable[Event], body: Body) -> list[str]:
    """Return the packet of each transfer as the lines in which its receiver reads it.

    Four lines a packet, and one more where something is only claimed. Source: S3, example 2.
    """
    lines = []
    for event in events:
        if isinstance(event.payload, HandoffOpened):
            fields = read_fields(body, event.payload.packet)
            lines += Packet(**fields).lines() if fields else []
    return [one_line(line, LINE_CHARACTERS) for line in lines]


def result_lines(events: Sequence[Event], body: Body) -> list[str]:
    """Return what an orchestrator asked a person, then what its plan came back with, in order.

    `APPROVAL NEEDED: send_email -> report to team`, then `<result worker='researcher'>…</result>`.
    Calls below the first level are left out. Source: S3, example 3.
    """
    approvals, asked = [], {}
    results: list[tuple[int, int, str]] = []
    for event in events:
        match event.payload:
            case ApprovalRequested() as approval:
                asked[approval.approval_id] = event.seq
                shown = read_fields(body, approval.shown).get("arguments")
                what = f"{as_name(approval.tool)} -> {_what_is_sent(shown)}"
                approvals.append(f"APPROVAL NEEDED: {what}")
            case ToolDenied(rule="approval") as denied:
                line = _result(denied.tool, "skipped (not approved)")
                results.append((denied.step, event.seq, line))
            case ToolReturned() as back if _needed_approval(back, event, asked):
                results.append((back.step, event.seq, _result(back.tool, back.error or "done")))
    results += _worker_results(events, body)
    return [*approvals, *(line for _, _, line in sorted(results))]


def answer_lines(events: Iterable[Event], body: Body) -> list[str]:
    """Return what the user is shown at the end, line by line; none while it is not over."""
    for event in events:
        if isinstance(event.payload, SessionClosed):
            return block(result_text(body, event.payload.answer)).splitlines()
    return []


def route_lines(events: Iterable[Event], body: Body) -> list[str]:
    """Return where messages went: `'My login fails': triage -> handoff to tech (…)`.

    What stands in the brackets is what the sender was told about its target. Calls are left out.
    Source: S4, "See it in code", the handoff.
    """
    lines, said = [], ""
    told: dict[str, str] = {}
    for event in events:
        match event.payload:
            case UserMessageReceived() as message:
                said = read_fields(body, message.message).get("content", message.preview)
            case AgentActivated() as active:
                told |= _descriptions(read(body, active.tools))
            case HandoffOpened(via=HandoffKind.TRANSFER) as opened:
                route = f"{as_name(opened.source)} -> handoff to {as_name(opened.target)}"
                why = one_line(told.get(opened.target, ""), LINE_CHARACTERS)
                lines.append(f"{one_line(said, LINE_CHARACTERS)!r}: {route} ({why})")
    return lines


def _worker_results(events: Iterable[Event], body: Body) -> list[tuple[int, int, str]]:
    asked: dict[str | None, tuple[int, int]] = {}
    roots: set[str | None] = set()
    found = []
    for event in events:
        match event.payload:
            case HandoffRequested() as request:
                if event.parent_id is None:
                    roots.add(event.handoff_id)
                elif event.parent_id in roots and request.via is HandoffKind.CALL:
                    asked[event.handoff_id] = (request.step, event.seq)
            case HandoffClosed() as closed if closed.status and event.handoff_id in asked:
                line = _result(closed.target, result_text(body, closed.result) or closed.status)
                found.append((*asked[event.handoff_id], line))
    return found


def _needed_approval(back: ToolReturned, event: Event, asked: Mapping[str, int]) -> bool:
    return f"{event.handoff_id}.{back.step}.{back.index}" in asked


def _what_is_sent(arguments: Any) -> str:
    """Return all of it: a single value as it is, several as JSON."""
    values = list(arguments.values()) if isinstance(arguments, Mapping) else []
    only = values[0] if len(values) == 1 and isinstance(values[0], str) else None
    return one_line(only if only is not None else canonical_text(arguments), LINE_CHARACTERS)


def _result(worker: str, text: str) -> str:
    said = _MARK.sub("&lt;", one_line(text, LINE_CHARACTERS))
    return f"<result worker={as_name(worker)!r}>{said}</result>"


def _descriptions(tools: Any) -> dict[str, str]:
    return {
        tool["handoff"]["target"]: str(tool.get("description", ""))
        for tool in (tools if isinstance(tools, list) else ())
        if isinstance(tool, Mapping) and isinstance(tool.get("handoff"), Mapping)
    }
