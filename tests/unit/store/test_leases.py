import subprocess
import sys
from contextlib import closing

import pytest

from handoff_console.runtime.process import this_process
from handoff_console.store.db import open_store
from handoff_console.store.errors import SessionHeld
from handoff_console.store.leases import holder, leased

TAKES = """
import sys, time
from handoff_console.store.db import open_store
from handoff_console.store.errors import SessionHeld
from handoff_console.store.leases import leased

db = open_store(sys.argv[1])
print("ready", flush=True)
sys.stdin.readline()
try:
    with leased(db, "s-1"):
        print("mine", flush=True)
        sys.stdin.readline()
except SessionHeld as error:
    print(error.pid, flush=True)
"""


def start(path) -> subprocess.Popen:
    return subprocess.Popen(
        [sys.executable, "-c", TAKES, str(path)],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip


def say(process: subprocess.Popen) -> None:
    process.stdin.write("\n")
    process.stdin.flush()


def ended(processes: list[subprocess.Popen]) -> None:
    for process in processes:
        process.kill()
        process.communicate(timeout=60)


def test_a_lease_is_held_by_this_process_and_given_back(db):
    with leased(db, "s-1"):
        held = holder(db, "s-1")

    assert held is not None
    assert (held.host, held.pid) == (this_process().host, this_process().pid)
    assert holder(db, "s-1") is None


def test_a_second_thread_of_the_same_process_has_to_wait_as_well(db):
    with leased(db, "s-1"), pytest.raises(SessionHeld) as raised, leased(db, "s-1"):
        pytest.fail("it was given out twice")

    assert str(raised.value) == (
        f"Process {this_process().pid} goes on with session 's-1' now; wait for it, or end the "
        "process."
    )


def test_a_lease_is_of_one_session(db):
    with leased(db, "s-1"), leased(db, "s-2"):
        assert holder(db, "s-2") is not None


def test_it_is_given_back_after_a_mistake(db):
    with pytest.raises(ValueError, match=r"^mine$"), leased(db, "s-1"):
        raise ValueError("mine")

    assert holder(db, "s-1") is None


def test_two_processes_race_and_one_of_them_goes_on(path):
    open_store(path, create=True).close()
    racers = [start(path) for _ in range(2)]
    try:
        for racer in racers:
            assert racer.stdout.readline() == "ready\n"
        for racer in racers:
            say(racer)
        said = [racer.stdout.readline().strip() for racer in racers]
        winner = racers[said.index("mine")]

        assert sorted(said) == sorted(["mine", str(winner.pid)])
    finally:
        ended(racers)


def test_the_lease_of_a_killed_process_holds_nobody_up(path):
    open_store(path, create=True).close()
    racer = start(path)
    racer.stdout.readline()
    say(racer)
    assert racer.stdout.readline() == "mine\n"
    with closing(open_store(path)) as db:
        before = holder(db, "s-1")
        ended([racer])

        assert before is not None
        assert before.pid == racer.pid
        assert holder(db, "s-1") is None
        with leased(db, "s-1"):
            assert holder(db, "s-1").pid == this_process().pid


def test_of_another_machine_only_the_user_knows_that_it_is_gone(db):
    db.execute("insert into leases values ('s-1', 't', 'elsewhere', 'b', 7, 0, 0)")

    with pytest.raises(SessionHeld) as raised, leased(db, "s-1"):
        pytest.fail("it was taken")
    with leased(db, "s-1", take_over=True):
        taken = holder(db, "s-1")

    assert "on 'elsewhere' (another machine)" in str(raised.value)
    assert "--take-over" in str(raised.value)
    assert taken.host == this_process().host


def test_a_live_process_of_this_machine_is_not_taken_over(db):
    with (
        leased(db, "s-1"),
        pytest.raises(SessionHeld),
        leased(db, "s-1", take_over=True),
    ):
        pytest.fail("it was taken")
