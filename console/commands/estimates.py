"""What a re-run will take, from the recording alone: asked before anything runs."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from handoff_console.console.commands.as_then_notes import check_models_asked
from handoff_console.console.commands.rerun_course import Course, Part
from handoff_console.console.commands.rerun_notes import notes_on
from handoff_console.console.commands.rerun_orders import Prepared, RerunOrder, prepare
from handoff_console.console.memory import undisturbed
from handoff_console.runtime.contract import MIN_REPLY_TOKENS, Effect, Limits
from handoff_console.runtime.events import ModelCalled, ModelReplied
from handoff_console.runtime.rerun_player import Mode
from handoff_console.store import reader
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
    with undisturbed(keep=False), closing(open_reader(store_path)) as db:
        session_id = reader.resolve_session(db, asked)
        return plan_of(prepare(db, session_id, order), order)


def plan_of(ready: Prepared, order: RerunOrder) -> Plan:
    """Return what a checked re-run will take.

    Raises:
        FlowError: A model that it would ask cannot be asked here.
    """
    check_models_asked(ready, order.mode)
    return Plan(
        ready.past.session_id,
        ready.recorded.opened.target,
        ready.past.outcome,
        ready.edits.described(),
        ready.flow.changes,
        estimate(ready, order),
        ready.request.limits,
    )


def estimate(ready: Prepared, order: RerunOrder) -> Estimate:
    """Return what a re-run will take if it goes as it went, as far as its limits let it."""
    mode, times, part = order.mode, order.times, ready.past.part
    course = ready.past.course if mode is Mode.VERIFY else _until_its_limits(ready)
    ids = _live(part, order)
    replies = [reply for reply in course.replies if reply.handoff_id in ids]
    sources = _answered_from(course, ready, mode)
    acts = [one for source in sources for one in source.acts(ready.flow.flow)]
    reads = [one for one in acts if one.effect is Effect.READ and one.handoff_id in ids]
    runs_reads = mode in (Mode.LIVE, Mode.LIVE_READS) or mode is Mode.CONTINUE
    tool_calls = len(reads) if runs_reads else 0
    answers = sum(source.answers for source in sources)
    writes = [one for one in acts if one.effect is not Effect.READ]
    again = [one.tool for one in writes if one.tool in order.edits.armed]
    kept = [one.tool for one in writes if one.is_known and one.tool not in order.edits.armed]
    return Estimate(
        times=times,
        model_calls=times * len(replies),
        tokens=times * sum(reply.tokens for reply in replies),
        further_model_calls=times * _further(course, part, ready, order),
        goes_beyond=mode is Mode.CONTINUE and not ready.past.is_over,
        replayed_answers=times * max(answers - len(replies) - tool_calls - len(again), 0),
        tool_calls=times * tool_calls,
        reused=tuple(dict.fromkeys(kept)),
        repeated=tuple(dict.fromkeys(again)),
        notes=tuple(notes_on(ready, order)),
    )


def _until_its_limits(ready: Prepared) -> Course:
    """Return what was asked and answered, but for what is beyond the limits that it has now.

    From the first model call that they do not let through, nothing of it happens, nor of what it
    called or passed on to after that.
    """
    course = ready.past.course
    cut = next(iter(_beyond(ready)), None) if ready.edits.limits else None
    return course if cut is None else course.until(cut, ready.past.part.inside)


def _beyond(ready: Prepared) -> Iterator[int]:
    """Yield where the record has a model call of the handoff that its limits do not let through."""
    limits, opened = ready.request.limits, ready.recorded.event
    tokens = 0
    for event in ready.past.steps:
        called, seconds = event.payload, event.elapsed_seconds - opened.elapsed_seconds
        if isinstance(called, ModelReplied):
            tokens += called.input_tokens + called.output_tokens
        elif isinstance(called, ModelCalled) and (
            called.step > limits.max_steps
            or limits.max_tokens - tokens - called.estimate_tokens < MIN_REPLY_TOKENS
            or (tokens and seconds >= limits.deadline_seconds)  # the first call always begins
        ):
            yield event.seq


def _answered_from(course: Course, ready: Prepared, mode: Mode) -> Sequence[Course]:
    """Return where the recorded answers come from, of each what is read of it.

    A graft answers in the place of the handoff that it repeats.
    """
    inside = ready.past.part.inside
    if mode is not Mode.CONTINUE:
        return [course.only(lambda name: name in inside)]
    if ready.graft is None:
        return [course]
    return [course.only(lambda name: name not in inside), ready.graft.course]


def _live(part: Part, order: RerunOrder) -> frozenset[str]:
    """Return the handoffs whose models will really be asked."""
    if order.mode is Mode.VERIFY:
        return frozenset()
    if order.mode is Mode.CONTINUE:  # of a graft, what is changed besides
        return part.inside if order.edits.described() else frozenset()
    if order.mode is Mode.WHAT_IF:  # what it calls is answered as recorded, as a whole
        return part.level
    return part.inside


def _further(course: Course, part: Part, ready: Prepared, order: RerunOrder) -> int:
    """Return the recorded model calls that may be made anew where the session goes on.

    Those of callers after this handoff: another result changes their questions. Where the flow is
    another one, any.
    """
    if order.mode is not Mode.CONTINUE:
        return 0
    if ready.flow.changes:
        asked = _live(part, order)
        return sum(reply.handoff_id not in asked for reply in course.replies)
    if not (order.graft or order.edits.described()) or not part.inside:
        return 0
    return sum(
        reply.seq > part.ended_seq and reply.handoff_id not in part.inside
        for reply in course.replies
    )
