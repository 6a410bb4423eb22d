"""Kills the recording of sample sessions at every moment, goes on, and counts what differs.

A program of its own (`python tests/support/killing.py [--every N] [--twice] [NAME…]`), which forks
a process for each death: after each commit of the record, each note in the ledger, and each effect.
With `--twice` the process that goes on is killed too, at each of its moments in turn; with
`--reruns` handoffs of samples are killed while they are run again with a change. Prints an object a
line, one for each sample, and one of their sums; how far it is goes to standard error. Ends with
status 1 if anything was lost, done twice, or came out differently.
"""

import argparse
import json
import os
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from difflib import get_close_matches
from functools import partial
from multiprocessing import get_context
from multiprocessing.pool import Pool
from pathlib import Path
from typing import Any
from zlib import crc32

from trials import WRONG, Undisturbed, begin, cases, trial, undisturbed

MEMORY = Path("/dev/shm")
"""Where Linux keeps files in memory: what a killed process leaves there is what it leaves on a
disk, and nothing waits for one."""

SECONDS = 1
"""Between two words about how far it is; sixty times as long where they make a log."""

COUNTED = ("runs", "deaths", "asked_again", *WRONG)


class Progress:
    """Says on standard error how far it is: in place on a terminal, else a line now and then."""

    def __init__(
        self,
        asked: argparse.Namespace,
        wholes: Mapping[str, Undisturbed],
        trials: Sequence[tuple[str, int]],
    ) -> None:
        self._twice, self._what = asked.twice, "re-runs" if asked.reruns else "samples"
        self._wholes, self._left = wholes, Counter(name for name, _ in trials)
        self._samples, self._deaths = len(self._left), 0
        self._done, self._all = 0.0, sum(self._effort(*one) for one in trials)
        self._began = self._said = time.monotonic()
        self._is_terminal = sys.stderr.isatty()

    def add(self, name: str, at: int, deaths: int) -> None:
        self._deaths += deaths
        self._done += self._effort(name, at)
        self._left[name] -= 1
        if not self._left[name]:
            del self._left[name]
        elif time.monotonic() - self._said < (SECONDS if self._is_terminal else 60 * SECONDS):
            return
        self._said = time.monotonic()
        print(*self._lines(), end="", sep="", file=sys.stderr, flush=True)

    def _effort(self, name: str, at: int) -> float:
        """Roughly in proportion to the time a trial takes; a later death leaves less to do."""
        moments = self._wholes[name].moments
        return (60 + moments) * (moments - at / 3 if self._twice else 1)

    def _lines(self) -> Iterator[str]:
        seconds = (time.monotonic() - self._began) * (self._all / self._done - 1)
        time_left = f"{seconds / 60:.0f} min" if seconds > 90 else f"{seconds:.0f} s"
        if self._is_terminal:
            yield "\r\x1b[K"
        yield f"{self._samples - len(self._left)} of {self._samples} {self._what}, "
        yield f"{self._deaths:,} deaths, {time_left} left"
        if not (self._is_terminal and self._left):
            yield "\n"


def found(pool: Pool, asked: argparse.Namespace) -> Iterator[dict[str, Any]]:
    """Yield what each sample came to, as soon as all its trials are over."""
    wholes = {whole.name: whole for whole in pool.map(undisturbed, asked.names, chunksize=1)}
    trials = [(one, at) for one in wholes.values() for at in moments_of(one, asked.every)]
    left = Counter(whole.name for whole, _ in trials)
    progress = Progress(asked, wholes, [(whole.name, at) for whole, at in trials])
    counts = {name: Counter(dict.fromkeys(COUNTED, 0)) for name in wholes}
    yield from (row(wholes[name], counts[name]) for name in wholes if not left[name])
    for name, at, came in pool.imap_unordered(partial(trial, twice=asked.twice), trials):
        counts[name].update(came)
        progress.add(name, at, came["deaths"])
        left[name] -= 1
        if not left[name]:
            yield row(wholes[name], counts[name])


def moments_of(whole: Undisturbed, every: int) -> range:
    """The moments to die at: not the same of each, which one of every n-th depends on the name."""
    return range(1 + crc32(whole.name.encode()) % every, whole.moments + 1, every)


def row(whole: Undisturbed, counts: Counter[str]) -> dict[str, Any]:
    questions = whole.outcome.questions
    return {"sample": whole.name, "moments": whole.moments, "questions": questions, **counts}


def said(words: Sequence[str]) -> argparse.Namespace:
    program = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    program.add_argument("names", nargs="*", metavar="NAME", help="a sample; by default all")
    program.add_argument("--twice", action="store_true", help="also kill what goes on")
    program.add_argument("--reruns", action="store_true", help="kill re-runs of samples instead")
    program.add_argument("--every", type=int, default=1, metavar="N", help="only each n-th moment")
    program.add_argument(
        "--jobs", type=int, default=os.cpu_count() or 1, metavar="N",
        help="trials side by side; by default as many as there are cores",
    )  # fmt: skip
    program.add_argument("--sum", action="store_true", help="print the sums alone")
    asked = program.parse_args(words)
    if min(asked.every, asked.jobs) < 1:
        program.exit(2, "--every and --jobs take a number from 1 on.\n")
    names = [*cases(reruns=asked.reruns)]
    for name in asked.names:
        if name not in names:
            what = "re-run" if asked.reruns else "sample"
            near = get_close_matches(name, names, 1)
            meant = f"did you mean {near[0]!r}?" if near else f"the first is {names[0]!r}."
            program.exit(2, f"There is no {what} {name!r}; {meant}\n")
    asked.names = [name for name in names if name in asked.names or not asked.names]
    return asked


def main(words: Sequence[str]) -> int:
    asked = said(words)
    memory = MEMORY if os.access(MEMORY, os.W_OK) and "TMPDIR" not in os.environ else None
    sums: Counter[str] = Counter(samples=0)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # and clean up, as after Ctrl-C
    with (
        tempfile.TemporaryDirectory(prefix="killing-", dir=memory) as place,
        get_context("fork").Pool(asked.jobs, begin, [Path(place), asked.reruns]) as pool,
    ):
        for one in found(pool, asked):
            if not asked.sum:
                print(json.dumps(one), flush=True)
            sums.update({"samples": 1, **{k: v for k, v in one.items() if k != "sample"}})
    print(json.dumps(sums))
    return int(any(sums[name] for name in WRONG))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
