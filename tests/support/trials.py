"""Trials of killed sessions: what dies is forked, what goes on is the process itself."""

import gc
import shutil
import signal
import tempfile
import traceback
from collections import Counter
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import pytest
from contexts import ContextCheck
from mortal import Death, World, forked, stop
from rescue import Outcome, SampleCase

from handoff_console.sample_runs.day import RECORDINGS
from handoff_console.sample_runs.recording import DIGEST_KEY
from handoff_console.store.writer import open_sink

CONTEXTS = ContextCheck(pytest.MonkeyPatch())
"""Of all processes here that live on; what is wrong counts as a run that did not come through."""

WRONG = (
    "events_lost", "effects_lost", "effects_twice", "other_results", "asked_twice", "unfinished",
)  # fmt: skip
"""What may never be; `asked_again` may: questions whose answers died with the process.

`unfinished` are runs that ended in an error, and processes that did not die where they should have.
"""


class Case(Protocol):
    """A session that is to be killed and gone on with, in a folder with a store."""

    name: str

    def prepare(self, folder: Path) -> None:
        """Put there what is there before; nobody is killed while doing so."""

    def work(self, folder: Path, moment: Death) -> None:
        """Run the session to its end."""

    def rescue(self, folder: Path, moment: Death) -> None:
        """Run it to its end from wherever a killed process left it."""

    def outcome(self, folder: Path) -> Outcome:
        """Return what it came to."""


def cases(*, reruns: bool) -> dict[str, Case]:
    """Return all cases by name: the samples, or handoffs of them that are run again."""
    if reruns:
        from killed_reruns import RERUNS

        return {case.name: case for case in RERUNS}
    return {recording.name: SampleCase(recording) for recording in RECORDINGS}


@dataclass(frozen=True)
class Undisturbed:
    """What a session comes to when nobody kills it: what every other run is held against."""

    name: str
    moments: int
    outcome: Outcome


class Trials:
    """The trials of one process, each in a folder of its own, one after the other.

    The process that goes on is this one: only those that die are forked. It has done the same
    before, so that a fork takes over what Python makes once, and does not make it again.
    """

    def __init__(self, place: Path, *, reruns: bool) -> None:
        self._place, self._cases = Path(tempfile.mkdtemp(dir=place)), cases(reruns=reruns)
        self._prepared: dict[str, Path] = {}

    def undisturbed(self, name: str) -> Undisturbed:
        alive, case = Death(), self._cases[name]
        folder = self._copy(self._before(name))
        case.work(folder, alive)
        outcome = case.outcome(folder)
        assert CONTEXTS.taken() == [], "A model was sent messages that it must not be sent."
        shutil.rmtree(folder)
        return Undisturbed(name, alive.moments, outcome)

    def killed(self, whole: Undisturbed, at: int, *, twice: bool) -> Counter[str]:
        """Kill a session at a moment, go on, and count what differs."""
        case = self._cases[whole.name]
        left = self._copy(self._before(whole.name))
        # What this process keeps would otherwise be copied by each fork as soon as it collects.
        gc.collect()
        gc.freeze()
        counts = killed(lambda moment: case.work(left, moment), at)
        moments, found = self._rescued(whole, self._copy(left))
        counts.update(found)
        for then in range(1, moments + 1) if twice else ():
            folder = self._copy(left)
            counts.update(killed(lambda moment, at=folder: case.rescue(at, moment), then))
            counts.update(self._rescued(whole, folder)[1])
        shutil.rmtree(left)
        return counts

    def _rescued(self, whole: Undisturbed, folder: Path) -> tuple[int, Counter[str]]:
        """Go on from what was left, and return how many moments it took and what differs."""
        alive, case, counts = Death(), self._cases[whole.name], Counter(runs=1)
        try:
            case.rescue(folder, alive)
            counts.update(whole.outcome.differences(case.outcome(folder)))
            assert CONTEXTS.taken() == [], "A model was sent messages that it must not be sent."
        except Exception:  # noqa: BLE001 - one more that came to nothing; the others go on
            traceback.print_exc()
            CONTEXTS.taken()
            counts["unfinished"] += 1
        shutil.rmtree(folder)
        return alive.moments, counts

    def _before(self, name: str) -> Path:
        """Return a folder with what is there before the session, made once."""
        if name not in self._prepared:
            folder = Path(tempfile.mkdtemp(dir=self._place))
            with closing(open_sink(World(folder).store, create=True)) as sink:
                of = "update meta set value = ? where name = 'digest_key'"
                sink.db.execute(of, (DIGEST_KEY,))
            self._cases[name].prepare(folder)
            self._prepared[name] = folder
        return self._prepared[name]

    def _copy(self, folder: Path) -> Path:
        there = Path(tempfile.mkdtemp(dir=self._place))
        return Path(shutil.copytree(folder, there, dirs_exist_ok=True))


def killed(work: Callable[[Death], None], at: int) -> Counter[str]:
    """Do it in a process of its own that dies at a moment."""
    is_dead = forked(lambda: work(Death(at))) == -signal.SIGKILL
    return Counter(deaths=int(is_dead), unfinished=int(not is_dead))


_HERE: list[Trials] = []
"""Those of this process, once it is one that tries."""


def begin(place: Path, reruns: bool) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is answered by the program alone,
    signal.signal(signal.SIGTERM, stop)  # which ends its processes so
    _HERE.append(Trials(place, reruns=reruns))


def undisturbed(name: str) -> Undisturbed:
    return _HERE[0].undisturbed(name)


def trial(one: tuple[Undisturbed, int], *, twice: bool) -> tuple[str, int, Counter[str]]:
    whole, at = one
    return whole.name, at, _HERE[0].killed(whole, at, twice=twice)
