"""Agents that pass a task back and forth, and calls that would call themselves.

Source: S2, "The Infinite Ping-Pong Cycle"; S3, exercise 1.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence

from handoff_console.runtime.contract import HandoffKind
from handoff_console.runtime.events import CycleStopped, Event, HandoffOpened, HandoffRejected
from handoff_console.store.analysis.findings.finding import Evidence, Finding, Severity
from handoff_console.store.analysis.findings.record import Record
from handoff_console.store.analysis.plain_text import as_name, listed

_STOPS_SHOWN = 6


def ping_pong(record: Record) -> Iterable[Finding]:
    """A transfer that repeated within one turn: stopped by the runtime, or allowed to go on."""
    stopped: dict[int, list[tuple[Event, CycleStopped]]] = defaultdict(list)
    for event, cycle in record.of(CycleStopped):
        if _is_transfer(record, event):
            stopped[event.turn].append((event, cycle))
    for turn, stops in stopped.items():
        yield _stopped(record, turn, stops)
    yield from _allowed(record, stopped.keys())


def recursion_refused(record: Record) -> Iterable[Finding]:
    """A call of an agent that is waiting for this very answer."""
    for event, cycle in record.of(CycleStopped):
        if _is_transfer(record, event):
            continue
        asked = _refused_with(record, event)
        node = record.node(asked)
        asker = record.asker(node) if node else None
        yield Finding(
            code="recursion_refused",
            severity=record.severity_after(asker),
            handoff_id=asked,
            agent=asker.agent if asker else "",
            turn=event.turn,
            evidence=(Evidence(event.seq, f"refused: {_path(cycle.transitions)}"),),
            sentence=(
                f"A call went round in a circle: {_path(cycle.transitions)}; it was refused."
            ),
            advice="Take that edge out of the flow, or make the agent do this part itself.",
        )


def _stopped(record: Record, turn: int, stops: Sequence[tuple[Event, CycleStopped]]) -> Finding:
    event, cycle = stops[0]
    asked = _refused_with(record, event)
    node = record.node(asked)
    names = list(dict.fromkeys(name for step in cycle.transitions for name in step.split(" → ")))
    passed = "passed the task back and forth" if len(names) > 1 else "kept passing the task on"
    again = f", and {len(stops) - 1} more after it" if len(stops) > 1 else ""
    return Finding(
        code="ping_pong",
        severity=Severity.ERROR if record.failed(turn) else Severity.WARNING,
        handoff_id=asked,
        agent=node.source if node else "",
        turn=turn,
        evidence=tuple(Evidence(e.seq, f"stopped: {_path(c.transitions)}") for e, c in stops),
        sentence=(
            f"{listed(names)} {passed}: {_path(cycle.transitions)}; "
            f"the last handoff was refused{again}."
        ),
        advice=(
            "Give one of them what it lacks to finish, or tell both prompts who owns this kind of "
            "request; raise max_edge_repeats only if the repeat is intended."
        ),
    )


def _allowed(record: Record, stopped: Iterable[int]) -> Iterable[Finding]:
    used: dict[tuple[int, str, str], list[Event]] = defaultdict(list)
    for event, opened in record.of(HandoffOpened):
        if opened.via is HandoffKind.TRANSFER and opened.follows is None:
            used[event.turn, opened.source, opened.target].append(event)
    repeated: dict[int, list[tuple[str, str, list[Event]]]] = defaultdict(list)
    for (turn, source, target), events in used.items():
        if len(events) > 1 and turn not in stopped:
            repeated[turn].append((source, target, events))
    for turn, edges in repeated.items():
        source, target, events = edges[0]
        names = list(dict.fromkeys(name for edge in edges for name in edge[:2]))
        yield Finding(
            code="ping_pong",
            severity=Severity.WARNING,
            handoff_id=events[1].handoff_id,
            agent=source,
            turn=turn,
            evidence=tuple(Evidence(e.seq, f"handoff {n}") for n, e in enumerate(events, 1)),
            sentence=(
                f"{listed(names)} passed the task back and forth: {as_name(source)} handed off "
                f"to {as_name(target)} {len(events)} times in one turn, which this flow allows."
            ),
            advice="If the repeat is not intended, lower max_edge_repeats of the flow to 0.",
        )


def _is_transfer(record: Record, event: Event) -> bool:
    node = record.node(_refused_with(record, event))
    return node is None or node.via is HandoffKind.TRANSFER


def _refused_with(record: Record, event: Event) -> str | None:
    """Return the handoff a cycle event is about: the one refused for it, next to it in the log."""
    near = [
        other.handoff_id
        for other, rejected in record.of(HandoffRejected)
        if rejected.rule == "cycle" and abs(other.seq - event.seq) <= 1
    ]
    return near[0] if near else event.handoff_id


def _path(transitions: Sequence[str]) -> str:
    """Return `a → b`, `b → a` as `a → b → a`, its middle left out when it is long."""
    stops: list[str] = []
    for step in transitions:
        source, _, target = step.partition(" → ")
        if not stops or stops[-1] != source:
            stops.append(source)
        stops.append(target)
    shown = [as_name(name) for name in stops]
    if len(shown) > _STOPS_SHOWN:
        shown = [*shown[:3], "…", *shown[-3:]]
    return " → ".join(shown)
