"""The routing pages in a real browser: what regressed, its cell, its session, labels by key."""

import contextlib
import re
from contextlib import closing

import pytest
from playwright.sync_api import Page, expect
from support import recorded
from support.comparisons import experiment, record_experiment
from support.consoles import idle, losing, served

from handoff_console.store.db import open_reader, open_store
from handoff_console.store.labels import labels

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def desk(tmp_path_factory):
    """A console whose store has one experiment, and three sessions."""
    path = recorded.record(
        tmp_path_factory.mktemp("desk") / "desk.db",
        [
            (recorded.HEALTHY, recorded.refund_policy()),
            (recorded.FAILED, recorded.double_charge()),
        ],
    )
    record_experiment(path, experiment(mode="full"))
    with served(path) as console:
        yield console


def opened(page: Page, desk, **query: str) -> Page:
    more = "&".join(f"{name}={value}" for name, value in query.items())
    page.goto(f"{desk.url}routing?{more}")
    expect(page.get_by_text("Compare versions", exact=True)).to_be_visible(timeout=30_000)
    idle(page)
    return page


def rows(page: Page):
    return page.get_by_role("table", name="Cases").locator("tbody tr")


@pytest.mark.parametrize("page", ["light", "dark"], indirect=True)
def test_a_case_is_chosen_with_mouse_and_arrow_keys_and_named_in_the_address(page, desk):
    opened(page, desk, view="compare")
    expect(rows(page)).to_have_count(2)

    rows(page).nth(1).click()
    expect(page.get_by_text("case c7")).to_be_visible()
    expect(page).to_have_url(re.compile("case=c7"))
    page.keyboard.press("ArrowUp")

    expect(page.get_by_text("critical · charges · case c1")).to_be_visible()
    expect(rows(page).nth(0)).to_have_attribute("aria-selected", "true")


def test_the_page_has_the_address_that_the_bar_calls_it_by(page, desk):
    page.goto(desk.url)
    page.get_by_role("link", name="Routing", exact=True).click()

    expect(page.get_by_text("Compare versions", exact=True)).to_be_visible(timeout=30_000)
    expect(page).to_have_url(re.compile(r"/routing(\?|$)"))


def test_a_click_on_a_cell_of_the_matrix_shows_its_cases(page, desk):
    opened(page, desk, view="compare")
    page.get_by_text("Where requests went").click()
    chart = page.locator(".st-key-matrix-b .js-plotly-plot")
    expect(chart.locator(".scatterlayer .point").first).to_be_attached()

    shown = page.get_by_role("button", name=re.compile("should go to billing, v3"))
    # Plotly forgets what the pointer is over when the page is painted anew under it.
    for _ in range(5):
        idle(page)
        cell = chart.locator(".scatterlayer .point").nth(1)
        cell.scroll_into_view_if_needed()
        box = cell.bounding_box()
        page.mouse.move(box["x"] + 4, box["y"] + 4)
        page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
        expect(chart.locator(".hoverlayer .hovertext")).to_be_visible()
        page.mouse.down()
        page.mouse.up()
        with contextlib.suppress(AssertionError):
            expect(shown).to_be_visible(timeout=10_000)
            break

    expect(shown).to_be_visible()
    expect(rows(page)).to_have_count(1)
    expect(page).to_have_url(re.compile("cell=b"))


def test_from_a_case_its_session_opens(page, tmp_path):
    path = recorded.record(tmp_path / "one.db", [("s-v2-c1", recorded.refund_policy())])
    record_experiment(path, experiment(mode="full"))
    with served(path) as console:
        opened(page, console, view="compare")

        page.get_by_role("button", name="Open session").first.click()

        expect(page.get_by_role("tree")).to_be_visible(timeout=20_000)
        expect(page).to_have_url(re.compile("session=s-v2-c1"))


def test_comparing_for_the_first_time_takes_one_click(page, tmp_path):
    path = tmp_path / "first.db"
    open_store(path, create=True).close()
    with served(path) as console:
        opened(page, console, view="compare")

        page.get_by_role("button", name="Compare v2 and v3").click()

        expect(page.get_by_text("How separable are your descriptions")).to_be_visible(
            timeout=60_000
        )
        expect(page.get_by_text("v2 → v3").first).to_be_visible()
        expect(rows(page).first).to_be_visible()


