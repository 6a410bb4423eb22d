"""Telling a process from one that is gone."""

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from handoff_console.runtime import process
from handoff_console.runtime.process import boot_id, process_started, this_process


def test_this_process_is_named_by_host_boot_number_and_start():
    identity = this_process()

    assert identity.pid == os.getpid()
    assert identity.host
    assert identity.boot == boot_id()
    assert identity.started == process_started(os.getpid())


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")
def test_a_process_began_before_now_and_after_the_machine():
    began = process_started(os.getpid())

    assert began is not None
    assert 0 < began <= time.time() + 1


def test_a_process_that_has_ended_has_no_start():
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()

    assert process_started(ended.pid) is None


def test_a_system_that_names_no_boot_gives_an_empty_one(monkeypatch):
    monkeypatch.setattr(Path, "read_text", _refuse)

    assert boot_id() == ""


def test_what_cannot_be_read_counts_as_gone(monkeypatch):
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setattr(Path, "read_text", _refuse)

    assert process_started(os.getpid()) is None


def test_elsewhere_a_process_that_takes_a_signal_is_there(monkeypatch):
    monkeypatch.setattr(sys, "platform", "darwin")

    assert process_started(os.getpid()) == 0.0


@pytest.mark.parametrize(
    ("answer", "found"), [(ProcessLookupError(), None), (PermissionError(), 0.0)]
)
def test_elsewhere_a_signal_tells_who_is_gone(monkeypatch, answer, found):
    def kill(pid: int, number: int) -> None:
        raise answer

    monkeypatch.setattr(sys, "platform", "darwin")
    monkeypatch.setattr(process.os, "kill", kill)

    assert process_started(4812) == found


def _refuse(*_: object, **__: object) -> str:
    raise OSError("no")
