"""Consoles for tests: served on a port of their own until the test is done."""

import contextlib
import random
import re
import signal
import socket
import subprocess
import sys
import tempfile
import urllib.request
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import IO, Any, NamedTuple

from playwright.sync_api import Page, WebSocketRoute, expect

SERVE = """
import faulthandler, signal, sys
from pathlib import Path

def own(event, arguments):
    if event == "socket.connect":
        where = arguments[1]
        host = where[0] if isinstance(where, tuple) else "localhost"
    elif event == "socket.getaddrinfo":
        host = arguments[0]
    else:
        return
    if host not in ("127.0.0.1", "localhost", "::1", None):
        print("asked for", host, file=sys.stderr, flush=True)

sys.addaudithook(own)
faulthandler.register(signal.SIGUSR1)
from handoff_console.console.server import serve
serve(
    Path(sys.argv[1]),
    port=int(sys.argv[2]),
    flows=sys.argv[3:],
    open_browser=False,
    announce=lambda url: print(url, flush=True),
)
"""
# A busy machine is slow, not wrong.
expect.set_options(timeout=60_000)
ENDS_SECONDS = 60
TRACEBACK = "Traceback (most recent call last)"
IDLE = "[data-testid=stApp][data-test-script-state=notRunning]"
MOUNTED = """() => !document.querySelector('[data-testid=stSkeletonElement]')
    && [...document.querySelectorAll('[data-testid^=stBidiComponent]')].every((host) =>
        [...(host.shadowRoot ?? host).querySelectorAll('*')].some((part) => part.__memory))"""
OWN = re.compile(r"^(https?|wss?)://(127\.0\.0\.1|localhost)(:\d+)?/|^(blob|data):")


class Console(NamedTuple):
    """A running console."""

    url: str
    store: Path

    def session(self, session_id: str, **query: str) -> str:
        """Return the address of a session's page."""
        more = "".join(f"&{name}={value}" for name, value in query.items())
        return f"{self.url}session?session={session_id}{more}"


@contextlib.contextmanager
def served(store: Path, flows: Sequence[str] = ()) -> Iterator[Console]:
    """Serve a store until the block ends.

    Args:
        store: The store.
        flows: Of the user's own, named from the store's folder.

    Raises:
        AssertionError: The server asked for another machine, had an error, or did not end.
    """
    with tempfile.TemporaryFile("w+") as said, serving(store, flows=flows, stderr=said) as process:
        assert process.stdout is not None
        url = process.stdout.readline().strip()
        assert url.startswith("http://127.0.0.1:"), url + _all(said)
        assert urllib.request.urlopen(f"{url}health", timeout=10).read() == b'{"status":"ok"}'
        yield Console(url, store)
        process.terminate()
        try:
            process.wait(ENDS_SECONDS)
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGUSR1)  # says what each thread waits for
            process.kill()
        printed = _all(said)  # Streamlit may note there that a page went away
        if process.returncode == -signal.SIGKILL or "asked for" in printed or TRACEBACK in printed:
            raise AssertionError(f"The server printed: {printed}")


@contextlib.contextmanager
def serving(
    store: Path, before: str = "", flows: Sequence[str] = (), **streams: Any
) -> Iterator["subprocess.Popen[str]"]:
    """Start a server, which prints its address first, and end it for good when the block ends.

    Args:
        store: The store that it shows.
        before: Code that it runs first.
        flows: Of the user's own, named from the store's folder.
        streams: Where its errors go, as `subprocess.Popen` takes it.
    """
    with subprocess.Popen(
        [sys.executable, "-c", before + SERVE, str(store), str(own_port()), *flows],
        stdout=subprocess.PIPE,
        text=True,
        cwd=store.parent,
        **streams,
    ) as process:
        try:
            yield process
        finally:
            process.kill()


def _all(said: IO[str]) -> str:
    said.seek(0)
    return said.read()


def own_port() -> int:
    """Return a port that nothing listens on.

    Not the console's own first free one: two test runs on one machine would take the same. Nor one
    that the system gives to whoever asks for any: a browser's next connection would take it.
    """
    while True:
        port = random.SystemRandom().randrange(10_000, 32_000)
        with contextlib.suppress(OSError), socket.socket() as probe:
            probe.bind(("127.0.0.1", port))
            return port


def losing(page: Page, what: bytes) -> list[object]:
    """Lose the first message to the server that holds `what`; return what was lost."""
    lost: list[object] = []

    def between(socket: WebSocketRoute) -> None:
        server = socket.connect_to_server()

        def pass_on(message: str | bytes) -> None:
            if not lost and isinstance(message, bytes) and what in message:
                lost.append(message)
            else:
                server.send(message)

        socket.on_message(pass_on)

    page.route_web_socket(re.compile("_stcore/stream"), between)
    return lost


def naming(**query: str) -> re.Pattern[str]:
    """Return what an address looks like that names these, in whatever order."""
    return re.compile(
        "".join(f"(?=.*[?&]{name}={re.escape(value)}(&|$))" for name, value in query.items())
    )


def idle(page: Page) -> None:
    """Wait until the script behind the page has run, and those of its components have once.

    What a component draws can be there before what listens to keys and clicks on it.
    """
    expect(page.locator(IDLE)).to_be_attached()
    page.wait_for_function(MOUNTED)