def test_cases_are_labelled_with_the_keyboard_and_a_slip_is_taken_back(page, tmp_path):
    path = recorded.record(
        tmp_path / "labels.db",
        [("s-1", recorded.refund_policy()), ("s-2", recorded.double_charge())],
    )
    with served(path) as console:
        opened(page, console, view="labels", by="ada")
        expect(page.get_by_text("How long does a refund take?")).to_be_visible()

        page.keyboard.press("1")
        expect(page.get_by_text("Why was I charged twice last month?")).to_be_visible()
        page.keyboard.press("u")
        expect(page.get_by_text("How long does a refund take?")).to_be_visible()
        page.keyboard.press("0")
        page.keyboard.press("2")

        expect(page.get_by_text("All cases are labelled.")).to_be_visible()
        expect(page.get_by_text("2 of 2 labelled by ada")).to_be_visible()
        expect(page.get_by_text("2 labelled requests")).to_be_visible()
    with closing(open_reader(path)) as db:
        said = {it.session_id: it.label for it in labels(db)}
    assert said == {"s-1": "abstain", "s-2": "account"}


def test_who_has_said_their_name_goes_on_with_the_keys(page, tmp_path):
    path = recorded.record(
        tmp_path / "named.db",
        [("s-1", recorded.refund_policy()), ("s-2", recorded.double_charge())],
    )
    with served(path) as console:
        opened(page, console, view="labels")
        field = page.get_by_label("You are")
        field.fill("ada")
        field.press("Enter")
        expect(page.get_by_text("0 of 2 labelled by ada")).to_be_visible()
        expect(field).not_to_be_focused()

        page.keyboard.press("1")

        expect(page.get_by_text("1 of 2 labelled by ada")).to_be_visible()
        expect(field).to_have_value("ada")


def test_two_versions_are_saved_one_after_the_other(page, tmp_path):
    path = recorded.record(tmp_path / "drafts.db", [("s-1", recorded.refund_policy())])
    with served(path) as console:
        opened(page, console, view="drafts")
        for name, words in [("v5", "Everything about money"), ("v6", "Invoices alone")]:
            expect(page.get_by_label("Save as a new version")).to_have_value(name)
            area = page.get_by_label("Description: when should a request")
            area.fill(words)
            area.press("Control+Enter")
            page.get_by_role("button", name="Save version").click()
            expect(page.get_by_text(f"Saved as {name}")).to_be_visible()

        expect(page.get_by_label("Save as a new version")).to_have_value("v7")
    saved = tmp_path / "prompts" / "servicedesk"
    assert sorted(folder.name for folder in saved.iterdir()) == ["v5", "v6"]


def test_the_labels_of_a_row_of_fields_stand_on_one_line(page, desk):
    opened(page, desk, view="happened")
    labels = page.get_by_test_id("stWidgetLabel")
    expect(labels.get_by_text("By", exact=True)).to_be_visible()

    tops = [labels.get_by_text(name, exact=True).bounding_box() or {} for name in ("By", "Flow")]

    assert abs(tops[0]["y"] - tops[1]["y"]) < 2


def test_a_label_that_gets_lost_on_its_way_is_sent_again(page, tmp_path):
    path = recorded.record(tmp_path / "labels.db", [("s-1", recorded.refund_policy())])
    with served(path) as console:
        lost = losing(page, b'"given"')
        opened(page, console, view="labels", by="ada")
        expect(page.get_by_role("heading", name="Who should get it?")).to_be_visible()

        page.keyboard.press("1")

        expect(page.get_by_text("1 labelled request")).to_be_visible()
        assert len(lost) == 1


def test_letters_typed_into_a_field_label_nothing(page, tmp_path):
    path = recorded.record(tmp_path / "typed.db", [("s-1", recorded.refund_policy())])
    with served(path) as console:
        opened(page, console, view="labels", by="ada")
        field = page.get_by_label("You are")
        expect(field).to_have_value("ada")
        field.fill("")
        field.press_sequentially("1d0")

        expect(field).to_have_value("1d0")
        expect(page.get_by_text("0 of 1 labelled")).to_be_visible()
    with closing(open_reader(path)) as db:
        assert labels(db) == []


@pytest.mark.parametrize("width", [1440, 1024])
def test_nothing_is_wider_than_the_page(page, desk, width):
    page.set_viewport_size({"width": width, "height": 800})
    for view in ("happened", "compare", "drafts", "labels"):
        opened(page, desk, view=view, by="ada")

        wider = page.evaluate("document.documentElement.scrollWidth - window.innerWidth")
        assert wider <= 0, view
