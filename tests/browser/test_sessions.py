"""From the list to the cause, in a real browser."""

import re

import pytest
from playwright.sync_api import Page, expect
from support import recorded
from support.consoles import Console, idle, naming, served

from handoff_console.store.db import open_store

pytestmark = pytest.mark.browser


def opened(page: Page, url: str) -> Page:
    page.goto(url)
    expect(page.get_by_role("table", name="Sessions")).to_be_visible()
    idle(page)
    return page


def test_two_clicks_lead_from_the_list_to_what_the_guilty_agent_read(page, console: Console):
    opened(page, console.url)

    page.get_by_role("link", name=re.compile("billing hit its step limit")).click()
    expect(page.get_by_text("supervisor calls billing")).to_be_visible()
    page.get_by_role("radio", name="Context").click()

    expect(page.get_by_text("billing reads 6")).to_be_visible()
    expect(page).to_have_url(naming(session="s-failed", tab="Context"))


def test_a_row_opens_with_the_keyboard(page, console: Console):
    opened(page, console.url)

    page.get_by_role("link").filter(has_text="called the tool").focus()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")

    expect(page.get_by_role("tree")).to_be_visible()
    expect(page).to_have_url(re.compile("/session"))


def test_typing_in_the_search_field_finds_and_is_kept_in_the_address(page, console: Console):
    opened(page, console.url)

    page.get_by_placeholder(re.compile("Search messages")).fill("refund take")

    expect(page.get_by_text("Showing 1 matching session.")).to_be_visible()
    expect(page.get_by_role("table").get_by_role("link")).to_have_count(1)
    expect(page).to_have_url(re.compile("search=refund"))


def test_letters_typed_into_a_field_do_not_step(page, console: Console):
    page.goto(f"{console.url}live")
    field = page.get_by_placeholder("Your message; Enter sends it")
    field.fill("")
    field.press_sequentially("n p [ ]")

    expect(field).to_have_value("n p [ ]")


@pytest.mark.parametrize("page", ["light", "dark"], indirect=True)
def test_an_empty_store_offers_a_sample_and_shows_it(page, tmp_path):
    path = tmp_path / "empty.db"
    open_store(path, create=True).close()
    with served(path) as console:
        page.goto(console.url)
        expect(page.get_by_text("No session yet")).to_be_visible()

        page.get_by_role("button", name="Run a sample").click()

        expect(page.get_by_role("treeitem").first).to_be_visible()
        expect(page).to_have_url(re.compile("/session"))


def test_the_page_of_a_running_session_grows_by_itself(page, tmp_path):
    path = tmp_path / "growing.db"
    log = recorded.refund_policy()
    whole, log.sink.events[:] = list(log.events), log.events[:7]
    recorded.record(path, [("s-grows", log)])
    with served(path) as console:
        page.goto(console.session("s-grows"))
        expect(page.get_by_text("The end · 7 events")).to_be_visible()

        log.sink.events[:] = whole[7:]
        recorded.record(path, [("s-grows", log)])

        expect(page.get_by_text(f"The end · {len(whole)} events")).to_be_visible()
        expect(page.get_by_role("treeitem", name=re.compile("^supervisor, ok"))).to_be_visible()


def test_the_list_shows_by_itself_that_a_running_session_has_ended(page, tmp_path):
    path = tmp_path / "ending.db"
    log = recorded.refund_policy()
    whole, log.sink.events[:] = list(log.events), log.events[:7]
    recorded.record(path, [("s-ends", log)])
    with served(path) as console:
        opened(page, console.url)
        expect(page.get_by_text("1 running.")).to_be_visible()

        log.sink.events[:] = whole[7:]
        recorded.record(path, [("s-ends", log)])

        expect(page.get_by_text("1 ok.")).to_be_visible()
        expect(page.get_by_text("1 running.")).not_to_be_visible()


def test_a_live_session_grows_until_it_is_over_and_then_the_page_rests(page, tmp_path):
    path = tmp_path / "live.db"
    open_store(path, create=True).close()
    with served(path) as console:
        page.goto(f"{console.url}live")
        page.get_by_role("radio", name="4 × as fast").click()
        page.get_by_role("button", name="▶ Why was I charged twice last month?", exact=True).click()

        expect(
            page.get_by_role("treeitem", name=re.compile("^supervisor, running"))
        ).to_be_visible()
        expect(page.get_by_role("treeitem")).to_have_count(3)
        expect(page.get_by_text("Nothing has been refunded yet")).to_be_visible()
        page.get_by_role("button", name="End the session").click()
        expect(page.get_by_text("nothing stands out")).to_be_visible()
        idle(page)
        page.get_by_role("link", name=re.compile("Open this session")).click()
        expect(page.get_by_role("toolbar")).to_be_visible()


def test_two_windows_follow_the_same_session(page, tmp_path):
    path = tmp_path / "two.db"
    log = recorded.refund_policy()
    whole, log.sink.events[:] = list(log.events), log.events[:7]
    recorded.record(path, [("s-grows", log)])
    with served(path) as console:
        other = page.context.new_page()
        for window in (page, other):
            window.goto(console.session("s-grows"))
            expect(window.get_by_text("The end · 7 events")).to_be_visible()

        log.sink.events[:] = whole[7:]
        recorded.record(path, [("s-grows", log)])

        for window in (page, other):
            expect(window.get_by_text(f"The end · {len(whole)} events")).to_be_visible()


def test_every_filter_stands_in_the_address_and_a_link_restores_it(page, console: Console):
    opened(page, f"{console.url}?finding=limit_as_answer&flow=support")

    expect(page.get_by_text("Showing 1 matching session.")).to_be_visible()
    expect(page.get_by_role("table").get_by_role("link")).to_have_count(1)
    page.get_by_label("Finding").click()
    page.get_by_role("option", name="with or without findings").click()
    expect(page.get_by_text("Showing 3 matching sessions.")).to_be_visible()
    expect(page).not_to_have_url(re.compile("finding="))
    expect(page).to_have_url(re.compile("flow=support"))
