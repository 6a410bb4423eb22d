"""Prices are the user's: read from a file, never made up."""

import asyncio
import re

import pytest

from handoff_console.runtime import (
    Agent,
    Edge,
    EventList,
    Flow,
    FlowError,
    Price,
    Scripted,
    hand_over,
    run,
    say,
    timed,
)
from handoff_console.runtime.errors import PricesError
from handoff_console.runtime.events import BudgetCharged, HandoffClosed
from handoff_console.runtime.prices import PriceList, read_prices

FLOW = Flow("two", [Agent("triage", edges=[Edge.transfer("billing")]), Agent("billing")])
LIST = PriceList("USD", {"small": Price(1.0, 4.0)})


def written(tmp_path, text):
    path = tmp_path / "prices.toml"
    path.write_text(text, encoding="utf-8")
    return path


def test_a_file_says_what_models_cost(tmp_path):
    path = written(
        tmp_path,
        'currency = "EUR"\n[models."openai:m"]\ninput_per_million = 2\noutput_per_million = 0.5\n',
    )

    assert read_prices(path) == PriceList("EUR", {"openai:m": Price(2.0, 0.5)})


def test_a_file_without_models_is_an_empty_list(tmp_path):
    assert read_prices(written(tmp_path, 'currency = "USD"')) == PriceList("USD", {})


# R49
def test_each_model_is_priced_separately_and_an_unknown_one_shows_tokens_alone():
    flow = LIST.applied_to(FLOW)
    models = {
        "triage": Scripted(
            {"triage": [timed(hand_over("billing", "money"), 0, tokens=(1_000, 250))]}, name="small"
        ),
        "billing": Scripted({"billing": [timed(say("Paid."), 0, tokens=(500, 50))]}, name="large"),
    }
    log = EventList()

    asyncio.run(run(flow, "Hello", sink=log, models=models))

    payloads = [event.payload for event in log.events]
    assert [p.cost for p in payloads if isinstance(p, BudgetCharged)] == [0.002, None]
    closed = [p for p in payloads if isinstance(p, HandoffClosed)]
    assert [(p.target, p.tokens_used, p.cost) for p in closed] == [
        ("triage", 1_250, 0.002),
        ("billing", 550, None),
    ]


def test_a_flow_records_the_currency_of_its_prices():
    assert b'"currency":"USD"' in LIST.applied_to(FLOW).snapshot


def test_prices_of_a_file_come_before_those_of_the_flow():
    flow = FLOW.changed(prices={"small": Price(9, 9), "own": Price(5, 5)}, currency="USD")

    assert LIST.applied_to(flow).prices == {"small": Price(1.0, 4.0), "own": Price(5, 5)}


def test_two_currencies_are_not_mixed():
    flow = FLOW.changed(prices={"own": Price(5, 5)}, currency="EUR")

    with pytest.raises(FlowError, match="its own prices are in 'EUR' and the list's in 'USD'"):
        LIST.applied_to(flow)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("currency = ", "are no TOML"),
        ("", "currency is None; it has to be three letters, such as 'USD'"),
        ('currency = "dollar"', "currency is 'dollar'"),
        ('currency = "USD"\nmodel = 1', "it has model; it may have: currency, models"),
        ('currency = "USD"\nmodels = 1', 'prices stand under [models."NAME"]'),
        (
            'currency = "USD"\n[models.m]\ninput_per_million = 1',
            "models.'m' has to have: input_per_million, output_per_million, and nothing else",
        ),
        (
            'currency = "USD"\n[models.m]\ninput_per_million = -1\noutput_per_million = 1',
            "models.'m'.input_per_million is -1; it has to be a number, 0 or more",
        ),
        (
            'currency = "USD"\n[models.m]\ninput_per_million = nan\noutput_per_million = 1',
            "models.'m'.input_per_million is nan",
        ),
        (
            'currency = "USD"\n[models.m]\ninput_per_million = true\noutput_per_million = 1',
            "models.'m'.input_per_million is True",
        ),
        (
            'currency = "USD"\n[models."m?seed=1"]\ninput_per_million = 1\noutput_per_million = 1',
            "has settings in its name; leave out what follows the '?'",
        ),
    ],
)
def test_a_file_that_cannot_be_read_says_where_and_what_is_allowed(tmp_path, text, says):
    path = written(tmp_path, text)

    with pytest.raises(PricesError, match=re.escape(says)) as refused:
        read_prices(path)

    assert str(path) in str(refused.value)


def test_a_file_that_is_not_there_is_named(tmp_path):
    with pytest.raises(PricesError, match="cannot be opened: No such file or directory"):
        read_prices(tmp_path / "prices.toml")


def test_a_file_that_is_no_text_is_named(tmp_path):
    path = tmp_path / "prices.toml"
    path.write_bytes(b"\xff\xfe")

    with pytest.raises(PricesError, match="are no TOML"):
        read_prices(path)
