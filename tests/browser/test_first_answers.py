"""What a browser asks for before a page is there: each thing once, and nothing in vain."""

import re

import pytest
from playwright.sync_api import expect
from support import recorded
from support.consoles import idle

pytestmark = pytest.mark.browser

CHART_TAG = "document.querySelector('link[rel=preload][as=script][href*=PlotlyChart]') !== null"


def test_a_session_opened_by_its_address_finds_all_that_it_asks_for_at_once(page, console):
    asked, refused = [], []
    page.on("request", lambda request: asked.append(request.url))
    page.on("response", lambda answer: refused.append(answer.url) if answer.status >= 400 else None)
    page.goto(console.session(recorded.FAILED))
    expect(page.get_by_role("treeitem").first).to_be_visible()
    page.wait_for_function("document.querySelector('.js-plotly-plot')?._fullLayout?.xaxis")
    idle(page)

    charts = [place for place, url in enumerate(asked) if "/PlotlyChart." in url]
    server = next(place for place, url in enumerate(asked) if url.endswith("/_stcore/health"))
    assert refused == []
    assert len(charts) == 1
    assert charts[0] < server
    assert page.url.startswith(f"{console.url}session?session={recorded.FAILED}")


def test_from_a_session_opened_by_its_address_the_other_pages_are_reached(page, console):
    page.goto(console.session(recorded.FAILED))
    expect(page.get_by_role("treeitem").first).to_be_visible()
    page.get_by_role("link", name="Sessions").first.click()

    expect(page.get_by_role("table", name="Sessions")).to_be_visible()
    expect(page).to_have_url(re.compile(f"^{re.escape(console.url)}(\\?.*)?$"))


def test_the_chart_of_the_session_that_is_opened_next_comes_while_the_list_is_read(page, console):
    page.goto(console.url)
    expect(page.get_by_role("table", name="Sessions")).to_be_visible()

    page.wait_for_function(CHART_TAG)
