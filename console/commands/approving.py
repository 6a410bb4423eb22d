"""A yes to an act whose record leaves values out: whole again, or not carried out."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from handoff_console.console.commands.errors import ActLeftOut
from handoff_console.runtime import Decision, Recording
from handoff_console.runtime.events import ApprovalRequested, Event, ModelReplied, ToolReturned
from handoff_console.runtime.gaps import Gap, gaps_in
from handoff_console.runtime.redaction import has_mark


def in_full(
    recording: Recording, decisions: Sequence[Decision], begun: Collection[str] = ()
) -> list[Decision]:
    """Return decisions as the session needs them, with what was left out in the place of its marks.

    Args:
        recording: The session so far, with the values that a person said.
        decisions: What was decided about its acts; marks stand for what was not changed.
        begun: Acts that may have happened, by place (`h1.2.0`). They are not carried out again, nor
            are those that came back, so nothing of them is needed.

    Raises:
        ActLeftOut: A yes is to an act of which a value is still missing.
    """
    asked = dict(_proposals(recording)) if any(one.approved for one in decisions) else {}
    to_do = asked.keys() - {*begun, *_came_back(recording)}
    return [
        _whole(recording, one, *asked[one.approval_id])
        if one.approved and one.approval_id in to_do
        else one
        for one in decisions
    ]


def _whole(
    recording: Recording, decision: Decision, asked: Event, proposed: Mapping[str, Any]
) -> Decision:
    assert isinstance(asked.payload, ApprovalRequested)
    arguments = (
        proposed
        if decision.arguments is None
        else {
            name: proposed.get(name, value) if has_mark(value) else value
            for name, value in decision.arguments.items()
        }
    )
    missing: list[Gap] = gaps_in(f"{asked.handoff_id} step {asked.payload.step}", arguments)
    if missing:
        act = f"{asked.payload.tool} ({decision.approval_id})"
        raise ActLeftOut(recording.session_id, act, missing)
    return decision if decision.arguments is None else replace(decision, arguments=arguments)


def _came_back(recording: Recording) -> Iterator[str]:
    for event in recording.events:
        back = event.payload
        if isinstance(back, ToolReturned) and not back.outcome_unknown:
            yield f"{event.handoff_id}.{back.step}.{back.index}"


def _proposals(recording: Recording) -> Iterator[tuple[str, tuple[Event, Mapping[str, Any]]]]:
    """Yield the acts that a yes was asked for, each with what its agent wants it done with."""
    replies: dict[tuple[str | None, int], str] = {}
    for event in recording.events:
        match event.payload:
            case ModelReplied() as replied if replied.reply:
                replies[event.handoff_id, replied.step] = replied.reply
            case ApprovalRequested() as asked:
                reply = recording.body(replies[event.handoff_id, asked.step])
                yield asked.approval_id, (event, reply["tool_calls"][asked.index]["arguments"])
            case _:
                pass
