"""What a re-run will take, from the recording alone: asked before anything runs."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from handoff_console.console.commands.as_then_notes import check_models_asked
from handoff_console.console.commands.rerun_notes import notes_on
from handoff_console.console.commands.rerun_orders import (
    Prepared,
    RerunOrder,
    prepare,
    recorded_outcome,
)
from handoff_console.runtime.contract import MIN_REPLY_TOKENS, Effect, Limits
from handoff_console.runtime.events import (
    ModelCalled,
    ModelReplied,
    SessionClosed,
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
    """Recorded ones that callers may make anew besides, because they read another result."""
    goes_beyond: bool
    """Whether it goes on where its record ends, so that nobody knows what it takes from there."""
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
    limits: Limits
    """Of the handoff, with the edits: more than they let through it never takes."""


def plan_rerun(store_path: Path, asked: str, order: RerunOrder) -> Plan:
    """Return what a re-run will take, without running anything.

    Raises:
        CommandError, RequestError: It cannot be run; see `prepare`.
        FlowError: A model that it would ask cannot be asked here.
        StoreError: The store cannot be opened.
    """
    with closing(open_reader(store_path)) as db:
        session_id = reader.resolve_session(db, asked)
        return plan_of(prepare(db, session_id, order), order)


def plan_of(ready: Prepared, order: RerunOrder) -> Plan:
    """Return what a checked re-run will take.

    Raises:
        FlowError: A model that it would ask cannot be asked here.
    """
    check_models_asked(ready, order.mode)
    return Plan(
        ready.recording.session_id,
        ready.recorded.opened.target,
        recorded_outcome(ready),
        ready.edits.described(),
        ready.flow.changes,
        estimate(ready, order),
        ready.request.limits,
    )


def estimate(ready: Prepared, order: RerunOrder) -> Estimate:
    """Return what a re-run will take if it goes as it went, as far as its limits let it."""
    record = Record(ready.recording.events, ready.recording.body)
    event, mode, times = ready.recorded.event, order.mode, order.times
    part = part_of(record, Place(event.path or "", event.attempt))
    if mode is not Mode.VERIFY:
        record = _until_its_limits(record, part, ready)
    live = _live_nodes(part, order)
    ids = {node.handoff_id for node in live}
    replies = [(e, p) for e, p in record.of(ModelReplied) if e.handoff_id in ids]
    sources = _answered_from(record, part, ready, mode)
    acts = [one for source in sources for one in _calls(source, ready)]
    reads = [one for one in acts if one.effect is Effect.READ and one.handoff_id in ids]
    runs_reads = mode in (Mode.LIVE, Mode.LIVE_READS) or mode is Mode.CONTINUE
    tool_calls = len(reads) if runs_reads else 0
    answers = sum(
        isinstance(event.payload, ModelReplied | ToolReturned)
        for source in sources
        for event in source.events
    )
    writes = [one for one in acts if one.effect is not Effect.READ]
    again = [one.tool for one in writes if one.tool in order.edits.armed]
    kept = [one.tool for one in writes if one.is_known and one.tool not in order.edits.armed]
    return Estimate(
        times=times,
        model_calls=times * len(replies),
        tokens=times * sum(p.input_tokens + p.output_tokens for _, p in replies),
        further_model_calls=times * _further(record, part, ready, order),
        goes_beyond=mode is Mode.CONTINUE and not any(record.of(SessionClosed)),
        replayed_answers=times * max(answers - len(replies) - tool_calls - len(again), 0),
        tool_calls=times * tool_calls,
        reused=tuple(dict.fromkeys(kept)),
        repeated=tuple(dict.fromkeys(again)),
        notes=tuple(notes_on(ready, order)),
    )


class _Call(NamedTuple):
    handoff_id: str | None
    tool: str
    effect: Effect
    is_known: bool
    """Whether the record says what came of it."""


def _calls(record: Record, ready: Prepared) -> Iterator[_Call]:
    """Yield the recorded calls of tools that are still there, with what each tool does by now."""
    agents = ready.flow.flow.agents_by_name
    known = {
        (event.handoff_id, returned.step, returned.index)
        for event, returned in record.of(ToolReturned)
        if not returned.outcome_unknown
    }
    for event, called in record.of(ToolCalled):
        agent = agents.get(record.agent(event.handoff_id))
        tool = agent.tools_by_name.get(called.tool) if agent else None
        if tool:
            is_known = (event.handoff_id, called.step, called.index) in known
            yield _Call(event.handoff_id, called.tool, tool.effect, is_known)


def _until_its_limits(record: Record, part: Sequence[HandoffNode], ready: Prepared) -> Record:
    """Return a record without what a handoff did beyond the limits that it has now.

    From the first model call that they do not let through, nothing of it happens, nor of what it
    called or passed on to after that.
    """
    inside = {node.handoff_id for node in part}
    cut = next(iter(_beyond(record, ready)), None) if ready.edits.limits else None
    if cut is None:
        return record
    happens = [e for e in record.events if e.seq < cut or e.handoff_id not in inside]
    return Record(happens, record.body)


def _beyond(record: Record, ready: Prepared) -> Iterator[int]:
    """Yield where the record has a model call of the handoff that its limits do not let through."""
    limits, opened = ready.request.limits, ready.recorded.event
    tokens = 0
    for event in record.events:
        called, seconds = event.payload, event.elapsed_seconds - opened.elapsed_seconds
        if event.handoff_id != opened.handoff_id:
            continue
        if isinstance(called, ModelReplied):
            tokens += called.input_tokens + called.output_tokens
        elif isinstance(called, ModelCalled) and (
            called.step > limits.max_steps
            or limits.max_tokens - tokens - called.estimate_tokens < MIN_REPLY_TOKENS
            or (tokens and seconds >= limits.deadline_seconds)  # the first call always begins
        ):
            yield event.seq


def _answered_from(
    record: Record, part: Sequence[HandoffNode], ready: Prepared, mode: Mode
) -> Sequence[Record]:
    """Return where the recorded answers come from, of each what is read of it.

    A graft answers in the place of the handoff that it repeats.
    """
    inside = {node.handoff_id for node in part}
    if mode is not Mode.CONTINUE:
        return [_only(record, lambda name: name in inside)]
    if ready.graft is None:
        return [record]
    graft = Record(ready.graft.events, ready.graft.body)
    return [_only(record, lambda name: name not in inside), graft]


def _only(record: Record, is_meant: Callable[[str | None], bool]) -> Record:
    return Record([e for e in record.events if is_meant(e.handoff_id)], record.body)


def _live_nodes(part: Sequence[HandoffNode], order: RerunOrder) -> Sequence[HandoffNode]:
    """Return the handoffs whose models will really be asked."""
    if order.mode is Mode.VERIFY:
        return ()
    if order.mode is Mode.CONTINUE:
        return part if order.edits.described() else ()  # of a graft, what is changed besides
    if order.mode is Mode.WHAT_IF:  # what it calls is answered as recorded, as a whole
        return [node for node in part if node.depth == part[0].depth] if part else ()
    return part


def _further(
    record: Record, part: Sequence[HandoffNode], ready: Prepared, order: RerunOrder
) -> int:
    """Return the recorded model calls that may be made anew where the session goes on.

    Those of callers after this handoff: another result changes their questions. Where the flow is
    another one, any.
    """
    if order.mode is not Mode.CONTINUE:
        return 0
    replies = [event for event, _ in record.of(ModelReplied)]
    if ready.flow.changes:
        asked = {node.handoff_id for node in _live_nodes(part, order)}
        return sum(event.handoff_id not in asked for event in replies)
    if not (order.graft or order.edits.described()) or not part:
        return 0
    inside = {node.handoff_id for node in part}
    ended = max((node.closed_seq or node.last_seq for node in part), default=0)
    return sum(event.seq > ended and event.handoff_id not in inside for event in replies)
