"""Fifteen competitors: a worker each against one agent, from the events alone."""

from dataclasses import replace

import pytest
from support.samples import Ran, ran, shipped

from handoff_console.runtime import EventList, Rules, say
from handoff_console.sample_runs import sample
from handoff_console.sample_runs.competitors import COMPETITORS, read_page, search_web
from handoff_console.sample_runs.research import LARGE, PRICES, SMALL
from handoff_console.store.analysis.economics import ratios, totals

HIDDEN = {name for name, facts in COMPETITORS.items() if facts.shown == "nowhere"}


@pytest.fixture(scope="module")
def together() -> EventList:
    return shipped("research-a-worker-each")


@pytest.fixture(scope="module")
def alone() -> EventList:
    return shipped("research-one-agent")


def payloads(sink: EventList, kind: str):
    return [event.payload for event in sink.events if event.kind == kind]


def answer_of(sink: EventList):
    return sink.body(payloads(sink, "session_closed")[0].answer)["data"]


def right_prices(sink: EventList) -> int:
    prices = answer_of(sink)["prices"]
    return sum(prices[name] == facts.price_eur for name, facts in COMPETITORS.items())


def requests(sink: EventList):
    """The workers' requests in order: reason, inputs, task."""
    asked = [event for event in sink.events if event.kind == "handoff_requested"][1:]
    bodies = [sink.body(event.payload.request) for event in asked]
    return [(e.payload.reason, b["inputs"], b["task"]) for e, b in zip(asked, bodies, strict=True)]


def test_seventeen_workers_of_at_most_eight_steps_make_the_table(together):  # R96
    closed = [e.payload for e in together.events if e.kind == "handoff_closed" and e.parent_id]
    limits = [e.payload.max_steps for e in together.events if e.kind == "handoff_opened"][1:]

    assert len(COMPETITORS) == 15
    assert len(closed) == 17
    assert {end.status for end in closed} == {"ok"}
    assert set(limits) == {8}
    assert max(end.steps_used for end in closed) <= 8


def test_two_are_sent_back_and_each_second_request_names_its_first(together):  # R47 R96
    first, second = requests(together)[:15], requests(together)[15:]

    assert [inputs["company"] for _, inputs, _ in first] == list(COMPETITORS)
    assert {inputs["company"] for _, inputs, _ in second} == HIDDEN
    for reason, inputs, task in second:
        assert reason == f"second round: the first one found no price of {inputs['company']}"
        assert inputs["missing"] == ["price_eur"]
        assert inputs["company"] in task
        assert sum(earlier["company"] == inputs["company"] for _, earlier, _ in first) == 1


def test_the_second_round_begins_when_the_whole_first_one_is_back(together):  # R47
    opened = [e for e in together.events if e.kind == "handoff_opened" and e.parent_id]
    closed = {e.handoff_id: e.seq for e in together.events if e.kind == "handoff_closed"}

    assert max(closed[e.handoff_id] for e in opened[:15]) < min(e.seq for e in opened[15:])


def test_every_worker_returns_json_with_the_addresses_it_read(together):  # R15 R96
    results = [
        together.body(e.payload.result)["data"]
        for e in together.events
        if e.kind == "handoff_closed" and e.parent_id
    ]

    assert all(result["sources"] for result in results)
    assert all(url.startswith("https://") for result in results for url in result["sources"])
    assert all(set(result) >= {"company", "plan", "price_eur", "contract"} for result in results)


def test_the_answer_is_a_table_with_a_row_and_a_source_for_each(together):  # R96
    header, *rows = answer_of(together)["text"].splitlines()

    assert header.split(" | ")[0] == "company"
    assert [row.split(" | ")[0] for row in rows] == list(COMPETITORS)
    sources = {row.split(" | ")[0]: row.rpartition(" | ")[2] for row in rows}
    assert {name for name, url in sources.items() if not url.endswith("/pricing")} == HIDDEN
    assert "Glimmen | Enterprise | 61 | 150 | 3 years | tenders.example/glimmen" in rows


def test_workers_are_five_times_as_fast_for_four_times_the_tokens(together, alone):  # R83 R96
    many, one = totals(together.events), totals(alone.events)

    assert (round(one.seconds / 60), round(many.seconds / 60)) == (24, 5)
    assert round(ratios(one, many).seconds or 0, 1) == 5.1
    assert round(ratios(many, one).tokens or 0, 1) == 3.8
    assert round(ratios(many, one).cost or 0, 1) == 0.7
    assert (many.handoffs, one.handoffs) == (17, 0)


def test_side_by_side_the_workers_have_more_prices_right(together, alone):  # R83 R96
    assert right_prices(together) == 15
    assert right_prices(alone) == 13
    wrong = {
        name
        for name, price in answer_of(alone)["prices"].items()
        if price != COMPETITORS[name].price_eur
    }
    assert wrong == HIDDEN


def test_a_cheaper_model_does_the_legwork_and_each_is_priced_apart(together):  # R49
    models = {p.agent: p.model for p in payloads(together, "agent_activated")}
    assert models == {"lead": LARGE, "researcher": SMALL}

    cost = dict.fromkeys(PRICES, 0.0)
    at = dict.fromkeys(PRICES, 0)
    by_handoff = {
        e.handoff_id: e.payload.model for e in together.events if e.kind == "model_called"
    }
    for event in together.events:
        if event.kind == "budget_charged":
            cost[by_handoff[event.handoff_id]] += event.payload.cost
        if event.kind == "model_replied":
            price = PRICES[by_handoff[event.handoff_id]]
            use = event.payload
            at[by_handoff[event.handoff_id]] += (
                use.input_tokens * price.input_per_million
                + use.output_tokens * price.output_per_million
            )
    assert cost == pytest.approx({model: micro / 1e6 for model, micro in at.items()})
    assert cost[SMALL] < sum(cost.values())


def with_researcher(rule) -> Ran:
    flow = sample("research").flow
    agents = [
        replace(agent, model=Rules(rule)) if agent.name == "researcher" else agent
        for agent in flow.agents
    ]
    return ran(flow.changed(agents=agents), flow.examples[0])


def test_workers_that_find_nothing_are_sent_back_once_as_far_as_the_cap_allows():  # R21 R74
    session = with_researcher(lambda call: say("no idea"))

    closed = [e for e in session.events("handoff_closed") if e.parent_id]
    assert len(closed) == sample("research").flow.max_workers == 20
    assert [e.payload.rule for e in session.events("handoff_rejected")] == ["workers"] * 10
    assert session.result.result.notes.startswith("no price found: Aldermere, Brayford")


def test_the_pages_and_the_search_know_nobody_else():
    with pytest.raises(Exception, match=r"nothing was found about 'Quillmore'"):
        search_web("Quillmore")
    with pytest.raises(Exception, match=r"there is no page https://quillmore\.example/pricing"):
        read_page("https://quillmore.example/pricing")


@pytest.mark.parametrize("name", sorted(HIDDEN))
def test_a_price_that_is_published_nowhere_stands_in_a_public_tender_alone(name):
    own = [read_page(url)["text"] for url in search_web(name)]
    (tender,) = search_web(name, "public tender")

    assert not any("EUR per seat" in text for text in own)
    assert f"{COMPETITORS[name].price_eur:g} EUR per seat and month" in read_page(tender)["text"]
