"""The runtime inside somebody else's program: beside their own packages, with pydantic alone."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.acceptance

AGENT = '''
import sys

before = set(sys.modules)

import asyncio
import json

import runtime
import store

from handoff_console.runtime import Agent, Edge, Flow, hand_over, run, say


def triage(call):
    return hand_over("billing", "billing question") if "refund" in call.text else None


def billing(call):
    return say("Billing here: I can help with your refund.")


HEAVY = {"pandas", "sqlite3", "sqlite_utils", "streamlit"}
flow = Flow("theirs", [
    Agent("triage", model=triage, edges=[Edge.transfer("billing", "Refunds.")]),
    Agent("billing", model=billing),
])


async def main():
    """Run a session into their own store."""
    sink = store.Store()
    result = await run(flow, "I need a refund", sink=sink)
    print(json.dumps({
        "answer": result.answer,
        "status": result.status,
        "owner": runtime.OWNER,
        "kinds": [event.kind for event in sink.events],
        "commits": sink.commits,
        "bodies": len(sink.bodies),
        "loaded": sorted(HEAVY & (set(sys.modules) - before)),
    }))


asyncio.run(main())
'''

THEIR_STORE = """
class Store:
    digest_key = b"theirs"

    def __init__(self):
        self.events, self.bodies, self.commits = [], {}, 0

    def append(self, event):
        self.events.append(event)

    def keep(self, digest, body, session_id):
        self.bodies[digest] = body

    def commit(self, *, synced=False):
        self.commits += 1
"""

ONLY_PYDANTIC = """
import sys
from importlib.abc import MetaPathFinder

class NothingElse(MetaPathFinder):
    # What `pip install --no-deps` leaves out is not there.
    MISSING = {"pandas", "numpy", "streamlit", "plotly", "graphviz", "sqlite_utils", "starlette"}

    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in self.MISSING:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
        return None

sys.meta_path.insert(0, NothingElse())
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """Make a project with packages called `store`, `runtime` and `console` of its own."""
    for name, content in (
        ("runtime", "OWNER = 'theirs'\n"),
        ("store", THEIR_STORE),
        ("console", ""),
        ("sample_runs", ""),
    ):
        (tmp_path / name).mkdir()
        (tmp_path / name / "__init__.py").write_text(content)
    return tmp_path


def said(project: Path, program: str) -> dict[str, object]:
    """Run a program in the project and return the JSON that it prints last."""
    (project / "agent.py").write_text(program)
    done = subprocess.run(
        [sys.executable, "agent.py"], cwd=project, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    value: dict[str, object] = json.loads(done.stdout.splitlines()[-1])
    return value


@pytest.mark.parametrize("before", ["", ONLY_PYDANTIC], ids=["all installed", "pydantic alone"])
def test_a_session_runs_into_their_own_store_beside_their_own_runtime(project, before):
    found = said(project, before + AGENT)

    assert found["answer"] == "Billing here: I can help with your refund."
    assert (found["status"], found["owner"]) == ("ok", "theirs")
    assert found["kinds"][0] == "session_started"
    assert found["kinds"][-1] == "session_closed"
    assert found["kinds"].count("handoff_opened") == found["kinds"].count("handoff_closed") == 2
    assert found["commits"] >= 3
    assert found["bodies"] > 0
    assert found["loaded"] == []


def test_without_the_console_sessions_are_run_and_listed_and_the_rest_says_what_to_install(project):
    found = said(
        project,
        ONLY_PYDANTIC
        + """
import contextlib, io, json
from handoff_console.console.cli import main

said = {}
for words in (["--version"], ["run", "frontdesk"], ["list"], ["open"]):
    err = io.StringIO()
    with contextlib.redirect_stderr(err), contextlib.redirect_stdout(io.StringIO()):
        said[words[0]] = [main(words), err.getvalue()]
print(json.dumps(said))
""",
    )

    assert found["--version"] == [0, ""]
    assert found["run"] == [0, ""]
    assert found["list"] == [0, ""]
    assert found["open"][0] == 2
    assert found["open"][1] == (
        "handoff: This command needs 'streamlit', which is not installed; run `pip install "
        "handoff-console` without --no-deps.\n"
    )
