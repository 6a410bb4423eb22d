"""The session page in a real browser: verdict, tree, card, pool and steps as a person uses them."""

import re

import pytest
from playwright.sync_api import Page, expect
from support import recorded
from support.consoles import Console, idle

pytestmark = pytest.mark.browser


def opened(page: Page, console: Console, session: str = recorded.FAILED, **query: str) -> Page:
    page.goto(console.session(session, **query))
    expect(page.get_by_role("treeitem").first).to_be_visible(timeout=30_000)
    expect(page.get_by_role("toolbar")).to_be_visible()
    idle(page)
    return page


def selected(page: Page):
    return page.locator("[role=treeitem][aria-selected=true]")


def test_the_guilty_handoff_is_selected_and_the_verdict_says_why(page, console):
    opened(page, console)

    expect(page.get_by_role("status").first).to_contain_text(
        "billing hit its step limit after 6 of 6 steps"
    )
    expect(selected(page)).to_have_accessible_name(re.compile("^billing, limit_reached"))
    expect(page.get_by_text("supervisor calls billing")).to_be_visible()


def test_a_click_in_the_tree_shows_that_handoff_and_names_it_in_the_address(page, console):
    opened(page, console)

    page.get_by_role("treeitem", name="Look up PAY-118").click()

    expect(page.get_by_text("billing calls ledger", exact=True)).to_be_visible()
    expect(page).to_have_url(re.compile("handoff=h4"))


def test_the_tree_is_walked_with_the_keyboard(page, console):
    opened(page, console)

    page.get_by_role("tree").focus()
    page.keyboard.press("ArrowUp")

    expect(selected(page)).to_have_accessible_name(re.compile("^supervisor"))
    page.keyboard.press("ArrowLeft")
    expect(page.get_by_role("treeitem")).to_have_count(2)
    page.keyboard.press("ArrowRight")
    expect(page.get_by_role("treeitem")).to_have_count(5)
    page.keyboard.press("End")
    expect(selected(page)).to_have_accessible_name(re.compile("^ledger, refused"))
    expect(page).to_have_url(re.compile("handoff=h5"))


def test_arrow_keys_step_and_tree_pool_and_card_show_that_moment(page, console):
    opened(page, console)

    page.keyboard.press("ArrowRight")
    expect(page.get_by_text("Event 1 of 69")).to_be_visible()
    expect(page.get_by_role("treeitem", name="billing, not yet")).to_be_visible()

    for _ in range(10):
        page.keyboard.press("ArrowRight")
    expect(page.get_by_text("Event 11 of 69")).to_be_visible()
    expect(page.get_by_text("free 5,780 + reserved 14,000 + spent 220 = 20,000")).to_be_visible()
    expect(page.get_by_role("treeitem", name="triage, transferred")).to_be_visible()
    expect(page.locator(".handoff-cursor")).to_be_attached()
    expect(page).to_have_url(re.compile("seq=11"))
    expect(page.get_by_text("triage hands off to supervisor").first).to_be_visible()


def test_escape_goes_back_to_the_end(page, console):
    opened(page, console, seq="20")
    expect(page.get_by_text("Event 20 of 69")).to_be_visible()

    page.keyboard.press("Escape")

    expect(page.get_by_text("The end · 69 events")).to_be_visible()
    expect(page.locator(".handoff-cursor")).to_have_count(0)
    expect(page).not_to_have_url(re.compile("seq="))


def test_the_keys_n_and_p_go_from_problem_to_problem(page, console):
    opened(page, console)

    page.keyboard.press("n")
    first = page.get_by_role("option", selected=True)
    expect(first).to_contain_text("handoff refused")
    page.keyboard.press("n")
    expect(first).to_contain_text("handoff closed")
    expect(selected(page)).to_have_accessible_name(re.compile("^billing"))
    page.keyboard.press("p")
    expect(first).to_contain_text("handoff refused")


def test_a_burst_of_keys_ends_on_the_right_event(page, console):
    opened(page, console)

    for _ in range(40):
        page.keyboard.press("ArrowRight", delay=5)

    expect(page.get_by_text("Event 40 of 69")).to_be_visible()
    expect(page).to_have_url(re.compile("seq=40"))


def test_the_context_is_what_the_agent_had_read_at_that_event(page, console):
    opened(page, console, tab="Context", seq="24", handoff="h3")
    expect(page.get_by_text(re.compile("Step 1 read 1 message"))).to_be_visible()
    expect(page.get_by_text("billing reads 1")).to_be_visible()
    expect(page.get_by_text("billing reads 2")).to_have_count(0)


def test_a_link_restores_everything_that_was_selected(page, console):
    opened(page, console, handoff="h4", seq="33", tab="Result")

    expect(selected(page)).to_have_accessible_name(re.compile("^ledger, not_found"))
    expect(page.get_by_text("Event 33 of 69")).to_be_visible()
    expect(page.get_by_text("no entry PAY-118").first).to_be_visible()


def test_stepping_needs_no_scrolling(page, console):
    opened(page, console)

    for part in ("tree", "toolbar"):
        box = page.get_by_role(part).bounding_box()
        assert box["y"] + box["height"] < 900
    log = page.get_by_role("listbox", name="Events").bounding_box()
    chart = page.locator(".js-plotly-plot").bounding_box()
    assert log["y"] + log["height"] < 900
    assert chart["y"] + chart["height"] < 900


def test_a_click_on_the_burn_down_goes_to_that_event(page, console):
    opened(page, console)
    plot = page.locator(".js-plotly-plot .nsewdrag").bounding_box()

    page.mouse.click(plot["x"] + plot["width"] / 2, plot["y"] + plot["height"] / 2)

    expect(page.get_by_text(re.compile(r"Event 3\d of 69"))).to_be_visible()


def test_a_click_in_the_graph_of_agents_selects_the_agents_handoff(page, console):
    opened(page, console)
    page.get_by_role("radio", name="Agents").click()

    page.locator("g.node", has_text="supervisor").click(timeout=20_000)

    expect(page).to_have_url(re.compile("handoff=h2"))
    expect(page.get_by_text("triage hands off to supervisor").first).to_be_visible()


def test_an_unknown_session_is_said_to_be_unknown(page, console):
    page.goto(console.session("nobody"))

    expect(page.get_by_text("There is no session 'nobody' in this store.")).to_be_visible()


@pytest.mark.parametrize("page", ["light", "dark"], indirect=True)
@pytest.mark.parametrize("tab", ["Request", "Gate", "Result", "Context"])
def test_hostile_text_is_text_in_every_part_of_the_page(page, console, tab):
    page.goto(console.session(recorded.HOSTILE, tab=tab))
    expect(page.get_by_role("treeitem")).to_have_count(3, timeout=30_000)
    idle(page)
    for _ in range(3):
        page.keyboard.press("n")
    page.wait_for_function("document.querySelector('.handoff-cursor')")
    idle(page)

    assert page.evaluate("window.hacked") is None
    assert page.locator("img[src*='192.0.2.1'], img[src='x'], a[href^='javascript']").count() == 0
    expect(page.get_by_text("<script>window.hacked = true</script>").first).to_be_visible()
