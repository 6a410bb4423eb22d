"""Kills the recording of sample sessions at every moment, goes on, and counts what differs.

A program of its own (`python tests/support/killing.py [--every N] [--twice] [NAME…]`), which forks
a process for each death: after each commit of the record, each note in the ledger, and each effect.
With `--twice` the process that goes on is killed too, at each of its moments in turn. Prints an
object a line, one for each sample, and one of their sums; how far it is goes to standard error.
Ends with status 1 if anything was lost, done twice, or came out differently.
"""

import argparse
import json
import multiprocessing
import os
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from difflib import get_close_matches
from pathlib import Path
from typing import Any
from zlib import crc32

from trials import SAMPLES, WRONG, Undisturbed, begin, trial, undisturbed

MEMORY = Path("/dev/shm")
"""Where Linux keeps files in memory: what a killed process leaves there is what it leaves on a
disk, and nothing waits for one."""

COUNTED = ("runs", "deaths", "asked_again", *WRONG)


class Progress:
    """Says on standard error how far it is: in place on a terminal, else after each sample."""

    def __init__(
        self, wholes: Mapping[str, Undisturbed], trials: Sequence[tuple[str, int]], *, twice: bool
    ) -> None:
        self._wholes, self._twice = wholes, twice
        self._left = Counter(name for name, _ in trials)
        self._samples, self._deaths = len(self._left), 0
        self._done, self._all = 0.0, sum(self._effort(*one) for one in trials)
        self._began, self._is_terminal = time.monotonic(), sys.stderr.isatty()

    def add(self, name: str, at: int, deaths: int) -> None:
        self._deaths += deaths
        self._done += self._effort(name, at)
        self._left[name] -= 1
        if not self._left[name]:
            del self._left[name]
        elif not self._is_terminal:
            return
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
        yield f"{self._samples - len(self._left)} of {self._samples} samples, "
        yield f"{self._deaths:,} deaths, {time_left} left"
        if not (self._is_terminal and self._left):
            yield "\n"


def found(pool: ProcessPoolExecutor, asked: argparse.Namespace) -> Iterator[dict[str, Any]]:
    """Yield what each sample came to, as soon as all its trials are over."""
    wholes = {whole.name: whole for whole in pool.map(undisturbed, asked.names)}
    trials = {
        pool.submit(trial, whole, at, twice=asked.twice): (whole.name, at)
        for whole in wholes.values()
        for at in moments_of(whole, asked.every)
    }
    left = Counter(name for name, _ in trials.values())
    progress = Progress(wholes, [*trials.values()], twice=asked.twice)
    counts = {name: Counter(dict.fromkeys(COUNTED, 0)) for name in wholes}
    yield from (row(wholes[name], counts[name]) for name in wholes if not left[name])
    for future in as_completed(trials):
        name, at = trials[future]
        counts[name].update(future.result())
        progress.add(name, at, future.result()["deaths"])
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
    program.add_argument("--every", type=int, default=1, metavar="N", help="only each n-th moment")
    program.add_argument(
        "--jobs", type=int, default=os.cpu_count() or 1, metavar="N",
        help="trials side by side; by default as many as there are cores",
    )  # fmt: skip
    program.add_argument("--sum", action="store_true", help="print the sums alone")
    asked = program.parse_args(words)
    if min(asked.every, asked.jobs) < 1:
        program.exit(2, "--every and --jobs take a number from 1 on.\n")
    for name in asked.names:
        if name not in SAMPLES:
            near = get_close_matches(name, SAMPLES, 1)
            meant = (
                f"did you mean {near[0]!r}?" if near else f"the first is {next(iter(SAMPLES))!r}."
            )
            program.exit(2, f"There is no sample {name!r}; {meant}\n")
    asked.names = [name for name in SAMPLES if name in asked.names or not asked.names]
    return asked


def main(words: Sequence[str]) -> int:
    asked = said(words)
    memory = MEMORY if os.access(MEMORY, os.W_OK) and "TMPDIR" not in os.environ else None
    sums: Counter[str] = Counter(samples=0)
    with (
        tempfile.TemporaryDirectory(prefix="killing-", dir=memory) as place,
        ProcessPoolExecutor(
            asked.jobs, multiprocessing.get_context("fork"), begin, [Path(place)]
        ) as pool,
    ):
        for one in found(pool, asked):
            if not asked.sum:
                print(json.dumps(one), flush=True)
            sums.update({"samples": 1, **{k: v for k, v in one.items() if k != "sample"}})
    print(json.dumps(sums))
    return int(any(sums[name] for name in WRONG))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
