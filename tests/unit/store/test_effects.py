import signal
import subprocess
import sys
from contextlib import closing
from pathlib import Path

from handoff_console.runtime.redaction import Redaction
from handoff_console.store.db import open_reader, open_store
from handoff_console.store.effects import EffectState, StoreLedger, effects_of

CARD = "4111 1111 1111 1111"

DIES_BETWEEN = """
import os, signal, sys
from handoff_console.runtime.redaction import Redaction
from handoff_console.store.db import open_store
from handoff_console.store.effects import StoreLedger

ledger = StoreLedger(open_store(sys.argv[1]), Redaction())
ledger.begin("k1", "s-1")
ledger.done("k1", "sent")
ledger.begin("k2", "s-1")
print("about to act", flush=True)
os.kill(os.getpid(), signal.SIGKILL)
"""


def ledger_of(db) -> StoreLedger:
    return StoreLedger(db, Redaction())


def test_an_effect_that_nobody_tried_is_neither_done_nor_open(db):
    ledger = ledger_of(db)

    assert ledger.find("k1") is None
    assert not ledger.is_open("k1")
    assert effects_of(db, "s-1") == []


def test_an_effect_is_open_from_its_beginning_until_its_result_is_known(db):
    ledger = ledger_of(db)
    ledger.begin("k1", "s-1")
    before = ledger.is_open("k1"), ledger.find("k1")
    ledger.done("k1", {"id": 7})

    assert before == (True, None)
    assert not ledger.is_open("k1")
    assert ledger.find("k1").result == {"id": 7}


def test_a_result_of_nothing_is_a_result(db):
    ledger = ledger_of(db)
    ledger.begin("k1", "s-1")
    ledger.done("k1", None)

    assert ledger.find("k1").result is None


def test_what_did_not_happen_may_be_tried_again(db):
    ledger = ledger_of(db)
    ledger.begin("k1", "s-1")
    ledger.failed("k1")
    failed = ledger.is_open("k1"), ledger.find("k1")
    ledger.begin("k1", "s-2")

    assert failed == (False, None)
    assert ledger.is_open("k1")
    assert [effect.state for effect in effects_of(db, "s-2")] == [EffectState.BEGUN]
    assert effects_of(db, "s-1") == []


def test_the_first_result_stays(db):
    ledger = ledger_of(db)
    ledger.begin("k1", "s-1")
    ledger.done("k1", "first")
    ledger.begin("k1", "s-2")
    ledger.done("k1", "second")
    ledger.failed("k1")

    assert ledger.find("k1").result == "first"
    assert [effect.key for effect in effects_of(db, "s-1")] == ["k1"]


def test_results_are_kept_without_what_is_never_written(db, path):
    ledger = ledger_of(db)
    ledger.begin("k1", "s-1")
    ledger.done("k1", {"charged": CARD, "password": "hunter2", "tags": {"b", "a"}})

    assert ledger.find("k1").result == {
        "charged": "[redacted: card number]",
        "password": "[redacted: password]",
        "tags": ["a", "b"],
    }
    files = [file.read_bytes() for file in path.parent.iterdir()]
    assert not any(CARD.encode() in content or b"hunter2" in content for content in files)


def test_a_process_that_is_killed_between_begin_and_done_leaves_the_outcome_unknown(path):
    open_store(path, create=True).close()

    done = subprocess.run(
        [sys.executable, "-c", DIES_BETWEEN, str(path)],
        capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip

    assert (done.returncode, done.stdout) == (-signal.SIGKILL, "about to act\n")
    with closing(open_store(Path(path))) as db:
        ledger = ledger_of(db)
        assert ledger.find("k1").result == "sent"
        assert (ledger.is_open("k2"), ledger.find("k2")) == (True, None)
    with closing(open_reader(path)) as db:
        assert [(e.key, e.state.value) for e in effects_of(db, "s-1")] == [
            ("k1", "done"),
            ("k2", "begun"),
        ]
