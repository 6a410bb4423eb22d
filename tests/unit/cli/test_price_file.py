"""Prices beside the store: read by every way to run a flow, and never made up."""

from contextlib import closing

import pytest
from support.mailboxes import MAIL, mailbox
from support.threads import joined

from handoff_console.console.commands.conversations import start_run
from handoff_console.console.commands.flows import load_flow
from handoff_console.console.commands.price_file import priced, prices_for
from handoff_console.console.commands.resuming import Resumption, resume_session
from handoff_console.console.commands.running import run_once
from handoff_console.console.commands.saying import decide
from handoff_console.runtime.errors import PricesError
from handoff_console.store import reader
from handoff_console.store.db import open_reader, open_store

PRICES = """
currency = "EUR"

[models.rules]
input_per_million = 1000.0
output_per_million = 2000.0
"""


@pytest.fixture
def store(tmp_path):
    path = tmp_path / "handoff.db"
    open_store(path, create=True).close()
    return path


def costs(store, session_id):
    with closing(open_reader(store)) as db:
        events = reader.load_events(db, session_id)
    return [event.payload.cost for event in events if event.kind == "budget_charged"]


def test_a_session_started_in_the_console_is_priced_by_the_file_beside_the_store(store):
    (store.parent / "prices.toml").write_text(PRICES)

    session_id = start_run(store, "frontdesk", "I need a refund", speed=0)
    joined(f"session-{session_id}")

    assert all(cost > 0 for cost in costs(store, session_id))


def test_without_a_price_there_are_tokens_and_no_cost(store):
    session_id = start_run(store, "frontdesk", "I need a refund", speed=0)
    joined(f"session-{session_id}")

    assert set(costs(store, session_id)) == {None}


def test_a_file_that_cannot_be_read_starts_nothing(store):
    (store.parent / "prices.toml").write_text("currency = 'euro'")

    with pytest.raises(PricesError, match="currency is 'euro'; it has to be three letters"):
        start_run(store, "frontdesk", "I need a refund", speed=0)


def test_a_session_that_goes_on_keeps_the_prices_it_began_with(store, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    mailbox(tmp_path, MAIL.replace("def clerk(call):", "def rules(call):").replace(
        "model=clerk", "model=rules"))  # fmt: skip
    (tmp_path / "prices.toml").write_text(PRICES)
    flow = priced(load_flow("mail.py:flow").flow, store)
    session_id = run_once(store, flow, "Write to bob.", source="mail.py:flow").session_id
    (tmp_path / "prices.toml").write_text(PRICES.replace("1000.0", "1.0"))
    decide(store, session_id, approved=False)

    resume_session(store, session_id, Resumption(named="mail.py:flow"))

    first, second = costs(store, session_id)
    assert first > 0.01
    assert second > 0.01


def test_prices_that_are_named_come_before_those_beside_the_store(store, tmp_path):
    (tmp_path / "prices.toml").write_text(PRICES)
    (tmp_path / "other.toml").write_text(PRICES.replace("EUR", "USD"))

    assert prices_for(store).currency == "EUR"
    assert prices_for(store, str(tmp_path / "other.toml")).currency == "USD"
