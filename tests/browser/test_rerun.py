"""From a failed session to its re-run and the comparison, in a real browser."""

import json
import re

import pytest
from playwright.sync_api import Page, expect
from support import recorded
from support.command import program
from support.consoles import Console, idle, served

from handoff_console.store.writer import open_sink

pytestmark = pytest.mark.browser

CUT_OFF = "I am customer 5120. Why was I charged twice last month?"
SLOW_MS = 60_000
"""A busy machine is slow, not wrong."""


@pytest.fixture(scope="module")
def cut_off(tmp_path_factory):
    """A console with a session in which billing (h2) hits its step limit, and that session."""
    store = tmp_path_factory.mktemp("again") / "sessions.db"
    done = program(store.parent, "run", "support", "--message", CUT_OFF, "--db", store, "--json")
    session = json.loads(done.out)["session_id"]
    with served(store) as running:
        yield running, session


def fill(page: Page, label: str, value: str) -> None:
    field = page.get_by_label(label, exact=True)
    field.fill(value)
    field.press("Tab")
    idle(page)


def test_a_failed_session_is_run_again_and_compared_and_what_flips_it_is_found(page, cut_off):
    console: Console = cut_off[0]
    page.set_default_timeout(SLOW_MS)
    page.goto(console.session(cut_off[1]))
    expect(page.get_by_role("treeitem", name=re.compile("^billing, limit_reached"))).to_be_visible(
        timeout=SLOW_MS
    )

    page.get_by_role("link", name="Re-run this handoff").click()
    expect(page.get_by_text("Run billing (h2) again")).to_be_visible(timeout=SLOW_MS)
    page.get_by_role("tab", name="Tools and limits").click()
    fill(page, "Most steps", "0")
    expect(page.get_by_text("Type a number above 0.").first).to_be_visible()
    expect(page.get_by_role("button", name="Run it again")).to_be_disabled()
    fill(page, "Most steps", "20")
    fill(page, "Most tokens", "40000")
    page.get_by_text("Live reads", exact=True).click()
    expect(page.get_by_text("limits.max_steps = 20", exact=True)).to_be_visible()
    expect(page.get_by_text("--limits max_steps=20 --limits max_tokens=40000")).to_be_visible()
    page.get_by_role("button", name="Run it again").click()

    expect(page).to_have_url(re.compile("side_by_side"), timeout=SLOW_MS)
    first = page.get_by_role("status").first
    expect(first).to_contain_text(
        "They first part at billing (t1/2.0): its request has another limits.max_steps: 6 → 20.",
        timeout=SLOW_MS,
    )
    expect(page.get_by_text("attempt 2").first).to_be_visible()

    page.get_by_role("button", name="Which change flips it?").click()
    page.get_by_text("Live reads", exact=True).click()
    page.get_by_label("Each is tried so many times").fill("1")
    page.get_by_label("Each is tried so many times").press("Tab")
    page.get_by_role("button", name="Look for it").click()
    expect(
        page.get_by_text("limits.max_steps and limits.max_tokens flip it together")
    ).to_be_visible(timeout=SLOW_MS)

    page.get_by_role("link", name="Back to the session").click()
    line = page.locator(".attempts-line")
    expect(line).to_contain_text("2 live reads", timeout=SLOW_MS)


def test_the_pool_is_another_one_and_the_handoffs_that_suffer_are_named(page, cut_off):
    console: Console = cut_off[0]
    page.set_default_timeout(SLOW_MS)
    page.goto(console.session(cut_off[1]))
    page.get_by_text("What if the pool or a limit had been another?").click()
    expect(page.get_by_text("Nothing would have changed.")).to_be_visible(timeout=SLOW_MS)

    page.get_by_role("slider").first.focus()
    page.keyboard.press("Home")

    expect(page.get_by_text(re.compile("handoffs would have fared otherwise"))).to_be_visible(
        timeout=SLOW_MS
    )
    expect(page.get_by_text("What the record cannot say")).to_be_visible()


