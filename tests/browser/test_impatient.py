"""Whoever clicks faster than the console answers: nothing breaks, and the address stays true.

What was found by walking at random stands here as a test of its own. `HANDOFF_IMPATIENT=100-150`
walks again, with these seeds; `HANDOFF_IMPATIENT_SLOWER=8` makes the browser so much slower.
"""

import os
import re
import time
from collections.abc import Iterator, Sequence

import pytest
from playwright.sync_api import Page, WebSocketRoute, expect
from support import recorded
from support.consoles import Console, idle, naming, served
from support.impatient import ImpatientUser, recorded_events, throttle

from handoff_console.sample_runs.shipped import unpack

pytestmark = pytest.mark.browser

FIRST, _, LAST = os.environ.get("HANDOFF_IMPATIENT", "").partition("-")
SEEDS: Sequence[int] = range(int(FIRST or 0), int(LAST or FIRST or 0) + 1)
SLOWER = float(os.environ.get("HANDOFF_IMPATIENT_SLOWER", "1"))
FAILED_END = "The end · 69 events"
# Of the same moment, as a slow browser hears clicks that followed each other.
LINK_AND_ROW = """() => {
    const hosts = [...document.querySelectorAll('[data-testid^=stBidiComponent]')];
    const rows = hosts.flatMap((host) => [...(host.shadowRoot ?? host)
        .querySelectorAll('[role=treeitem]')]);
    [...document.querySelectorAll('a')].find((link) => link.textContent.trim() === 'Flows').click();
    rows.at(-1).click();
}"""
# Whether the page lets a key be, right after a link was taken.
LINK_AND_KEYS = """() => {
    [...document.querySelectorAll('a')].find((link) => link.textContent.trim() === 'Flows').click();
    const press = (key, more) => document.body.dispatchEvent(
        new KeyboardEvent('keydown', { key, bubbles: true, cancelable: true, ...more }));
    return [press('F5'), press('r', { ctrlKey: true }), press('ArrowRight')];
}"""
BURSTS = 14
WAITS_SECONDS = 60


@pytest.fixture(scope="module")
def day(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Console]:
    """A console with the recorded samples, a failed session, and one that tries to be more."""
    store = tmp_path_factory.mktemp("impatient") / "sessions.db"
    unpack(store)
    ours = [(recorded.FAILED, recorded.double_charge()), (recorded.HOSTILE, recorded.hostile())]
    with served(recorded.record(store, ours)) as running:
        yield running


# Chance and the machine's pace decide how far a walk comes: no test for every change.
@pytest.mark.skipif(not FIRST, reason="HANDOFF_IMPATIENT names no seeds to walk with")
@pytest.mark.parametrize("seed", SEEDS)
def test_nothing_breaks_however_quickly_one_clicks(page: Page, day: Console, seed: int):
    before = recorded_events(day.store)
    user = ImpatientUser(page, day, seed)
    throttle(page, SLOWER)

    for _ in range(BURSTS):
        user.does_several_things()
        wrong = user.breaches()
        assert not wrong, "\n".join([*wrong, "after:", *user.done])

    after = recorded_events(day.store)
    assert {session: after[session][: len(events)] for session, events in before.items()} == before


def holding(page: Page, what: bytes) -> list[str | bytes]:
    """Hold what the server says from the message with `what` on, until the page says something."""
    held: list[str | bytes] = []
    was_held: list[bool] = []

    def between(socket: WebSocketRoute) -> None:
        server = socket.connect_to_server()

        def to_page(message: str | bytes) -> None:
            if held or (not was_held and isinstance(message, bytes) and what in message):
                held.append(message)
                was_held.append(True)
            else:
                socket.send(message)

        def to_server(message: str | bytes) -> None:
            server.send(message)
            for one in held:
                socket.send(one)
            held.clear()

        server.on_message(to_page)
        socket.on_message(to_server)

    page.route_web_socket(re.compile("_stcore/stream"), between)
    return held


def open_failed(page: Page, day: Console) -> None:
    page.goto(day.session(recorded.FAILED))
    expect(page.get_by_text(FAILED_END)).to_be_visible()
    idle(page)


def wait_for(page: Page, held: list[str | bytes]) -> None:
    until = time.monotonic() + WAITS_SECONDS
    while not held and time.monotonic() < until:
        page.evaluate("() => new Promise(requestAnimationFrame)")
    assert held, "the server never said it"


def test_back_at_once_leads_to_an_address_that_is_not_that_of_the_page_left(page, day):
    held = holding(page, b"view=drafts")
    open_failed(page, day)
    page.get_by_role("link", name="Routing").click()
    page.get_by_role("radio", name="Edit descriptions").click()
    wait_for(page, held)

    page.evaluate("history.back()")

    expect(page.get_by_text(FAILED_END)).to_be_visible()
    idle(page)
    expect(page).to_have_url(day.session(recorded.FAILED))


def test_a_link_at_once_leads_to_an_address_that_is_not_that_of_the_page_left(page, day):
    held = holding(page, b"tab=Result")
    open_failed(page, day)
    page.get_by_role("radio", name="Result").click()
    wait_for(page, held)

    page.get_by_role("link", name="Routing").click()

    expect(page.get_by_text("What happened")).to_be_visible()
    idle(page)
    expect(page).to_have_url(f"{day.url}routing")
    page.evaluate("history.back()")
    expect(page.get_by_text(FAILED_END)).to_be_visible()


def test_what_is_clicked_after_a_link_does_not_bring_the_page_back(page, day):
    open_failed(page, day)

    page.evaluate(LINK_AND_ROW)

    expect(page).to_have_url(f"{day.url}flows")
    expect(page.get_by_role("button", name="Put through to the mortgage advisor")).to_be_visible()
    idle(page)
    expect(page).to_have_url(f"{day.url}flows")


def test_a_page_that_is_left_takes_no_keys_but_those_of_the_browser(page, day):
    open_failed(page, day)

    assert page.evaluate(LINK_AND_KEYS) == [True, True, False]


def test_one_step_back_from_a_page_leads_to_the_page_before(page, day):
    page.goto(day.session(recorded.FAILED))
    expect(page.get_by_text(FAILED_END)).to_be_visible()
    for name, there in (("Live", "Nothing runs yet"), ("Routing", "What happened")):
        idle(page)
        page.get_by_role("link", name=name).click()
        expect(page.get_by_text(there).first).to_be_visible()
        idle(page)
        page.evaluate("history.back()")
        expect(page.get_by_text(FAILED_END)).to_be_visible()


def test_a_session_that_is_opened_again_does_not_name_the_event_of_the_time_before(page, console):
    page.goto(console.url)
    failed = page.get_by_role("link", name=re.compile("billing hit its step limit"))
    failed.click()
    expect(page.get_by_text("The end · 69 events")).to_be_visible()
    idle(page)
    for _ in range(4):
        page.keyboard.press("ArrowRight")
    expect(page).to_have_url(naming(seq="4", handoff="h1"))
    page.get_by_role("link", name="Sessions").first.click()
    failed.click()
    expect(page.get_by_text("The end · 69 events")).to_be_visible()
    idle(page)

    page.get_by_role("radio", name="Result").click()

    expect(page).to_have_url(re.compile("tab=Result"))
    assert "seq=" not in page.url
    assert "handoff=h1" not in page.url
