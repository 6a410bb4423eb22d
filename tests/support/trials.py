"""Trials of killed sample sessions: what dies is forked, what goes on is the process itself."""

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

import pytest
from contexts import ContextCheck
from mortal import Death, World, forked
from rescue import Outcome, rescued, worked

from handoff_console.sample_runs import sample
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

SAMPLES = {recording.name: recording for recording in RECORDINGS}


@dataclass(frozen=True)
class Undisturbed:
    """What a sample comes to when nobody kills it: what every other run is held against."""

    name: str
    moments: int
    outcome: Outcome


class Trials:
    """The trials of one process, each in a folder of its own, one after the other.

    The process that goes on is this one: only those that die are forked. It has done the same
    before, so that a fork takes over what Python makes once, and does not make it again.
    """

    def __init__(self, place: Path) -> None:
        self._place = Path(tempfile.mkdtemp(dir=place))
        self._empty = self._place / "empty"
        self._empty.mkdir()
        with closing(open_sink(World(self._empty).store, create=True)) as sink:
            sink.db.execute("update meta set value = ? where name = 'digest_key'", (DIGEST_KEY,))

    def undisturbed(self, name: str) -> Undisturbed:
        alive = Death()
        folder = self._copy(self._empty)
        worked(SAMPLES[name], folder, alive)
        outcome = Outcome.of(SAMPLES[name], folder)
        assert CONTEXTS.taken() == [], "A model was sent messages that it must not be sent."
        shutil.rmtree(folder)
        return Undisturbed(name, alive.moments, outcome)

    def killed(self, whole: Undisturbed, at: int, *, twice: bool) -> Counter[str]:
        """Kill a sample's recording at a moment, go on, and count what differs."""
        recording = SAMPLES[whole.name]
        # What this process keeps would otherwise be copied by each fork as soon as it collects.
        gc.collect()
        gc.freeze()
        left = self._copy(self._empty)
        counts = killed(lambda moment: worked(recording, left, moment), at)
        moments = self._rescue(whole, self._copy(left), counts)
        for then in range(1, moments + 1) if twice else ():
            folder = self._copy(left)
            counts += killed(lambda moment, at=folder: rescued(recording, at, moment), then)
            self._rescue(whole, folder, counts)
        shutil.rmtree(left)
        return counts

    def _rescue(self, whole: Undisturbed, folder: Path, counts: Counter[str]) -> int:
        """Go on from what was left, count what differs, and return how many moments it took."""
        alive, recording = Death(), SAMPLES[whole.name]
        counts["runs"] += 1
        try:
            rescued(recording, folder, alive)
            counts += whole.outcome.differences(Outcome.of(recording, folder))
            assert CONTEXTS.taken() == [], "A model was sent messages that it must not be sent."
        except Exception:  # noqa: BLE001 - one more that came to nothing; the others go on
            traceback.print_exc()
            CONTEXTS.taken()
            counts["unfinished"] += 1
        shutil.rmtree(folder)
        return alive.moments

    def _copy(self, folder: Path) -> Path:
        there = Path(tempfile.mkdtemp(dir=self._place))
        return Path(shutil.copytree(folder, there, dirs_exist_ok=True))


def killed(work: Callable[[Death], None], at: int) -> Counter[str]:
    """Do it in a process of its own that dies at a moment."""
    is_dead = forked(lambda: work(Death(at))) == -signal.SIGKILL
    return Counter(deaths=int(is_dead), unfinished=int(not is_dead))


_HERE: list[Trials] = []
"""Those of this process, once it is one that tries."""


def begin(place: Path) -> None:
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # Ctrl-C is answered by the program alone
    for recording in RECORDINGS:
        sample(recording.flow)  # imported once, and not again by each process
    _HERE.append(Trials(place))


def undisturbed(name: str) -> Undisturbed:
    return _HERE[0].undisturbed(name)


def trial(whole: Undisturbed, at: int, *, twice: bool) -> Counter[str]:
    return _HERE[0].killed(whole, at, twice=twice)
