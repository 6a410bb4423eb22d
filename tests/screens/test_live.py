"""The live screen: what can be started, what is followed, what is said when it cannot be."""

import pytest
from support import recorded
from support.seen import component, text

from handoff_console.console import runs, state
from handoff_console.sample_runs import NAMES


@pytest.mark.usefixtures("store")
def test_every_sample_can_be_chosen_and_offers_examples(screen):
    page = screen("live")

    assert not page.exception
    assert len(page.selectbox(key=state.FLOW).options) == len(NAMES)
    assert "Why was I charged twice last month?" in text(page, "examples")
    assert text(page, "nothing").startswith("Nothing runs yet.")


@pytest.mark.usefixtures("store")
def test_a_typed_message_starts_a_session_that_is_followed(screen):
    page = screen("live")
    page.text_area(key=state.MESSAGE).set_value("Which plan am I on?")
    page.get("button_group")[0].set_value("at once")

    page = page.button[0].click().run()

    assert not page.exception
    assert "Which plan am I on?" in text(page, "header")
    assert component(page, "tree")["rows"][0][2] == "supervisor"


@pytest.mark.usefixtures("store")
def test_without_a_message_nothing_starts_and_the_page_says_why(screen):
    page = screen("live").button[0].click().run()

    assert text(page, "problem") == "Say something first, or choose an example."
    assert text(page, "nothing").startswith("Nothing runs yet.")


def test_a_store_that_takes_nothing_is_named_in_one_sentence(screen, store):
    page = screen("live")
    page.text_area(key=state.MESSAGE).set_value("Hello")
    store.chmod(0o400)
    store.write_bytes(b"no longer a store, and long enough to be looked at" * 100)

    page = page.button[0].click().run()

    assert not page.exception
    assert str(store) in text(page, "problem")


def test_a_session_from_a_link_is_followed(screen, sessions):
    page = screen("live", run=recorded.FAILED)

    assert not page.exception
    assert "billing hit its step limit" in text(page, "header")
    assert text(page, "answer") == "Answer You were charged once."


@pytest.mark.usefixtures("store")
def test_a_session_that_is_not_there_is_nothing(screen):
    assert text(screen("live", run="gone"), "nothing").startswith("Nothing runs yet.")


def test_the_first_sample_begins_with_its_first_message():
    assert runs.first_message() == "Why was I charged twice last month?"
