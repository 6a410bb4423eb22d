"""Live sessions and flows in a real browser: Enter, several turns, a stop, a yes in two windows."""

import re
from contextlib import closing

import pytest
from playwright.sync_api import Page, expect
from support.consoles import Console, naming, served

from handoff_console.store import reader
from handoff_console.store.db import open_reader, open_store

pytestmark = pytest.mark.browser

START = "Your message; Enter sends it"
MORE = "Say more in this session; Enter sends it"


@pytest.fixture
def live(page: Page, tmp_path):
    """The live page of a console on an empty store."""
    path = tmp_path / "live.db"
    open_store(path, create=True).close()
    with served(path) as console:
        yield console


def opened(page: Page, console: Console, flow: str, pace: str = "at once") -> Page:
    page.goto(f"{console.url}live?name={flow}")
    page.get_by_role("radio", name=pace).click()
    return page


def say(page: Page, placeholder: str, message: str) -> None:
    field = page.get_by_placeholder(placeholder)
    field.fill(message)
    field.press("Enter")


def test_enter_sends_a_message_and_the_next_one_goes_to_the_same_session(page, live):
    opened(page, live, "switchboard")

    say(page, START, "I need a refund")
    expect(page.get_by_placeholder(MORE)).to_be_visible()
    first = page.url
    say(page, MORE, "My login fails")

    expect(page.get_by_text("2 turns").or_(page.get_by_role("treeitem")).first).to_be_visible()
    expect(page.locator("p", has_text="My login fails").first).to_be_visible()
    expect(page.locator("p", has_text="I need a refund").first).to_be_visible()
    assert page.url == first


def test_a_session_at_work_is_stopped_and_says_so(page, live):
    opened(page, live, "research", "like a model")
    say(page, START, "Summarise how our 15 competitors price their enterprise plan.")
    expect(page.get_by_role("treeitem").first).to_be_visible()

    page.get_by_role("button", name="■ Stop").click()

    expect(page.get_by_role("status").first).to_contain_text("Cancelled")
    expect(page.get_by_role("button", name="■ Stop")).to_have_count(0)


def test_a_yes_in_one_window_is_seen_in_the_other_and_counts_once(page, live):
    opened(page, live, "letters")
    say(page, START, "Please tell Ms Okafor that the refund of 19.00 EUR is on its way.")
    expect(page.get_by_text("clerk wants to use letters.send")).to_be_visible()
    expect(page.get_by_text("a.okafor@mail.example")).to_be_visible()
    session = re.search(r"run=([^&]+)", page.url)[1]
    other = page.context.new_page()
    other.goto(live.session(session))
    expect(other.get_by_text("Exactly this will be sent")).to_be_visible()

    page.get_by_role("button", name="Yes, send exactly this").click()

    for window in (page, other):
        expect(window.get_by_text("Exactly this will be sent")).to_have_count(0)
        expect(window.get_by_role("status").first).to_contain_text("clerk answered")


def test_a_change_that_does_not_fit_is_said_at_its_field_and_nothing_is_sent(page, live):
    opened(page, live, "refunds")
    say(page, START, "Please refund 19.00 EUR of PAY-7302.")
    expect(page.get_by_text("cashier wants to use payments.refund")).to_be_visible()

    page.get_by_text("Change what is sent").click()
    page.get_by_label("amount_cents (a whole number)").fill("nineteen")
    page.get_by_role("button", name="Yes, send it as changed").click()

    expect(page.get_by_text("✕ It has to be a whole number.")).to_be_visible()
    expect(page.get_by_role("button", name="Yes, send it as changed")).to_be_visible()
    page.get_by_label("amount_cents (a whole number)").fill("500")
    page.get_by_role("button", name="Yes, send it as changed").click()
    expect(page.get_by_text("5.00 EUR of PAY-7302 were paid back.").first).to_be_visible()


@pytest.mark.parametrize("page", ["light", "dark"], indirect=True)
def test_a_flow_is_found_looked_into_by_its_graph_and_run(page, live):
    page.goto(f"{live.url}flows")
    page.get_by_role("button", name="Put through to the mortgage advisor").click()
    node = page.locator("g.node", has_text="mortgages")
    expect(node).to_be_visible()

    node.click()
    expect(page).to_have_url(naming(name="bank", who="mortgages"))
    expect(page.get_by_text("1 check of whatever comes in")).to_be_visible()
    page.get_by_text(re.compile("Its prompt, ")).click()
    expect(page.get_by_text("You say what a mortgage costs")).to_be_visible()

    page.get_by_role("button", name="▶ Run it").click()
    expect(page.get_by_placeholder(START)).to_be_visible()
    expect(page).to_have_url(re.compile("live.*name=bank"))


def test_a_console_that_ends_closes_what_it_runs(page, tmp_path):
    path = tmp_path / "ends.db"
    open_store(path, create=True).close()
    with served(path) as console:
        opened(page, console, "research", "like a model")
        say(page, START, "Summarise how our 15 competitors price their enterprise plan.")
        expect(page.get_by_role("treeitem").first).to_be_visible()

    with closing(open_reader(path)) as db:
        (session_id,) = reader.session_ids(db)
        last = reader.load_events(db, session_id)[-1]
    assert last.kind == "session_closed"
    assert last.payload.cancelled
