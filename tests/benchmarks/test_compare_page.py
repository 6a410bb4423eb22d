"""How long a person waits for a comparison of 5,500 cases and three versions, and for a filter.

Seconds on the wall, in a real Chromium; run them on a machine that does nothing else.
"""

import re
import time
from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, expect, sync_playwright
from support.comparisons import experiment, large_experiment, record_experiment
from support.consoles import Console, idle, served

pytestmark = [pytest.mark.benchmark, pytest.mark.browser]

CASES = 5_500


@pytest.fixture(scope="module")
def desk(tmp_path_factory) -> Iterator[Console]:
    """A console with a large experiment, and a small one that warms it up."""
    path = tmp_path_factory.mktemp("large") / "large.db"
    record_experiment(path, large_experiment(CASES))
    record_experiment(path, experiment())
    with served(path) as console:
        yield console


@pytest.fixture(scope="module")
def page(chromium: str, desk: Console) -> Iterator[Page]:
    """A page that has shown the small comparison: libraries are loaded."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        opened = browser.new_page(viewport={"width": 1440, "height": 900})
        opened.goto(f"{desk.url}routing?view=compare&experiment=01kc-desk")
        expect(opened.get_by_role("table", name="Cases")).to_be_visible(timeout=60_000)
        idle(opened)
        yield opened
        browser.close()


def test_a_large_comparison_is_shown_and_filtered(page: Page, desk: Console):
    showing = re.compile(r"Showing 1 to 25 of [\d,]+")

    def shown(address: str) -> float:
        began = time.perf_counter()
        page.goto(f"{desk.url}routing?view=compare&experiment=01kc-large&{address}")
        expect(page.get_by_text(showing)).to_be_visible(timeout=60_000)
        return time.perf_counter() - began

    first = shown("a=v1&b=v2")
    again = shown("a=v1&b=v2")
    idle(page)
    began = time.perf_counter()
    page.get_by_text("All 5,500").click()
    expect(page.get_by_text("Showing 1 to 25 of 5,500 cases.")).to_be_visible()
    chip = time.perf_counter() - began
    idle(page)
    began = time.perf_counter()
    page.get_by_placeholder("Find in the cases").fill("subject 7 499")
    expect(
        page.get_by_text(re.compile(r"Showing \d+ matching|Showing 1 to 25 of \d+ m"))
    ).to_be_visible()
    words = time.perf_counter() - began

    print(
        f"\n{CASES:,} cases × 3 versions: first {first:.2f} s, again {again:.2f} s (both with the "
        f"page's own load), a filter {chip:.2f} s, words {words:.2f} s"
    )
    assert first < 30
