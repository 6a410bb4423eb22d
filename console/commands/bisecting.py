"""Which change flips it: the smallest difference between a failed attempt and a good one."""

import asyncio
import re
import sqlite3
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from handoff_console.console.commands.as_then_notes import not_as_it_was, reached
from handoff_console.console.commands.attempt_names import attempt_named
from handoff_console.console.commands.errors import CommandError, MarksInRequest
from handoff_console.console.commands.recorded_flows import RecordedFlow, flow_for, started_of
from handoff_console.console.commands.recorded_models import check_can_be_asked
from handoff_console.console.commands.rerun_past import recorded_outcome_of
from handoff_console.console.memory import undisturbed
from handoff_console.runtime import EventList, Recording, Redaction
from handoff_console.runtime.bisecting import bisect
from handoff_console.runtime.causes import Cause, Estimate, estimate
from handoff_console.runtime.changes import Attempt, Change, Changes, changes_between
from handoff_console.runtime.contract import Status
from handoff_console.runtime.filling import filled_together
from handoff_console.runtime.recorded import RecordedAgain, agent_of, find_handoff
from handoff_console.runtime.redaction import has_mark
from handoff_console.runtime.rerun_player import Mode
from handoff_console.store import reader
from handoff_console.store.analysis.findings.record import Record
from handoff_console.store.analysis.nodes import HandoffNode
from handoff_console.store.analysis.scope import Place, part_of
from handoff_console.store.db import open_reader
from handoff_console.store.recordings import recording_of


@dataclass(frozen=True, kw_only=True)
class Bisection:
    """Two attempts of a handoff, and how the difference between them is looked for."""

    failed: str
    """`SESSION:HANDOFF`; of a re-run the session is enough. So is the next."""
    good: str
    mode: Mode = Mode.WHAT_IF
    repeats: int = 3
    named: str = ""
    """The flow: `path/to/file.py:name`; empty where a sample ran."""
    values: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """What was left out of the records, as `filled` takes it."""
    leave_marks: bool = False
    """Models may be asked with marks where values were left out of a request."""
    announce: "Callable[[Prepared], None] | None" = None
    """Is told what is about to be tried, before it is."""
    tell: Callable[[int, int], None] | None = None
    """Is told how many re-runs of at most how many are done."""


@dataclass(frozen=True)
class Between:
    """In what two attempts differ, however it is tried."""

    flow: RecordedFlow
    agent: str
    changes: Changes
    tokens: int
    """What the failed one took, with what was below it."""
    marked: tuple[str, ...]
    """Those that were asked with marks where values were left out: `SESSION:HANDOFF`."""


@dataclass(frozen=True)
class SearchPlan:
    """What a search will try."""

    changes: Changes
    estimate: Estimate
    told: Sequence[str]
    """What is otherwise than when it was recorded, to be announced before anything runs."""
    has_marks: bool
    """Values were left out of what one of them was asked with."""


@dataclass(frozen=True)
class Prepared(SearchPlan):
    """What is about to be tried."""

    failed: Attempt
    good: Attempt
    flow: RecordedFlow


def prepare(db: sqlite3.Connection, asked: Bisection) -> Prepared:
    """Return what a bisection will try, without trying anything.

    Raises:
        CommandError: An attempt is not named clearly, the two are of different agents, or the good
            one failed.
        RequestError: There is no such handoff, it never began, its agent is gone from the flow, or
            a value is not what was left out of the records.
        FlowNotNamed: The session ran a file, and the file is not named.
        FlowError: A model that would be asked cannot be asked here.
        MarksInRequest: A model would be asked with a mark where a value was left out of a record.
    """
    failed, good, found = between(db, asked)
    plan = planned(found, asked)
    return Prepared(
        plan.changes, plan.estimate, plan.told, plan.has_marks, failed, good, found.flow
    )


def between(db: sqlite3.Connection, asked: Bisection) -> tuple[Attempt, Attempt, Between]:
    """Return the two attempts, the failed one first, and in what they differ.

    Raises:
        CommandError, RequestError, FlowNotNamed, FlowError: As `prepare`.
    """
    failed, good = _attempt(db, asked.failed), _attempt(db, asked.good)
    flow = flow_for(failed.recording, asked.named, failed.handoff_id)
    mine = find_handoff(*failed)
    agent = agent_of(flow.flow, mine).name
    if asked.values:
        both = [failed.recording, good.recording]
        both = filled_together(both, asked.values, flow.flow.redaction)
        failed, good = (a._replace(recording=b) for a, b in zip((failed, good), both, strict=True))
        mine = find_handoff(*failed)
    changes = changes_between(failed, good)
    theirs = find_handoff(*good)
    if changes.changes:
        _check_one_is_good(mine, theirs, good.recording)
    marked = tuple(
        f"{one.recording.session_id}:{one.handoff_id}"
        for one, found in ((failed, mine), (good, theirs))
        if _has_marks(found)
    )
    return failed, good, Between(flow, agent, changes, _tokens(failed), marked)