def test_every_attempt_that_is_named_is_in_sight_the_newest_too(page, cut_off):
    console: Console = cut_off[0]
    program(console.store.parent, "rerun", cut_off[1], "h3", "--times", "9", "--db", console.store)
    page.set_default_timeout(SLOW_MS)
    page.set_viewport_size({"width": 1024, "height": 768})
    page.goto(console.session(cut_off[1], handoff="h3"))

    newest = page.get_by_role("button", name="10 what if", exact=True)
    expect(newest).to_be_visible(timeout=SLOW_MS)
    column = page.get_by_text("Attempts", exact=True).locator("xpath=..").bounding_box()
    for name in ("… 8 more …", "10 what if"):
        box = page.get_by_role("button", name=name, exact=True).bounding_box()
        assert box["x"] + box["width"] <= column["x"] + column["width"], name
    page.get_by_role("button", name="… 8 more …", exact=True).click()
    expect(page.get_by_role("button", name="2 what if", exact=True)).to_be_visible(timeout=SLOW_MS)


def test_the_way_back_from_a_comparison_leads_over_the_form_to_the_session(page, cut_off):
    console: Console = cut_off[0]
    page.set_default_timeout(SLOW_MS)
    page.goto(console.session(cut_off[1], handoff="h3"))
    page.get_by_role("link", name="Re-run this handoff").click()
    expect(page.get_by_role("button", name="Run it again")).to_be_enabled(timeout=SLOW_MS)
    page.get_by_role("button", name="Run it again").click()
    expect(page).to_have_url(re.compile("side_by_side"), timeout=SLOW_MS)
    idle(page)

    page.go_back()
    expect(page.get_by_text("Run account (h3) again")).to_be_visible(timeout=SLOW_MS)
    expect(page).to_have_url(re.compile("rerun\\?session="))
    compare = page.get_by_role("link", name="What was started here is over: compare it")
    expect(compare).to_be_visible()

    page.go_back()
    expect(page.get_by_role("link", name="Re-run this handoff")).to_be_visible(timeout=SLOW_MS)
    expect(page).to_have_url(re.compile("session\\?session="))


def test_the_button_stays_in_sight_while_a_long_form_is_scrolled(page, cut_off):
    console: Console = cut_off[0]
    page.set_default_timeout(SLOW_MS)
    page.set_viewport_size({"width": 1024, "height": 560})
    page.goto(f"{console.url}rerun?session={cut_off[1]}&handoff=h2")
    page.get_by_role("tab", name="Prompt and model").click()
    expect(page.get_by_label("Model", exact=True)).to_be_visible(timeout=SLOW_MS)

    page.get_by_text("Keep it as a test").scroll_into_view_if_needed()

    expect(page.get_by_text("Keep it as a test")).to_be_in_viewport()
    expect(page.get_by_role("button", name="Run it again")).to_be_in_viewport()


def test_a_field_is_called_by_its_name_alone(page, cut_off):
    console: Console = cut_off[0]
    page.set_default_timeout(SLOW_MS)
    page.goto(f"{console.url}rerun?session={cut_off[1]}&handoff=h2")
    page.get_by_role("tab", name="Request").click()

    expect(page.get_by_label("Input customer_id", exact=True)).to_be_visible(timeout=SLOW_MS)


def test_a_comparison_with_a_run_that_goes_on_follows_it_to_its_end(page, tmp_path):
    begun = recorded.running()
    sides = [("s-begun", begun), ("s-whole", recorded.refund_policy())]
    store = recorded.record(tmp_path / "sessions.db", sides)
    page.set_default_timeout(SLOW_MS)
    with served(store) as console:
        page.goto(f"{console.url}side_by_side?left=s-begun&right=s-whole")
        head = page.locator(".side").first
        expect(head).to_contain_text("running", timeout=SLOW_MS)

        there = len(begun.events)
        supervisor = begun.events[-1].handoff_id
        begun.close(supervisor, "error", notes="nobody knows").end("error")
        with open_sink(store) as sink:
            for digest, body in begun.sink.bodies.items():
                sink.keep(digest, body, "s-begun")
            for event in begun.events[there:]:
                sink.append(event._replace(session_id="s-begun"))

        expect(head).to_contain_text("error", timeout=SLOW_MS)
