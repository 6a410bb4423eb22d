"""Values that a record leaves out, typed into a real browser: hidden, not lost, written nowhere."""

import json
import re

import pytest
from playwright.sync_api import Page, expect
from support.command import program
from support.consoles import idle, served
from support.tills import CARD, MESSAGE, TILL, lines, with_till

from handoff_console.console import theme
from handoff_console.store.db import open_reader

pytestmark = pytest.mark.browser

FLOW = "till.py:flow"


@pytest.fixture
def killed(tmp_path):
    """A console with a session whose process was killed, and that session."""
    store = tmp_path / "till.db"
    with_till(tmp_path)
    program(tmp_path, "run", FLOW, "--message", MESSAGE, "--db", store, DIES="looking")
    with open_reader(store) as db:
        session = str(db.execute("select session_id from session_keys").fetchone()[0])
    with served(store, [FLOW]) as console:
        yield console, session


def test_a_value_is_typed_unseen_and_the_session_goes_on_with_it(page: Page, killed, tmp_path):
    console, session = killed
    page.goto(console.session(session))
    field = page.get_by_label("card number", exact=True)
    expect(field).to_have_attribute("type", "password")
    idle(page)

    field.fill("4111")
    field.press("Tab")  # to the eye that shows it: what was typed has to last
    page.get_by_role("button", name="Resume this session").click()
    expect(page.get_by_text(re.compile("^What is given for card number"))).to_be_visible()
    idle(page)
    field.fill(CARD)
    field.press("Enter")

    expect(page.get_by_role("status").first).to_contain_text("clerk answered")
    expect(page.get_by_role("button", name="Resume this session")).to_have_count(0)
    assert lines(tmp_path / "charged.txt") == [f"{CARD} 30"]
    assert not any(CARD.encode() in path.read_bytes() for path in tmp_path.glob("till.db*"))


@pytest.mark.parametrize("page", ["dark"], indirect=True)
def test_the_button_below_the_values_has_dark_words_on_its_light_ground(page: Page, killed):
    console, session = killed
    page.goto(console.session(session))
    words = page.get_by_role("button", name="Resume this session").locator("p")
    expect(words).to_be_visible()

    expect(words).to_have_css("color", rgb(theme.DARK_BACKGROUND))


@pytest.fixture
def waiting(tmp_path):
    """A console with a session that waits for a yes to a charge, of a process that is gone."""
    store = tmp_path / "till.db"
    till = TILL.replace("effect=Effect.WRITE", "effect=Effect.EXTERNAL")
    (tmp_path / "till.py").write_text(till)
    run = program(tmp_path, "run", FLOW, "--message", MESSAGE, "--db", store, "--json")
    with served(store, [FLOW]) as console:
        yield console, json.loads(run.out)["session_id"]


def test_the_enter_key_in_the_field_of_a_value_is_no_yes_to_the_act(page: Page, waiting, tmp_path):
    console, session = waiting
    page.goto(console.session(session))
    field = page.get_by_label("card number", exact=True)
    expect(field).to_have_attribute("type", "password")
    idle(page)

    field.fill(CARD)
    field.press("Enter")
    idle(page)
    before = lines(tmp_path / "charged.txt")
    page.get_by_role("button", name="Yes, send exactly this").click()

    expect(page.get_by_role("status").first).to_contain_text("clerk answered")
    assert before == []
    assert lines(tmp_path / "charged.txt") == [f"{CARD} 30"]
    assert not any(CARD.encode() in path.read_bytes() for path in tmp_path.glob("till.db*"))


def rgb(color: str) -> str:
    red, green, blue = bytes.fromhex(color.removeprefix("#"))
    return f"rgb({red}, {green}, {blue})"
