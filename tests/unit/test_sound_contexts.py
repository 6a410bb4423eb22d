"""The check of what models are sent sees every session of the suite, whatever scope runs it."""

import os
import subprocess
import sys
from pathlib import Path

TESTS = Path(__file__).parents[1]
WRONG = '''
"""A session of a fixture's whose model does not read its agent's own prompt."""

import asyncio

import pytest

from handoff_console.runtime import Agent, Flow, Scripted, openings, run, say


@pytest.fixture(scope="module")
def answered():
    with pytest.MonkeyPatch.context() as patch:
        foreign = {"role": "system", "content": "You are somebody else."}
        patch.setattr(openings, "system_message", lambda agent: foreign)
        flow = Flow("desk", [Agent("triage", "You sort.")])
        asyncio.run(run(flow, "Go on.", model=Scripted({"triage": [say("Done.")]})))


def test_before():
    pass


def test_the_first_that_asks_for_it(answered):
    pass


def test_after(answered):
    pass
'''


def test_a_wrong_message_in_a_module_s_fixture_fails_the_test_that_ran_it(tmp_path):
    """R67."""
    (tmp_path / "test_wrong.py").write_text(WRONG, "utf-8")
    settings = ["-c", os.devnull, "--rootdir", str(tmp_path), "-p", "conftest"]

    done = subprocess.run(
        [sys.executable, "-P", "-m", "pytest", "-p", "no:cacheprovider", *settings, str(tmp_path)],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(TESTS), "PYTEST_ADDOPTS": ""},
        capture_output=True,
        text=True,
        check=False,
    )

    assert "ERROR at teardown of test_the_first_that_asks_for_it" in done.stdout, done.stdout
    assert "triage in t1: it does not begin with the agent's own prompt" in done.stdout
    assert "3 passed, 1 error in" in done.stdout
