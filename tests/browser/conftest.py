"""A console on a port of its own, and a page that fails on errors and on foreign requests."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, Request, sync_playwright
from support import recorded
from support.consoles import OWN, Console, served

SHOTS = os.environ.get("HANDOFF_SHOTS")


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


@pytest.fixture(scope="module")
def browser(chromium: str) -> Iterator[Browser]:
    """One Chromium for a file: while it is open its event loop runs, and no other one can."""
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
    context.set_default_timeout(60_000)
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
