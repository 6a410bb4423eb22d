"""Routing by the words of the descriptions: a decision, or an honest "I do not know"."""

import math

import pytest
from support.sessions import play

from handoff_console.runtime import Agent, Edge, Flow, Limits, Status, answer, say, use
from handoff_console.runtime.models import Ranking, decide
from handoff_console.runtime.models.bm25 import Score, words

DESCRIPTIONS = {
    "billing": "Invoices, charges, refunds and payment methods.",
    "support": "Login problems, errors and outages of the app.",
    "sales": "Prices, quotes and new contracts.",
}


def triage(threshold: float = 0.0, *, edge=Edge.transfer, worker=None, **flow) -> Flow:
    worker = worker or (lambda call: say(f"{call.agent.name} here"))
    return Flow(
        "support",
        agents=[
            Agent(
                "triage",
                edges=[edge(name, text) for name, text in DESCRIPTIONS.items()],
                model="offline:bm25",
                threshold=threshold,
            ),
            *(Agent(name, model=worker) for name in DESCRIPTIONS),
        ],
        **flow,
    )


def test_the_agent_whose_description_fits_best_gets_the_request():
    played = play(triage(), "I want a refund for two charges")

    assert played.routes() == ["user → triage", "triage → billing"]
    assert played.of("handoff_requested")[1].reason == "matched: refund, charge (score 1.91)"


def test_the_score_is_that_of_okapi_bm25():
    ranking = Ranking({"a": "red fox", "b": "red red dog cat"})

    best = ranking.scores("red dog")[0]

    mean = 3
    weight = 1.2 * (1 - 0.75 + 0.75 * 4 / mean)
    red = math.log(1 + (2 - 2 + 0.5) / (2 + 0.5)) * 2 * 2.2 / (2 + weight)
    dog = math.log(1 + (2 - 1 + 0.5) / (1 + 0.5)) * 1 * 2.2 / (1 + weight)
    assert (best.target, best.matched) == ("b", ("red", "dog"))
    assert best.score == round(red + dog, 6)


def test_nothing_in_common_is_no_decision():
    played = play(triage(), "Bonjour tout le monde")

    assert played.routes() == ["user → triage"]
    assert played.result.answer == (
        "I do not know who should take this: no agent's description has any of its words."
    )


def test_a_tie_is_no_decision_and_never_takes_the_first_agent():
    flow = Flow(
        "two",
        agents=[
            Agent("triage", edges=[Edge.transfer("b"), Edge.transfer("a")], model="offline:bm25"),
            Agent("a", description="Refunds.", model=lambda call: say("a")),
            Agent("b", description="Refunds.", model=lambda call: say("b")),
        ],
    )

    played = play(flow, "a refund please")

    assert played.routes() == ["user → triage"]
    assert played.result.answer == ("I do not know who should take this: a and b fit equally well.")


def test_under_the_threshold_is_no_decision():
    played = play(triage(threshold=5.0), "I want a refund")

    assert played.routes() == ["user → triage"]
    assert played.result.answer == (
        "I do not know who should take this: billing fits best, but under the threshold."
    )


@pytest.mark.parametrize(
    ("scores", "threshold", "target"),
    [
        ([], 0.0, None),
        ([0.0], 0.0, None),
        ([2.0, 1.0], 2.0, "0"),
        ([2.0, 1.0], 2.1, None),
        ([2.0, 2.0], 0.0, None),
        ([0.0, 0.0], -1.0, None),
    ],
)
def test_a_decision_needs_a_score_above_nothing_at_the_threshold_and_alone(
    scores, threshold, target
):
    ranked = [Score(str(place), score, ()) for place, score in enumerate(scores)]

    decided = decide(ranked, threshold)

    assert (decided and decided.target) == target


def test_an_agent_without_edges_does_not_know():
    flow = Flow("one", agents=[Agent("solo", model="offline:bm25")])

    assert play(flow).result.answer.startswith("I do not know who should take this")


def test_examples_count_as_words_of_the_description():
    flow = Flow(
        "two",
        agents=[
            Agent("triage", edges=[Edge.transfer("a"), Edge.transfer("b")], model="offline:bm25"),
            Agent("a", description="One.", model=lambda call: say("a")),
            Agent(
                "b", description="Two.", examples=["my parcel is lost"], model=lambda c: say("b")
            ),
        ],
    )

    assert play(flow, "where is my parcel?").result.answer == "b"


@pytest.mark.parametrize(
    ("text", "counted"),
    [
        ("I was charged TWICE for the invoices", ["charged", "twice", "invoice"]),
        ("two companies, one status, this bus", ["two", "company", "one", "status", "bus"]),
        ("Zürich's café_au_lait", ["zürich", "café", "au", "lait"]),
        ("", []),
    ],
)
def test_words_are_lower_case_without_stop_words_and_plural_endings(text, counted):
    assert words(text) == counted


def test_an_edge_that_calls_is_called_with_the_message_as_its_task():
    played = play(triage(edge=Edge.call), "I want\na refund")

    assert played.of("handoff_requested")[1].reason.startswith("matched: refund")
    requested = played.of("handoff_requested")[1].request
    assert played.sink.body(requested)["task"] == "I want a refund"
    assert (played.status, played.result.answer) == (Status.OK, "billing here")


def test_a_refused_handoff_is_an_error_that_says_so():
    played = play(triage(pool_tokens=5_000), "I want a refund")

    assert played.status is Status.ERROR
    assert played.result.answer.startswith(
        "The handoff was refused: limit_reached: 8000 tokens cannot be reserved for"
    )


def test_what_a_worker_did_not_find_stays_not_found():
    flow = triage(edge=Edge.call, worker=lambda call: answer("not_found", "no such charge"))

    played = play(flow, "I want a refund")

    assert (played.status, played.result.answer) == (Status.NOT_FOUND, "no such charge")


def test_half_an_answer_is_called_incomplete():  # R14
    def edge(target: str, text: str) -> Edge:
        return Edge.call(target, text, limits=Limits(max_steps=1))

    flow = triage(edge=edge, worker=lambda call: use("nothing"))

    played = play(flow, "I want a refund")

    assert played.result.answer == (
        'This is incomplete (step cap hit: 1 step). Found so far: {"gathered":[]}'
    )
