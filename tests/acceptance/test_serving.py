"""`handoff demo` and `handoff open`: the console, for this machine alone, until Ctrl-C."""

import signal
import socket
import subprocess
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple
from urllib.request import ProxyHandler, build_opener

import pytest
from support.command import started
from support.consoles import serving

from handoff_console.store.db import open_store

pytestmark = pytest.mark.acceptance

DIRECT = build_opener(ProxyHandler({}))


class Served(NamedTuple):
    """A console that is up."""

    process: "subprocess.Popen[str]"
    page: str

    def answers(self, path: str) -> str:
        """Return what it says under a path."""
        with DIRECT.open(self.page.partition("/session")[0].rstrip("/") + path, timeout=30) as said:
            return str(said.read().decode())


@pytest.fixture
def served(folder: Path, tmp_path: Path) -> Iterator[Callable[..., Served]]:
    """Return a function that starts a console and waits until it says where it is."""
    processes = []

    def start(*words: str, **variables: str) -> Served:
        # A demo that is killed leaves its store, which goes with the test's folder.
        place = {"TMPDIR": str(tmp_path), **variables}
        process = started(folder, *words, "--no-browser", **place)
        processes.append(process)
        assert process.stdout is not None
        line = process.stdout.readline()
        assert line.startswith("The console is at http://127.0.0.1:"), process.communicate()
        return Served(process, line.removeprefix("The console is at ").strip())

    yield start
    for process in processes:
        process.kill()
        process.communicate()


@pytest.fixture
def taken_port() -> Iterator[int]:
    """Return a port on which something else listens."""
    with socket.create_server(("127.0.0.1", 0)) as other:
        yield other.getsockname()[1]


@pytest.mark.parametrize("end", [signal.SIGINT, signal.SIGTERM], ids=["ctrl-c", "terminated"])
def test_the_demo_serves_samples_from_a_fresh_store_and_removes_it_at_the_end(
    served, folder, tmp_path, end
):
    place = tmp_path / "temporary"
    place.mkdir()

    demo = served("demo", TMPDIR=str(place))

    assert '"ok"' in demo.answers("/health")
    assert [path.name for path in place.glob("handoff-demo-*/*.db")] == ["samples.db"]
    demo.process.send_signal(end)
    _, err = demo.process.communicate(timeout=30)
    assert demo.process.returncode in {0, -signal.SIGTERM}
    assert "Traceback" not in err
    assert "The one on top of the list failed: find out why." in err
    assert list(place.glob("handoff-demo-*")) == []
    assert not (folder / "handoff.db").exists()


def test_ctrl_c_pressed_again_and_again_prints_no_traceback(served):
    demo = served("demo")
    assert '"ok"' in demo.answers("/health")

    while demo.process.poll() is None:
        demo.process.send_signal(signal.SIGINT)
        with suppress(subprocess.TimeoutExpired):
            demo.process.wait(timeout=0.2)

    _, err = demo.process.communicate()
    assert "Traceback" not in err


LATE = """
import asyncio, uvicorn

class Late:
    def shutdown(self):
        pass

close = uvicorn.Server.shutdown

async def closing(server, sockets=None):
    asyncio.get_running_loop().call_soon(server.server_state.connections.add, Late())
    await close(server, sockets)

uvicorn.Server.shutdown = closing
"""


def test_a_browser_that_connects_at_the_last_moment_does_not_keep_the_console_open(folder):
    store = folder / "empty.db"
    open_store(store, create=True).close()
    with serving(store, LATE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        url = process.stdout.readline().strip()
        assert '"ok"' in Served(process, url).answers("/health")

        process.terminate()

        _, err = process.communicate(timeout=30)
    assert "Traceback" not in err


@pytest.mark.parametrize("end", [signal.SIGINT, signal.SIGTERM], ids=["ctrl-c", "terminated"])
def test_a_console_that_ends_leaves_nothing_in_the_log_beside_the_store(
    served, handoff, folder, end
):
    log = folder / "handoff.db-wal"
    handoff("run", "support", "--message", "Why was I charged twice?")
    console = served("open")
    handoff("run", "support", "--message", "I want a refund")
    before = log.stat().st_size

    console.process.send_signal(end)
    console.process.communicate(timeout=60)

    assert before > 0
    assert not log.exists() or log.stat().st_size == 0
    assert "I want a refund" in handoff("list").out


def test_two_demos_run_side_by_side(served):
    one, two = served("demo"), served("demo")

    assert one.page != two.page
    assert '"ok"' in one.answers("/health")
    assert '"ok"' in two.answers("/health")


def test_the_console_opens_on_the_session_that_was_named(served, handoff):
    handoff("run", "frontdesk")
    session = handoff("list", "--json").out.split('"session_id": "')[1].split('"')[0]

    console = served("open", "--session", session[-6:])

    assert console.page.endswith(f"/session?session={session}")
    assert '"ok"' in console.answers("/health")


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["open"], "handoff.db; check the path, or make one with `handoff run` or"),
        (["open", "missing.db"], "missing.db; check the path"),
        (["open", "missing.db", "--db", "other.db"], "The store is named twice"),
        (["open", "text.db"], "text.db is not a store"),
        (["open", "."], "is a folder; name the store's file inside it."),
        (["demo", "--db", "mine.db"], "use `handoff open mine.db`."),
        (["demo", "--port", "0"], "'0' is no whole number from 1 on"),
        (["demo", "--port", "70000"], "'70000' is no port; ports go from 1 to 65535"),
    ],
)
def test_what_cannot_be_opened_is_one_sentence(handoff, folder, words, sentence):
    (folder / "text.db").write_text("hello")

    done = handoff(*words, "--no-browser")

    assert (done.status, done.out) == (2, "")
    assert sentence in done.err
    assert done.err.count("\n") == 1


def test_a_taken_port_is_refused_and_an_unknown_session_too(handoff, taken_port):
    handoff("run", "frontdesk")

    port = handoff("open", "--no-browser", "--port", str(taken_port))
    demo = handoff("demo", "--no-browser", "--port", str(taken_port))
    session = handoff("open", "--no-browser", "--session", "nobody")

    assert port.status == demo.status == session.status == 2
    assert port.err.startswith(f"handoff: Port {taken_port} is taken by another program")
    assert demo.err == port.err
    assert "There is no session 'nobody' in this store; `handoff list` shows" in session.err


def test_a_flow_that_cannot_be_loaded_is_said_before_the_console_opens(handoff, folder):
    handoff("run", "frontdesk")
    (folder / "mine.py").write_text("x = 1\n")

    done = handoff("open", "--no-browser", "--flow", "mine.py:flow")

    assert (done.status, done.out) == (2, "")
    assert "has no 'flow'; it defines no flow" in done.err
