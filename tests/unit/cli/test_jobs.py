"""Work in threads of the console: what is kept of it, and what its beginning says."""

from concurrent.futures import Future

import pytest

from handoff_console.console.commands.errors import CommandError
from handoff_console.console.commands.jobs import Job, Kept, begun_within


def job(*, is_over):
    made = Job(1)
    made.is_over = is_over
    return made


def test_the_oldest_work_that_is_over_makes_room_and_what_runs_stays():
    kept = Kept(2)
    for name, is_over in (("runs", False), ("old", True), ("newer", True), ("newest", True)):
        kept.put(name, job(is_over=is_over))

    found = [name for name in ("runs", "old", "newer", "newest") if kept.find(name)]

    assert found == ["runs", "newest"]


def test_work_that_does_not_begin_in_time_is_a_sentence_and_goes_on():
    with pytest.raises(CommandError, match=r"not begun within 0\.01 seconds. It goes on"):
        begun_within(Future(), 0.01)


def test_what_hindered_the_beginning_is_told_as_it_is():
    failed = Future()
    failed.set_exception(TimeoutError("the server is slow"))

    with pytest.raises(TimeoutError, match="the server is slow"):
        begun_within(failed, 1.0)
