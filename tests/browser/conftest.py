"""A console served on a port of its own, and a page that fails on errors and on foreign requests."""

import contextlib
import os
import re
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest
from playwright.sync_api import Browser, Page, Request, expect, sync_playwright
from support import recorded

SHOTS = os.environ.get("HANDOFF_SHOTS")
SERVE = """
import sys
from pathlib import Path
from handoff_console.console.server import serve
serve(Path(sys.argv[1]), open_browser=False, announce=lambda url: print(url, flush=True))
"""
IDLE = "[data-testid=stApp][data-test-script-state=notRunning]"
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
def served(store: Path) -> Iterator[Console]:
    """Serve a store until the block ends."""
    process = subprocess.Popen(
        [sys.executable, "-c", SERVE, str(store)],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        cwd=store.parent,
    )
    try:
        assert process.stdout is not None
        url = process.stdout.readline().strip()
        assert url.startswith("http://127.0.0.1:"), url + process.stdout.read()
        assert urllib.request.urlopen(f"{url}health", timeout=10).read() == b'{"status":"ok"}'
        yield Console(url, store)
    finally:
        process.terminate()
        process.wait(10)
        process.stdout.close()


@pytest.fixture(scope="session")
def console(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Console]:
    """A console with a failed, a healthy, a hostile and a running session."""
    store = recorded.record(
        tmp_path_factory.mktemp("console") / "sessions.db",
        [
            (recorded.FAILED, recorded.double_charge()),
            (recorded.HEALTHY, recorded.refund_policy()),
            (recorded.HOSTILE, recorded.hostile()),
        ],
    )
    with served(store) as running:
        yield running


@pytest.fixture(scope="session")
def browser(chromium: str) -> Iterator[Browser]:
    """One Chromium for all tests."""
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(
            executable_path=chromium, args=["--no-sandbox", "--disable-dev-shm-usage"]
        )
        yield started
        started.close()


@pytest.fixture(params=["light"])
def page(browser: Browser, request: pytest.FixtureRequest) -> Iterator[Page]:
    """A page of 1440 × 900; the test fails on a script error and on any request that leaves."""
    context = browser.new_context(
        viewport={"width": 1440, "height": 900}, color_scheme=request.param, reduced_motion="reduce"
    )
    opened, errors, foreign = context.new_page(), [], []

    def watch(asked: Request) -> None:
        if not OWN.match(asked.url):
            foreign.append(asked.url)

    opened.on("pageerror", lambda error: errors.append(str(error)))
    opened.on("request", watch)
    opened.on("websocket", lambda socket: OWN.match(socket.url) or foreign.append(socket.url))
    yield opened
    if SHOTS:
        Path(SHOTS).mkdir(parents=True, exist_ok=True)
        opened.screenshot(path=f"{SHOTS}/{request.node.name}.png")
    context.close()
    assert not errors, errors
    assert not foreign, foreign


def idle(page: Page) -> None:
    """Wait until the script behind the page has run."""
    expect(page.locator(IDLE)).to_be_attached(timeout=20_000)


def painted_ms(page: Page, act: str) -> float:
    """Return the milliseconds from an act (JavaScript) to the frame after it."""
    return float(
        page.evaluate(
            f"""async () => {{
                const start = performance.now();
                {act}
                await new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
                return performance.now() - start;
            }}"""
        )
    )
