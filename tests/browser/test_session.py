"""The session page in a real browser: verdict, tree, card, pool and steps as a person uses them."""

import re
import shutil
import subprocess

import pytest
from playwright.sync_api import Page, expect
from support import recorded
from support.consoles import Console, idle, naming

pytestmark = pytest.mark.browser


def opened(page: Page, console: Console, session: str = recorded.FAILED, **query: str) -> Page:
    page.goto(console.session(session, **query))
    expect(page.get_by_role("treeitem").first).to_be_visible()
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

    page.locator("g.node", has_text="supervisor").click()

    expect(page).to_have_url(re.compile("handoff=h2"))
    expect(page.get_by_text("triage hands off to supervisor").first).to_be_visible()


def test_the_graph_that_is_downloaded_is_the_one_on_the_page(page, console):
    opened(page, console)
    page.get_by_role("radio", name="Agents").click()
    expect(page.locator("g.node").first).to_be_visible()
    drawn = sorted(page.locator("g.node title").all_text_contents())

    with page.expect_download() as loading:
        page.get_by_role("button", name="Download (DOT)").click()

    assert loading.value.suggested_filename == "agents.dot"
    dot = loading.value.path().read_text("utf-8")
    assert dot.startswith("digraph agents {")
    assert sorted(re.findall(r"^\t(\w+) \[label=", dot, re.M)) == drawn
    if shutil.which("dot"):
        subprocess.run(["dot", "-Tcanon"], input=dot, text=True, check=True, capture_output=True)


def test_an_unknown_session_is_said_to_be_unknown(page, console):
    page.goto(console.session("nobody"))

    expect(page.get_by_text("There is no session 'nobody' in this store.")).to_be_visible()


@pytest.mark.parametrize("page", ["light", "dark"], indirect=True)
@pytest.mark.parametrize("tab", ["Request", "Gate", "Result", "Context"])
def test_hostile_text_is_text_in_every_part_of_the_page(page, console, tab):
    page.goto(console.session(recorded.HOSTILE, tab=tab))
    expect(page.get_by_role("treeitem")).to_have_count(3)
    idle(page)
    for _ in range(3):
        page.keyboard.press("n")
    page.wait_for_function("document.querySelector('.handoff-cursor')")
    idle(page)

    assert page.evaluate("window.hacked") is None
    assert page.locator("img[src*='192.0.2.1'], img[src='x'], a[href^='javascript']").count() == 0
    expect(page.get_by_text("<script>window.hacked = true</script>").first).to_be_visible()


def test_back_leaves_the_page_at_once_however_far_one_stepped(page, console):
    page.goto(console.url)
    page.get_by_role("link", name=re.compile("billing hit its step limit")).click()
    expect(page.get_by_role("toolbar")).to_be_visible()
    idle(page)

    expect(page.get_by_text("The end · 69 events")).to_be_visible()
    for step in range(1, 6):
        page.keyboard.press("ArrowRight")
        expect(page.get_by_text(f"Event {step} of 69")).to_be_visible()
        idle(page)
    page.get_by_role("treeitem", name="triage").click()
    page.get_by_role("radio", name="Result").click()
    expect(page).to_have_url(naming(seq="5", handoff="h1", tab="Result"))
    page.get_by_role("button", name=re.compile("^→ event")).first.click()
    expect(page).not_to_have_url(naming(seq="5"))
    idle(page)
    page.go_back()

    expect(page.get_by_role("table", name="Sessions")).to_be_visible()
    page.go_forward()
    expect(page.get_by_role("toolbar")).to_be_visible()
    expect(page).to_have_url(naming(session="s-failed", tab="Result"))


def test_the_address_never_lags_behind_the_event_that_is_shown(page, console):
    opened(page, console)

    lag = page.evaluate("""async () => {
        const lag = [];
        for (let step = 0; step < 50; step += 1) {
            document.dispatchEvent(new KeyboardEvent('keydown', { key: 'ArrowRight' }));
            for (let frame = 0; frame < 3; frame += 1) {
                const at = new URLSearchParams(location.search).get('seq');
                if (at !== String(step + 1)) lag.push([step + 1, at]);
                await new Promise((done) => requestAnimationFrame(done));
            }
            await new Promise((done) => setTimeout(done, step % 10 ? 0 : 150));
        }
        return lag;
    }""")

    assert lag == []
    expect(page.get_by_text("Event 50 of 69")).to_be_visible()
    idle(page)
    expect(page).to_have_url(re.compile("seq=50"))


def test_a_link_beyond_the_last_event_shows_the_last_one_and_says_so(page, console):
    opened(page, console, seq="999")

    expect(page.get_by_text("Event 69 of 69")).to_be_visible()
    said = page.get_by_text("There is no event 999 (yet): this is the last one.")
    expect(said).to_be_visible()
    expect(page.get_by_role("option", selected=True)).to_contain_text("session closed")
    page.keyboard.press("ArrowLeft")
    expect(page.get_by_text("Event 68 of 69")).to_be_visible()
    expect(said).to_have_count(0)


def test_the_end_shows_the_last_events_as_they_are(page, console):
    opened(page, console, handoff="h3")

    events = page.get_by_role("option")
    expect(page.get_by_text("The end · 69 events")).to_be_visible()
    expect(events.last).to_contain_text("session closed")
    expect(events).to_have_count(8)
    assert page.locator(".event.other, .event.later").count() == 0


def test_a_key_that_is_held_down_leaves_the_address_at_the_last_event(page, console):
    warnings: list[str] = []
    page.on("console", lambda said: warnings.append(said.text))
    opened(page, console, seq="30")

    page.evaluate("""async () => {
        for (let step = 0; step < 401; step += 1) {
            const key = step % 2 ? 'ArrowLeft' : 'ArrowRight';
            document.dispatchEvent(new KeyboardEvent('keydown', { key }));
            await new Promise((done) => requestAnimationFrame(done));
        }
    }""")

    expect(page.get_by_text("Event 31 of 69")).to_be_visible()
    expect(page).to_have_url(re.compile("seq=31"))
    assert not [said for said in warnings if "Throttling" in said]


def test_stepping_needs_no_scrolling_in_a_small_window_either(page, console):
    page.set_viewport_size({"width": 1024, "height": 768})
    opened(page, console)

    log = page.get_by_role("listbox", name="Events").bounding_box()
    assert log["y"] + log["height"] <= 768
    expect(page.get_by_role("option")).to_have_count(6)
    expect(page.get_by_role("option").last).to_contain_text("session closed")
