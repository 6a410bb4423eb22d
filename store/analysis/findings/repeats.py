"""Work that was asked for again although the answer was there.

Source: S0, step 2 (not_found is an answer); S4, coordination faults (duplicate work).
"""

from collections import defaultdict
from collections.abc import Iterable

from handoff_console.runtime.contract import State, Status
from handoff_console.runtime.counting import count
from handoff_console.runtime.events import Event, HandoffRequested
from handoff_console.store.analysis.bodies import read, read_fields
from handoff_console.store.analysis.findings.finding import Evidence, Finding, Severity
from handoff_console.store.analysis.findings.record import Record
from handoff_console.store.analysis.nodes import HandoffNode
from handoff_console.store.analysis.plain_text import as_name

_Asked = tuple[Event, HandoffRequested, HandoffNode]


def retry_of_not_found(record: Record) -> Iterable[Finding]:
    """The same agent asked again for the same inputs after it had said not_found."""
    for asked in _by_target_and_inputs(record):
        first = next((a for a in asked if a[2].outcome is Status.NOT_FOUND), None)
        if first is None or (answered := record.closings.get(first[2].handoff_id)) is None:
            continue
        again = [a for a in asked if a[0].seq > answered[0].seq and _same(record, first, a)]
        if not again:
            continue
        name, node = as_name(first[2].agent), again[0][2]
        times = "again" if len(again) == 1 else f"{len(again)} more times"
        yield Finding(
            code="retry_of_not_found",
            severity=Severity.ERROR if record.failed(node.turn) else Severity.WARNING,
            handoff_id=node.handoff_id,
            agent=node.source,
            turn=node.turn,
            evidence=(
                Evidence(answered[0].seq, f"{name} answered not_found"),
                *(Evidence(a[0].seq, "asked again with the same inputs") for a in again),
            ),
            sentence=(
                f"{as_name(node.source)} asked {name} {times} for the same thing after it had "
                "answered not_found."
            ),
            advice=(
                f"not_found is an answer: tell {as_name(node.source)} to accept it, or to ask "
                "for something else."
            ),
        )


def duplicate_work(record: Record) -> Iterable[Finding]:
    """The same agent given the very same request more than once in a turn, each time in vain."""
    for asked in _by_target_and_inputs(record):
        done = [a for a in asked if a[1].request and a[2].outcome is Status.OK]
        same = [a for a in done if a[1].request == done[0][1].request]
        if len(same) < 2:
            continue
        node = same[1][2]
        tokens = sum(a[2].tokens_used for a in same[1:])
        yield Finding(
            code="duplicate_work",
            severity=Severity.WARNING,
            handoff_id=node.handoff_id,
            agent=node.source,
            turn=node.turn,
            evidence=tuple(
                Evidence(a[0].seq, f"request {n} of {len(same)}, all the same")
                for n, a in enumerate(same, 1)
            ),
            sentence=(
                f"{as_name(node.agent)} was given the same task {len(same)} times and did it "
                f"each time; {count(tokens, 'token')} went into the repeats."
            ),
            advice=f"Tell {as_name(node.source)} to use the result it has.",
        )


def _by_target_and_inputs(record: Record) -> Iterable[list[_Asked]]:
    """Yield requests of one turn to one agent with equal inputs, where there are several."""
    groups: dict[tuple[int, str, str], list[_Asked]] = defaultdict(list)
    for event, asked in record.of(HandoffRequested):
        node = record.node(event.handoff_id)
        if node is None or asked.inputs_hash is None or asked.follows is not None:
            continue
        if node.outcome is not State.REFUSED:
            groups[event.turn, asked.target, asked.inputs_hash].append((event, asked, node))
    return [group for group in groups.values() if len(group) > 1]


def _same(record: Record, first: _Asked, again: _Asked) -> bool:
    """Say whether a request repeats another: in full, or with the same inputs where it has any.

    Without inputs the task alone says what is wanted, so that another task is another question.
    """
    if again[1].request == first[1].request:
        return True
    if read(record.body, again[1].request) is None:
        return False
    return bool(read_fields(record.body, again[1].request).get("inputs"))
