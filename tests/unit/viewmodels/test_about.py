"""What is folded away about a session: labels, limits, models, and what it took."""

from dataclasses import replace

from support.logs import Log

from handoff_console.console.viewmodels.about import AboutSession, about_session
from handoff_console.store.analysis.tree import handoff_tree


def about(log: Log, **options: bool) -> AboutSession:
    return about_session(log.events, handoff_tree(log.events, body=log.body), **options)


def values(shown: AboutSession, title: str) -> dict[str, str]:
    facts = next(facts for facts in shown.facts if facts.title == title)
    return {line.name: line.value for line in facts.lines}


def worked() -> Log:
    log = Log(pool_tokens=20_000)
    started = log.sink.events[0]
    named = replace(
        started.payload,
        flow_source="flows.py:desk",
        models={"triage": "rules", "billing": "rules"},
        metadata={"label": "billing", "line": "17"},
        origin="batch",
    )
    log.sink.events[0] = started._replace(payload=named)
    log.user("Why was I charged twice?")
    triage = log.root("triage")
    log.step(triage, tokens=200)
    billing = log.transfer(triage, "billing", grant=9_000)
    log.step(billing, tokens=300)
    lost = log.call(billing, "ledger", grant=2_000)
    log.step(lost, tokens=100).close(lost, "error")
    return log.close(billing, values={"text": "Once."}).end()


def test_labels_stand_apart_from_what_is_folded():
    shown = about(worked())

    assert [(line.name, line.value) for line in shown.labels] == [
        ("label", "billing"),
        ("line", "17"),
    ]


def test_the_session_its_flow_models_and_origin_are_named():
    assert values(about(worked()), "Session") == {
        "id": worked().events[0].session_id,
        "flow": "support (flows.py:desk)",
        "origin": "one request of a file",
        "prompts": "as they stand in the flow",
        "models": "rules (2 agents)",
    }


def test_what_came_from_a_file_says_from_which():
    log = worked()
    shown = about_session(log.events, handoff_tree(log.events), source="team.jsonl")

    assert values(shown, "Session")["origin"] == "imported from team.jsonl"


def test_the_versions_that_it_ran_with_are_named():
    log = worked()
    started = log.sink.events[0]
    named = replace(started.payload, python_version="3.11.7", packages=("pydantic 2.12.0",))
    log.sink.events[0] = started._replace(payload=named)

    assert values(about(log), "Session")["ran with"] == "Python 3.11.7, pydantic 2.12.0"


def test_the_limits_of_the_request_and_of_its_first_agent_are_shown():
    limits = values(about(worked()), "Limits of the request")

    assert limits["pool"] == "20,000 tokens, 1,000 of them kept for the answer"
    assert limits["triage"].startswith("6 steps · ")
    assert limits["transfers"].endswith("never the same way twice")


def test_what_it_took_tells_what_brought_no_result():  # R82
    took = values(about(worked()), "What it took")

    assert (took["tokens"], took["model calls"]) == ("600", "3")
    assert took["transfers"] == "1 receiver read 300 tokens to begin with, 500 with the asking"
    assert took["no result"] == "100 tokens in 1 handoff without one (17%)"
    assert "wasted" not in took


def test_what_only_left_out_events_could_tell_is_not_said():
    took = values(about(worked(), is_whole=False), "What it took")

    assert took["tokens"] == "600"
    assert not {"model calls", "transfers"} & set(took)


def test_a_session_without_events_has_nothing_to_tell():
    assert about_session([], handoff_tree([])) == AboutSession((), ())


PRICED = {"name": "desk", "currency": "USD", "prices": {"rules": {"input_per_million": 1.0}}}


def test_a_cost_stands_in_its_currency_and_an_unknown_price_is_no_amount():  # R49
    log = Log(flow=PRICED).user("Help")
    triage = log.root("triage")
    log.step(triage, 100).close(triage).end()
    priced = [
        event._replace(payload=replace(event.payload, cost=0.0125))
        if event.kind == "budget_charged"
        else event
        for event in log.events
    ]
    tree = handoff_tree(priced)

    known = about_session(priced, tree, body=log.body)
    unknown = about_session(log.events, tree, body=log.body)
    without = about_session(log.events, tree, body=Log().body)

    assert values(known, "What it took")["cost"] == "0.0125 USD"
    assert values(unknown, "What it took")["cost"] == "unknown: a model has no price"
    assert "cost" not in values(without, "What it took")
    assert values(without, "What it took")["tokens"] == "100"
