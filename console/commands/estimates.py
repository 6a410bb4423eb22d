"""What a re-run will take, from the recording alone: asked before anything runs."""

from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from handoff_console.console.commands.rerun_orders import (
    Prepared,
    RerunOrder,
    prepare,
    recorded_outcome,
)
from handoff_console.runtime.contract import ContextPolicy, Effect
from handoff_console.runtime.events import (
    AgentActivated,
    Event,
    ModelReplied,
    ToolCalled,
    ToolReturned,
)
from handoff_console.runtime.rerun_player import Mode
from handoff_console.store import reader
from handoff_console.store.analysis.findings.record import Record
from handoff_console.store.analysis.nodes import HandoffNode
from handoff_console.store.analysis.scope import Place, part_of
from handoff_console.store.db import open_reader


@dataclass(frozen=True)
class Estimate:
    """What a re-run will take if it goes as it went, all its runs together."""

    times: int
    model_calls: int
    """Models that will really be asked."""
    tokens: int
    """What they took when this was recorded."""
    further_model_calls: int
    """That callers may make besides, because they read another result: at most."""
    replayed_answers: int
    """Of models and tools, taken from the recording."""
    tool_calls: int
    """Tools that read, and will really run."""
    reused: tuple[str, ...]
    """Acts that are not done again: their original result is read."""
    repeated: tuple[str, ...]
    """Acts that are done again, each after a yes."""
    notes: tuple[str, ...]
    """What the operator should know, a sentence each."""


@dataclass(frozen=True)
class Plan:
    """A re-run that has not begun."""

    session_id: str
    agent: str
    recorded_outcome: str
    edits: Mapping[str, Any]
    """What is changed; empty when nothing is."""
    changes: Sequence[str]
    """What differs from the flow that was recorded."""
    estimate: Estimate


def plan_rerun(store_path: Path, asked: str, order: RerunOrder) -> Plan:
    """Return what a re-run will take, without running anything.

    Raises:
        CommandError, RequestError: It cannot be run; see `prepare`.
        StoreError: The store cannot be opened.
    """
    with closing(open_reader(store_path)) as db:
        session_id = reader.resolve_session(db, asked)
        return plan_of(prepare(db, session_id, order), order)


def plan_of(ready: Prepared, order: RerunOrder) -> Plan:
    """Return what a checked re-run will take."""
    return Plan(
        ready.recording.session_id,
        ready.recorded.opened.target,
        recorded_outcome(ready),
        ready.edits.described(),
        ready.flow.changes,
        estimate(ready, order),
    )


def estimate(ready: Prepared, order: RerunOrder) -> Estimate:
    """Return what a re-run will take if it goes as it went."""
    record = Record(ready.recording.events, ready.recording.body)
    event, mode, times = ready.recorded.event, order.mode, order.times
    part = part_of(record, Place(event.path or "", event.attempt))
    live = _live_nodes(part, order)
    ids = {node.handoff_id for node in live}
    replies = [(e, p) for e, p in record.of(ModelReplied) if e.handoff_id in ids]
    every = part if mode is not Mode.CONTINUE else record.tree.nodes
    all_ids = {node.handoff_id for node in every}
    acts = [(e, p) for e, p in record.of(ToolCalled) if e.handoff_id in all_ids]
    reads = [one for one in acts if one[1].effect is Effect.READ and one[0].handoff_id in ids]
    runs_reads = mode in (Mode.LIVE, Mode.LIVE_READS) or mode is Mode.CONTINUE
    tool_calls = len(reads) if runs_reads else 0
    answers = sum(e.handoff_id in all_ids for e, _ in record.of(ModelReplied)) + sum(
        e.handoff_id in all_ids for e, _ in record.of(ToolReturned)
    )
    writes = [p.tool for _, p in acts if p.effect is not Effect.READ]
    return Estimate(
        times=times,
        model_calls=times * len(replies),
        tokens=times * sum(p.input_tokens + p.output_tokens for _, p in replies),
        further_model_calls=times * _further(record, part, order),
        replayed_answers=times * max(answers - len(replies) - tool_calls, 0),
        tool_calls=times * tool_calls,
        reused=tuple(dict.fromkeys(w for w in writes if w not in order.edits.armed)),
        repeated=tuple(dict.fromkeys(w for w in writes if w in order.edits.armed)),
        notes=tuple(_notes(ready, order)),
    )


def _live_nodes(part: Sequence[HandoffNode], order: RerunOrder) -> Sequence[HandoffNode]:
    """Return the handoffs whose models will really be asked."""
    if order.mode is Mode.VERIFY:
        return ()
    if order.mode is Mode.CONTINUE:
        return () if order.graft or not order.edits.described() else part
    if order.mode is Mode.WHAT_IF:  # what it calls is answered as recorded, as a whole
        return [node for node in part if node.depth == part[0].depth] if part else ()
    return part


def _further(record: Record, part: Sequence[HandoffNode], order: RerunOrder) -> int:
    """Return the model calls that callers made after this handoff: another result changes them."""
    if order.mode is not Mode.CONTINUE or not (order.graft or order.edits.described()) or not part:
        return 0
    inside = {node.handoff_id for node in part}
    ended = max((node.closed_seq or node.last_seq for node in part), default=0)
    return sum(
        event.seq > ended and event.handoff_id not in inside for event, _ in record.of(ModelReplied)
    )


def _notes(ready: Prepared, order: RerunOrder) -> Sequence[str]:
    recorded, edits = ready.recorded, order.edits
    agent = recorded.opened.target
    notes = []
    reads_prompt = _activation(ready.recording.events, order.handoff_id)
    if edits.prompt is not None and edits.model is None and not reads_prompt:
        notes.append(
            f"{agent} follows rules; it does not read its prompt, so this changes nothing."
        )
    if edits.changes_request and recorded.opened.context_policy == ContextPolicy.FULL_HISTORY:
        notes.append(
            f"{agent} reads the whole conversation and no request, so a change of the request "
            "changes nothing that it reads."
        )
    if edits.described() and order.mode is Mode.VERIFY:
        notes.append(
            "Every answer is the recorded one, so a change only shows where the questions part; "
            "--mode what-if asks the model."
        )
    return notes


def _activation(events: Sequence[Event], handoff_id: str) -> bool:
    """Say whether the agent of a handoff read its prompt."""
    for event in events:
        if isinstance(event.payload, AgentActivated) and event.handoff_id == handoff_id:
            return event.payload.reads_prompt
    return True
