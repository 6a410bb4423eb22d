"""What a page is made of costs no more than its size asks for: ratios, in one run.

Marked `benchmark` and left out of the normal run (`make bench`).
"""

import time
from collections.abc import Callable

import pytest
from support.logs import Log

from handoff_console.console.viewmodels.stepper import StepGuide, step_window
from handoff_console.console.viewmodels.text import one_line
from handoff_console.console.viewmodels.tree import tree_rows
from handoff_console.store.analysis.budget import ledgers
from handoff_console.store.analysis.tree import handoff_tree

pytestmark = pytest.mark.benchmark


def cpu_seconds(act: Callable[[], object]) -> float:
    """Return the least CPU time of seven tries."""
    spent = []
    for _ in range(7):
        before = time.process_time()
        act()
        spent.append(time.process_time() - before)
    return min(spent)


def fan(workers: int) -> Log:
    log = Log(pool_tokens=10**9).user("Go")
    supervisor = log.root("supervisor")
    for _ in range(workers):
        log.call(supervisor, "worker")
    return log


def test_the_rows_of_ten_times_as_many_handoffs_take_about_ten_times_as_long():
    def spent(workers: int) -> float:
        log = fan(workers)
        tree, books = handoff_tree(log.events), ledgers(log.events)
        return cpu_seconds(lambda: tree_rows(tree, ledgers=books))

    ratio = spent(10_000) / spent(1_000)
    print(f"rows of 10,000 handoffs beside 1,000: {ratio:.1f} times")

    assert ratio < 20


def test_a_window_of_a_hundred_thousand_events_costs_what_one_of_a_thousand_does():
    def spent(steps: int) -> float:
        log = Log(pool_tokens=10**9).user("Go")
        root = log.root("supervisor")
        for _ in range(steps):
            log.step(root)
        guide = StepGuide(handoff_tree(log.events), ledgers(log.events), ())
        events, middle = log.events, len(log.events) // 2
        return cpu_seconds(
            lambda: step_window(lambda first, last: events[first - 1 : last], guide, around=middle)
        )

    ratio = spent(35_000) / spent(350)
    print(f"a window of 100,000 events beside 1,000: {ratio:.1f} times")

    assert ratio < 3


def test_a_line_of_a_megabyte_costs_about_what_one_of_a_kilobyte_does():
    hostile = "\u202e\x1b[31m"

    ratio = cpu_seconds(lambda: [one_line(hostile * 200_000, 80) for _ in range(100)])
    ratio /= cpu_seconds(lambda: [one_line(hostile * 200, 80) for _ in range(100)])
    print(f"one line of 1.2 MB beside 1.2 KB: {ratio:.1f} times")

    assert ratio < 20
