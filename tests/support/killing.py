"""Kills the recording of sample sessions at every moment, goes on, and counts what differs.

A program of its own (`python tests/support/killing.py [--every N] [--twice] [NAME…]`), which forks
a process for each death: after each commit of the record, each note in the ledger, and each effect.
With `--twice` the process that goes on is killed too, at each of its moments in turn; with
`--reruns` handoffs of samples are killed while they are run again with a change. Prints an object a
line, one for each sample, and one of their sums; how far it is goes to standard error. Ends with
status 1 if anything was lost, done twice, or came out differently. Ctrl-C ends it with the sums of
what was tried until then.
"""

import argparse
import json
import os
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
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

NONE = dict.fromkeys(("runs", "deaths", "asked_again", *WRONG), 0)


class Progress:
    """Says on standard error how far it is: in place on a terminal, else a line now and then."""

    def __init__(
        self, asked: argparse.Namespace, trials: Sequence[tuple[Undisturbed, int]]
    ) -> None:
        self._twice, self._what = asked.twice, "re-runs" if asked.reruns else "samples"
        self._left = Counter(whole.name for whole, _ in trials)
        self._efforts = {(whole.name, at): self._effort(whole, at) for whole, at in trials}
        self._samples, self._deaths, self._done = len(self._left), 0, 0.0
        self._began = self._said = time.monotonic()
        self._is_terminal = sys.stderr.isatty()

    def add(self, name: str, at: int, deaths: int) -> bool:
        """Take what came of a trial, and say whether it was the last one of its sample."""
        self._deaths += deaths
        self._done += self._efforts[name, at]
        self._left[name] -= 1
        self._left += Counter()  # without those that are over
        is_due = time.monotonic() - self._said >= SECONDS * (1 if self._is_terminal else 60)
        if is_due or not self._left[name]:
            self._said = time.monotonic()
            print(*self._words(), end="", sep="", file=sys.stderr, flush=True)
        return not self._left[name]

    def _effort(self, whole: Undisturbed, at: int) -> float:
        """Roughly in proportion to the time a trial takes; a later death leaves less to do."""
        return (40 + whole.moments) * (whole.moments - at / 3 if self._twice else 1)

    def _words(self) -> Iterator[str]:
        whole = sum(self._efforts.values())
        seconds = (time.monotonic() - self._began) * (whole / self._done - 1)
        time_left = f"{seconds / 60:.0f} min" if seconds > 90 else f"{seconds:.0f} s"
        if self._is_terminal:
            yield "\r\x1b[K"
        yield f"{self._samples - len(self._left)} of {self._samples} {self._what}, "
        yield f"{self._deaths:,} deaths, {time_left} left"
        if not (self._is_terminal and self._left):
            yield "\n"


def found(pool: Pool, asked: argparse.Namespace, sums: Counter[str]) -> Iterator[dict[str, Any]]:
    """Yield what each sample came to, as soon as all its trials are over; the longest come last.

    Args:
        pool: Processes that try.
        asked: What was said to the program.
        sums: What each trial came to is added to it at once.
    """
    wholes = sorted(pool.map(undisturbed, asked.names, chunksize=1), key=lambda one: one.moments)
    trials = [(whole, at) for whole in wholes for at in moments_of(whole, asked.every)]
    progress = Progress(asked, trials)
    rows = {whole.name: row(whole) for whole in wholes}
    tried = {whole.name for whole, _ in trials}
    yield from (one for name, one in rows.items() if name not in tried)
    for name, at, came in pool.imap_unordered(partial(trial, twice=asked.twice), trials):
        sums.update(came)
        for what, count in came.items():
            rows[name][what] += count
        if progress.add(name, at, came["deaths"]):
            yield rows[name]


def moments_of(whole: Undisturbed, every: int) -> range:
    """The moments to die at: not the same of each, which one of every n-th depends on the name."""
    return range(1 + crc32(whole.name.encode()) % every, whole.moments + 1, every)


def row(whole: Undisturbed) -> dict[str, Any]:
    questions = whole.outcome.questions
    return {"sample": whole.name, "moments": whole.moments, "questions": questions, **NONE}


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
    sums = Counter({"samples": 0, "moments": 0, "questions": 0, **NONE})
    status = 0
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # as Ctrl-C: clean up, and say it
    with (
        tempfile.TemporaryDirectory(prefix="killing-", dir=memory) as place,
        get_context("fork").Pool(asked.jobs, begin, [Path(place), asked.reruns]) as pool,
    ):
        try:
            for one in found(pool, asked, sums):
                sums.update(samples=1, moments=one["moments"], questions=one["questions"])
                if not asked.sum:
                    print(json.dumps(one), flush=True)
        except KeyboardInterrupt:
            status = 130
    print(json.dumps(sums))
    return status or int(any(sums[name] for name in WRONG))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
