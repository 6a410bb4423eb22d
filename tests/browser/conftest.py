"""A console on a port of its own, and a page that fails on errors and on foreign requests."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import (
    BrowserContext,
    Page,
    Request,
    ViewportSize,
    WebSocket,
    sync_playwright,
)
from support import recorded
from support.consoles import OWN, Console, served

SIZE: ViewportSize = {"width": 1440, "height": 900}
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
def browser(chromium: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[BrowserContext]:
    """One Chromium for a file: while it is open its event loop runs, and no other one can.

    It has a profile of its own, and not one for each test: what Chromium keeps of compiled scripts
    saves each page after the first half of its time.
    """
    with sync_playwright() as playwright:
        context = playwright.chromium.launch_persistent_context(
            tmp_path_factory.mktemp("profile"),
            executable_path=chromium,
            args=["--no-sandbox", "--disable-dev-shm-usage"],
            reduced_motion="reduce",
            viewport=SIZE,
        )
        context.set_default_timeout(60_000)
        yield context
        context.close()


@pytest.fixture(params=["light"])
def page(browser: BrowserContext, request: pytest.FixtureRequest) -> Iterator[Page]:
    """A page of 1440 × 900 that remembers nothing of an earlier test.

    The test fails on a script error and on any request that leaves the machine, in this window and
    in each one that the test opens beside it.
    """
    windows: list[Page] = []
    errors: list[str] = []
    foreign: list[str] = []

    def watch(asked: Request | WebSocket) -> None:
        if not OWN.match(asked.url):
            foreign.append(asked.url)

    def watch_window(window: Page) -> None:
        windows.append(window)
        window.on("pageerror", lambda error: errors.append(str(error)))
        window.on("request", watch)
        window.on("websocket", watch)

    browser.on("page", watch_window)
    opened = browser.new_page()
    opened.emulate_media(color_scheme=request.param)
    yield opened
    if SHOTS:
        Path(SHOTS).mkdir(parents=True, exist_ok=True)
        opened.screenshot(path=f"{SHOTS}/{request.node.name}.png")
    browser.remove_listener("page", watch_window)
    for window in windows:
        if OWN.match(window.url):
            window.evaluate("localStorage.clear()")
        window.close()
    browser.clear_cookies()
    assert not errors, errors
    assert not foreign, foreign
