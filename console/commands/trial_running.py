"""Running trials: several at a time, inside one budget, each on record before and after."""

import asyncio
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from handoff_console.console.commands.first_decisions import decide, whole_session
from handoff_console.console.commands.routed import Side
from handoff_console.runtime import Event
from handoff_console.runtime.budget import Pool
from handoff_console.runtime.clock import SystemClock
from handoff_console.runtime.errors import BudgetError, HandoffConsoleError
from handoff_console.runtime.models import terms_of
from handoff_console.runtime.options import new_session_id
from handoff_console.store import reader
from handoff_console.store.analysis.comparison.cases import RouteCase
from handoff_console.store.analysis.comparison.trials import Experiment
from handoff_console.store.experiment_forms import Outcome
from handoff_console.store.experiment_writing import TrialRef
from handoff_console.store.trials import begin_trial, end_trial
from handoff_console.store.writer import StoreSink

DIRECT_TOKENS = 2_000
"""Room for one reply, where a model does not say how long its own may be."""
OFFLINE_REPLY_TOKENS = 100


class Stop:
    """How a comparison is stopped: by its budget, or by somebody."""

    def __init__(self) -> None:
        self.why = ""
        """`cap` or `interrupted`; empty while it goes on."""

    def stop(self, why: str = "interrupted") -> None:
        """Start no further trial."""
        self.why = self.why or why


@dataclass
class RunProgress:
    """How far a comparison has come."""

    total: int
    """Trials, each counted once."""
    reused: int
    """Those that were on record."""
    done: int = 0
    """Those that this run did."""
    errors: int = 0
    """Those of this run whose model could not be asked."""
    tokens: int = 0
    """Used by this run."""
    seconds: float = 0.0

    @property
    def left(self) -> int:
        """Trials that are still to be tried."""
        return self.total - self.reused - self.done - self.errors


@dataclass(frozen=True)
class Work:
    """What is to be run."""

    experiment: Experiment
    sides: Sequence[Side]
    refs: Sequence[TrialRef]
    pending: Sequence[str]
    """Keys of the trials to be run."""
    jobs: int
    max_tokens: int | None

    def first_refs(self) -> Mapping[str, TrialRef]:
        """Return for each trial the first place that needs it."""
        found: dict[str, TrialRef] = {}
        for ref in self.refs:
            found.setdefault(ref.trial_key, ref)
        return found


def worst_case_tokens(one: Side, case: RouteCase, mode: str) -> int:
    """Return the most that a trial may use: what is reserved before it runs.

    A whole session has the flow's pool; a decision has what is read, once for each try, and room
    for one reply.
    """
    if mode == "full":
        return one.flow.pool_tokens
    read = one.read_tokens(case.text)
    terms = terms_of(one.router)
    if one.version.offline:
        return read + OFFLINE_REPLY_TOKENS
    return (read + (terms.max_output_tokens or DIRECT_TOKENS)) * terms.max_tries


async def run_trials(
    sink: StoreSink,
    work: Work,
    progress: RunProgress,
    tell: Callable[[RunProgress], None],
    stop: Stop,
) -> None:
    """Run what is pending, `work.jobs` at a time, until all was tried or it is stopped.

    A trial that was begun when it is stopped is waited for: its tokens are spent.
    """
    runner = _Runner(sink, work, progress, stop)
    began = time.monotonic()
    queue = iter(work.pending)
    tell(progress)

    async def worker() -> None:
        for key in queue:
            if stop.why:
                return
            await runner.one(key)
            progress.seconds = time.monotonic() - began
            tell(progress)

    async with asyncio.TaskGroup() as group:
        for _ in range(min(max(work.jobs, 1), max(len(work.pending), 1))):
            group.create_task(worker())


class _Runner:
    """Runs one trial after the other into a store."""

    def __init__(
        self,
        sink: StoreSink,
        work: Work,
        progress: RunProgress,
        stop: Stop,
    ) -> None:
        self._sink, self._work = sink, work
        self._progress, self._stop = progress, stop
        self._refs = work.first_refs()
        self._pool = None if work.max_tokens is None else Pool(work.max_tokens)
        self._holding = 0
        """Trials that hold a part of the budget now."""
        self._given_back = asyncio.Event()

    async def one(self, key: str) -> None:
        """Run a trial and keep what it came to; stop where the budget does not hold it."""
        ref = self._refs[key]
        one, case = self._work.sides[ref.version], self._work.experiment.cases[ref.place]
        reserved = worst_case_tokens(one, case, self._work.experiment.mode)
        if not await self._is_reserved(key, reserved):
            return
        begin_trial(self._sink.db, key, reserved)
        outcome = await self._outcome(one, case)
        end_trial(self._sink.db, key, outcome)
        if self._pool is not None:
            self._pool.charge(key, outcome.tokens)
            self._pool.refund(key)
            self._holding -= 1
            self._given_back.set()
        self._progress.tokens += outcome.tokens
        if outcome.problem:
            self._progress.errors += 1
        else:
            self._progress.done += 1

    async def _is_reserved(self, key: str, tokens: int) -> bool:
        """Reserve what a trial may use, once those that run now have given back enough."""
        if self._pool is None:
            return True
        while not self._stop.why:
            with suppress(BudgetError):
                self._pool.reserve(key, None, tokens)
                self._holding += 1
                return True
            if not self._holding:
                self._stop.stop("cap")
                break
            self._given_back.clear()
            await self._given_back.wait()
        return False

    async def _outcome(self, one: Side, case: RouteCase) -> Outcome:
        try:
            if self._work.experiment.mode == "full":
                return await self._whole(one, case)
            return await decide(one, case)
        except HandoffConsoleError as error:
            return Outcome(problem=str(error))

    async def _whole(self, one: Side, case: RouteCase) -> Outcome:
        return await whole_session(
            one,
            case,
            self._sink,
            new_session_id(_CLOCK),
            experiment_id=self._work.experiment.experiment_id,
            read=self._read,
        )

    def _read(self, session_id: str) -> tuple[list[Event], Callable[[str], Any]]:
        db = self._sink.db
        return reader.load_events(db, session_id), lambda name: reader.body(db, name)


_CLOCK = SystemClock()
