"""Parts of the session page that come late or come again: the reader's place is the same on all."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from handoff_console.console.components import stepper
from handoff_console.console.components.source import source
from handoff_console.console.components.wire import wire

pytestmark = pytest.mark.browser

SCRIPTS = Path(stepper.__file__).parent

# A chart as Plotly leaves it, as far as the cursor reads it: 10 px for an event.
DRAW = """() => {
    const place = document.querySelector('.st-key-pool');
    const graph = document.createElement('div');
    graph.className = 'js-plotly-plot';
    graph._fullLayout = {
        xaxis: { l2p: (seq) => 10 * seq, p2l: (px) => px / 10 },
        _size: { l: 1, t: 0, w: 500, h: 100 },
    };
    place.replaceChildren(graph);
}"""
MOUNT = """(text) => {
    const parentElement = document.body;
    const data = new TextEncoder().encode(text);
    const setStateValue = (name, value) => (window.said ??= []).push([name, value.seq]);
    (window.gone ??= []).push(window.component({ data, parentElement, setStateValue }));
}"""
STEP = """(seq) => document.dispatchEvent(
    new CustomEvent('handoff-cursor', { detail: { scope: 's', seq, handoff: null } }))"""


@pytest.fixture
def chart(browser) -> Iterator[Page]:
    """A page with a place for a chart, and the cursor's component."""
    place = "<div class='st-key-pool'></div><div id='cursor'></div>"
    yield from alone(browser, place, "chart_cursor.js")


@pytest.fixture
def steps(browser) -> Iterator[Page]:
    """A page with the stepper's component."""
    link = "<a id='away' href='#elsewhere'>elsewhere</a>"
    yield from alone(browser, stepper._HTML + link, "stepper.js")


def alone(browser: BrowserContext, place: str, name: str) -> Iterator[Page]:
    page = browser.new_page()
    page.clock.install(time=0)
    page.clock.pause_at(1)  # time goes on where a test says so
    script = source("common.js", name).replace("export default function", "component = function")
    page.set_content(f"{place}<script>{script}</script>")
    yield page
    page.close()


def mount(page: Page, **values: Any) -> None:
    given = {"target": "pool", "scope": "s", "nonce": 1, "seq": None, "last": 50, **values}
    page.evaluate(MOUNT, wire(given).decode())


def mount_steps(page: Page) -> None:
    rows = [[seq, "0.00", "model asked", "a", "what", "", "h1", 9, 0, 1, 0] for seq in range(1, 9)]
    given = {"rows": rows, "first": 1, "total": 8, "problems": [], "handoffs": [1], "pool": 10}
    place = {"scope": "s", "nonce": 1, "seq": None, "handoff": None, "missing": "", "lines": 8}
    colors = {"problem_colors": ["#a00", "#f88"]}
    page.evaluate(MOUNT, wire({**given, **place, **colors}).decode())


def drawn_at(page: Page, px: int) -> None:
    line = page.locator(".js-plotly-plot > .handoff-cursor")
    expect(line).to_have_attribute("style", re.compile(rf"translateX\({px}px\)"))


def test_the_line_is_drawn_on_a_chart_that_comes_after_its_cursor(chart):
    mount(chart, seq=7)
    chart.evaluate(DRAW)

    drawn_at(chart, 70)


def test_the_line_is_drawn_again_on_a_chart_that_is_made_anew(chart):
    mount(chart, seq=7)
    chart.evaluate(DRAW)
    drawn_at(chart, 70)
    chart.evaluate(STEP, 9)
    chart.evaluate(DRAW)

    drawn_at(chart, 90)


def test_a_step_that_was_taken_before_the_cursor_came_is_told_by_the_server(chart):
    chart.evaluate(DRAW)
    mount(chart)
    expect(chart.locator(".handoff-cursor")).to_have_count(0)
    mount(chart, seq=3)
    drawn_at(chart, 30)

    chart.evaluate(STEP, 5)
    mount(chart, seq=4)
    drawn_at(chart, 50)
    mount(chart, seq=4, nonce=2)
    drawn_at(chart, 40)


def test_keys_are_heard_after_the_first_of_two_calls_at_once_is_cleaned_up(steps):
    # So it goes where two answers of the server wait for the script: both run, then the first ends.
    mount_steps(steps)
    mount_steps(steps)
    steps.evaluate("window.gone[0]()")

    steps.keyboard.press("ArrowRight")
    expect(steps.get_by_text("Event 1 of 8")).to_be_visible()

    steps.evaluate("window.gone[1]()")
    steps.keyboard.press("ArrowRight")
    expect(steps.get_by_text("Event 1 of 8")).to_be_visible()


def test_the_line_follows_after_the_first_of_two_calls_at_once_is_cleaned_up(chart):
    mount(chart, seq=2)
    mount(chart, seq=2)
    chart.evaluate("window.gone[0]()")
    chart.evaluate(DRAW)
    chart.evaluate(STEP, 3)

    drawn_at(chart, 30)


def said(page: Page, after_ms: int = 0) -> list[list[object]]:
    page.clock.run_for(after_ms)
    return page.evaluate("window.said ?? []")


def test_a_step_is_said_when_the_keys_rest(steps):
    mount_steps(steps)
    steps.keyboard.press("ArrowRight")
    steps.keyboard.press("ArrowRight")

    assert said(steps, 119) == []
    assert said(steps, 1) == [["cursor", 2]]


def test_a_step_is_said_before_the_reader_does_something_elsewhere(steps):
    mount_steps(steps)
    steps.keyboard.press("ArrowRight")
    steps.mouse.move(5, 700)
    steps.mouse.down()

    assert said(steps) == [["cursor", 1]]
    assert said(steps, 5_000) == [["cursor", 1]]


@pytest.mark.parametrize(
    "leave",
    [
        "window.gone[0]()",
        "window.dispatchEvent(new PopStateEvent('popstate'))",
        "document.querySelector('#away').click()",
    ],
    ids=["another page is there", "back", "a link"],
)
def test_a_step_is_not_said_by_a_page_that_was_left(steps, leave):
    # Streamlit runs the page that spoke last: it would bring the reader back.
    mount_steps(steps)
    steps.keyboard.press("ArrowRight")
    steps.evaluate(leave)

    assert said(steps, 5_000) == []


def test_a_step_is_said_where_a_link_was_only_pressed_or_opens_elsewhere(steps):
    mount_steps(steps)
    link = steps.locator("#away")
    steps.keyboard.press("ArrowRight")
    link.hover()
    steps.mouse.down()
    assert said(steps, 1_499) == []
    assert said(steps, 1) == [["cursor", 1]]

    steps.mouse.move(5, 700)
    steps.mouse.up()
    steps.keyboard.press("ArrowRight")
    link.click(modifiers=["Control"])
    assert said(steps) == [["cursor", 1], ["cursor", 2]]


@pytest.mark.parametrize("script", sorted(SCRIPTS.glob("*.js")), ids=lambda path: path.name)
def test_every_component_leaves_a_later_calls_listeners_alone(script):
    if script.name != "common.js":
        text = script.read_text("utf-8")
        assert "return whenGone(kept, options" in text
        assert "kept.listening" not in text