def planned(found: Between, asked: Bisection) -> SearchPlan:
    """Return what a search for what makes the difference will try.

    Raises:
        FlowError, MarksInRequest: As `prepare`.
    """
    changes, flow = found.changes, found.flow
    if changes.changes and found.marked and not asked.leave_marks:
        raise MarksInRequest(
            f"Values were left out of what {found.marked[0]} was asked with, and a model would be "
            "asked with marks in their place; say them with --value NAME=VALUE, or --leave-marks "
            "to ask with the marks."
        )
    if changes.changes:
        check_can_be_asked(flow.flow, reached(flow.flow, found.agent, asked.mode))
    return SearchPlan(
        changes,
        estimate(changes, found.tokens, asked.repeats),
        not_as_it_was(flow, found.agent, asked.mode),
        has_marks=bool(found.marked),
    )


def _has_marks(attempt: RecordedAgain) -> bool:
    return has_mark(attempt.request.task) or has_mark(attempt.request.inputs)


def _check_one_is_good(mine: RecordedAgain, theirs: RecordedAgain, good: Recording) -> None:
    """Refuse what could only be answered wrongly: hundreds of re-runs, or both the wrong way round.

    Raises:
        CommandError: They are of two agents, or the good one failed.
    """
    agents = mine.opened.target, theirs.opened.target
    if agents[0] != agents[1]:
        raise CommandError(
            f"The two are attempts of different agents, {agents[0]!r} and {agents[1]!r}; name two "
            "of the same one."
        )
    outcome = recorded_outcome_of(good, theirs)
    if outcome in (Status.ERROR, Status.LIMIT_REACHED):
        raise CommandError(
            f"The attempt that is to be the good one came out as {outcome}; name the failed one "
            "first, and then one that went well."
        )


def plan_bisection(store_path: Path, asked: Bisection) -> Prepared:
    """Return what a bisection will try; see `prepare`.

    Raises:
        StoreError: The store cannot be opened.
    """
    with undisturbed(keep=False), closing(open_reader(store_path)) as db:
        return prepare(db, asked)


def find_cause(store_path: Path, asked: Bisection) -> Cause:
    """Try sets of differences until the smallest one is known that flips the outcome.

    Its re-runs are not recorded: there may be hundreds.

    Raises:
        CommandError, RequestError: It cannot be tried; see `prepare`. Nothing ran.
        StoreError: The store cannot be opened.
    """
    with closing(open_reader(store_path)) as db:
        ready = prepare(db, asked)
        if asked.announce:
            asked.announce(ready)
        done = 0

        def watch(_changes: object, _passed: bool) -> None:
            nonlocal done
            done += 1
            if asked.tell:
                asked.tell(done, ready.estimate.most_reruns)

        key = reader.digest_key(db)
        found = asyncio.run(
            bisect(
                ready.flow.flow,
                ready.failed,
                ready.good,
                mode=asked.mode,
                repeats=asked.repeats,
                watch=watch,
                sink=EventList(key),
            )
        )
    redaction = ready.flow.flow.redaction
    return replace(
        found,
        changes=_without_values(found.changes, redaction),
        without_one=tuple(
            replace(one, changes=_without_values(one.changes, redaction))
            for one in found.without_one
        ),
    )


def _without_values(changes: Sequence[Change], redaction: Redaction) -> tuple[Change, ...]:
    """Return changes as a record would have them: an answer is passed on."""

    def written(one: Change, value: Any) -> Any:
        # By its name too: a password has no form by which it could be told.
        (clean,) = redaction.clean({_KEYED.sub("", one.name): value}).values()
        return clean

    return tuple(
        replace(one, before=written(one, one.before), after=written(one, one.after))
        for one in changes
    )


_KEYED = re.compile(r"^(?:inputs|facts|packet\.claimed)\.")
"""What stands before the name that a value had in its record."""


def cause_form(asked: Bisection, found: Cause) -> dict[str, Any]:
    """Return `bisect --json`."""
    return {
        "failed": asked.failed,
        "good": asked.good,
        "mode": asked.mode.value,
        "conclusion": found.conclusion.value.replace(" ", "_"),
        "sentence": found.sentence,
        "is_sure": found.is_sure,
        "chance": found.chance,
        "changes": [_change(change) for change in found.changes],
        "passed_with": found.with_them.passed,
        "tried_with": found.with_them.total,
        "passed_without": found.without.passed,
        "tried_without": found.without.total,
        "untried": list(found.untried),
        "reruns": found.reruns,
    }


def _change(change: Change) -> dict[str, Any]:
    return {"name": change.name, "failed": change.before, "good": change.after}


def _attempt(db: sqlite3.Connection, named: str) -> Attempt:
    session, handoff_id = attempt_named(db, named)
    session_id = reader.resolve_session(db, session)
    if not handoff_id:
        handoff_id = started_of(recording_of(db, session_id)).rerun_handoff
    if not handoff_id:
        raise CommandError(
            f"Session {session_id!r} has several handoffs; say which one, as {session}:h2."
        )
    return Attempt(recording_of(db, session_id, handoff_id), handoff_id)


def _tokens(attempt: Attempt) -> int:
    """Return what an attempt took, with what was below it."""
    record = Record(attempt.recording.events, attempt.recording.body, tasks=False)
    node: HandoffNode | None = record.tree.by_id.get(attempt.handoff_id)
    if node is None:
        return 0
    return sum(one.tokens_used for one in part_of(record, Place(node.path, node.attempt)))
