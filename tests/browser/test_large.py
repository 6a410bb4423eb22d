"""Very large sessions stay quick: the tree, a step, and the events beyond the ones in the page."""

import re

import pytest
from playwright.sync_api import Page, expect
from support import recorded
from support.consoles import Console, idle, losing, served

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def large(tmp_path_factory):
    path = recorded.record(
        tmp_path_factory.mktemp("large") / "large.db",
        [("s-10000", recorded.wide(430, 3)), ("s-wide", recorded.wide(5_000))],
    )
    with served(path) as console:
        yield console


def opened(page: Page, console: Console, session: str, **query: str) -> Page:
    page.goto(console.session(session, **query))
    expect(page.get_by_role("treeitem").first).to_be_visible()
    expect(page.get_by_role("toolbar")).to_be_visible()
    page.wait_for_function("document.querySelector('.js-plotly-plot')?._fullLayout?.xaxis")
    idle(page)
    return page


def test_only_the_rows_in_sight_of_5000_handoffs_exist(page, large):
    opened(page, large, "s-wide")

    assert page.get_by_role("treeitem").count() < 60
    expect(page.get_by_role("treeitem").nth(1)).to_have_attribute("aria-setsize", "5000")


def test_the_last_of_5000_handoffs_is_a_key_away(page, large):
    opened(page, large, "s-wide")

    page.get_by_role("tree").focus()
    page.keyboard.press("End")

    expect(page.get_by_role("treeitem", selected=True)).to_have_accessible_name(
        re.compile("Look into payment 4999")
    )
    expect(page).to_have_url(re.compile("handoff=h5001"))


def test_a_handoff_is_found_among_5000(page, large):
    opened(page, large, "s-wide")

    page.get_by_label("Find in the tree").fill("payment 4321")

    expect(page.get_by_role("treeitem")).to_have_count(2)


def test_stepping_goes_on_beyond_the_events_the_page_began_with(page, large):
    opened(page, large, "s-10000", seq="5000")
    page.get_by_role("listbox", name="Events").focus()

    for _ in range(60):
        page.keyboard.press("PageDown")

    expect(page.get_by_text("Event 5,480 of")).to_be_visible()
    expect(page.get_by_role("option", selected=True)).to_be_visible()


def test_no_key_is_lost_while_the_events_it_leads_to_are_on_their_way(page, large):
    opened(page, large, "s-10000", seq="5000")

    page.get_by_role("listbox", name="Events").evaluate("""(log) => {
        for (let key = 0; key < 400; key += 1) {
            log.dispatchEvent(
                new KeyboardEvent('keydown', { key: 'PageDown', bubbles: true, composed: true }));
        }
    }""")

    expect(page.get_by_text("Event 8,200 of")).to_be_visible()
    expect(page.get_by_role("option", selected=True)).to_be_visible()


def test_a_question_for_events_that_gets_lost_is_asked_again(page, large):
    lost = losing(page, b'"window"')
    opened(page, large, "s-10000", seq="5000")

    page.get_by_role("listbox", name="Events").focus()
    page.keyboard.press("Home")

    expect(page.get_by_text("Event 1 of")).to_be_visible()
    assert len(lost) == 1


def test_home_and_end_reach_the_first_and_the_last_event(page, large):
    opened(page, large, "s-10000", seq="5000")
    page.get_by_role("listbox", name="Events").focus()

    page.keyboard.press("Home")
    expect(page.get_by_text("Event 1 of")).to_be_visible()
    page.keyboard.press("End")
    expect(page.get_by_role("option", selected=True)).to_contain_text("session closed")
