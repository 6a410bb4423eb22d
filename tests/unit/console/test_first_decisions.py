"""What counts as the first decision, with models that answer in every way."""

import asyncio
from pathlib import Path

import pytest

from handoff_console.console.commands.first_decisions import decide
from handoff_console.console.commands.flows import LoadedFlow
from handoff_console.console.commands.routed import side
from handoff_console.runtime import (
    Agent,
    Edge,
    Effect,
    Flow,
    ModelError,
    ModelReply,
    Tool,
    TransientModelError,
    delegate,
    hand_over,
    say,
    together,
    use,
)
from handoff_console.store.analysis.comparison.cases import Expect, RouteCase
from handoff_console.store.experiment_forms import Outcome, decided_of

BILLING = RouteCase("c", "Why was I charged?", ("billing",))
HELLO = RouteCase("c", "Hello", expect=Expect.DIRECT)
MOON = RouteCase("c", "How far is the moon?", expect=Expect.ABSTAIN)
acts: list[str] = []


def look_up(name: str) -> str:
    """Look a customer up."""
    acts.append(f"looked {name} up")
    return "4812"


def refund(cents: int) -> str:
    """Pay money back."""
    acts.append(f"refunded {cents}")
    return "done"


def decided(model, case=BILLING) -> Outcome:
    acts.clear()
    flow = Flow(
        "desk",
        [
            Agent(
                "triage",
                "Hand each message to its agent.",
                tools=[Tool(look_up), Tool(refund, effect=Effect.WRITE)],
                edges=[
                    Edge.transfer("billing", "Charges."),
                    Edge.transfer("orders", "Parcels."),
                    Edge.transfer("human", "Whatever nobody else is for."),
                ],
                model=model,
                may_write=True,
            ),
            Agent("billing", model=never_asked),
            Agent("orders", model=never_asked),
        ],
    )
    chosen = side(LoadedFlow(flow, "desk", Path()), ".", "own", Path("none.db"), None)
    return asyncio.run(decide(chosen, case))


def never_asked(call):
    raise AssertionError("only the router is asked")


def words(model, case=BILLING) -> str:
    outcome = decided(model, case)
    return decided_of(case, outcome).value


def test_a_handoff_is_decided_and_nobody_else_is_asked():
    outcome = decided(lambda call: hand_over("billing", "charges"))

    assert (outcome.agents, outcome.invalid, outcome.problem) == (("billing",), False, "")
    assert outcome.tokens > 0
    assert outcome.tokens_estimated


def test_several_handoffs_are_one_decision():
    both = lambda call: together(hand_over("orders", "a"), hand_over("billing", "b"))  # noqa: E731

    assert decided(both).agents == ("orders", "billing")


@pytest.mark.parametrize(
    "reply", [hand_over("sales", "they ask"), delegate("billing", "Look it up")]
)
def test_who_may_not_be_asked_is_invalid(reply):
    assert words(lambda call: reply) == "invalid"


@pytest.mark.parametrize(
    "text",
    [
        "I'll transfer you to billing now.",
        "Let me connect you with our billing team.",
        "Transferring you to billing…",
        "I will hand this over to a colleague.",
    ],
)
def test_a_handoff_in_words_alone_is_verbal(text):
    assert words(lambda call: say(text)) == "verbal"
    assert words(lambda call: say(text), HELLO) == "verbal"


def test_an_answer_is_direct_where_that_is_wanted_and_none_elsewhere():
    def answers(call):
        return say("You paid twice because of a proration.")

    assert words(answers) == "none"
    assert words(answers, HELLO) == "direct"
    assert words(answers, MOON) == "abstain"


def test_a_rule_that_matches_nothing_does_not_know():
    assert words(lambda call: None) == "abstain"


def test_a_person_is_no_agent_of_the_flow():
    def turns_to_a_person(call):
        return hand_over("human", "nobody is for it")

    assert words(turns_to_a_person, MOON) == "abstain"
    assert words(turns_to_a_person) == "abstain"


def test_what_is_looked_up_first_is_no_decision():
    def looks_first(call):
        if call.result_of("look_up") is None:
            return use("look_up", name="Lund")
        return hand_over("billing", "found")

    outcome = decided(looks_first)

    assert outcome.agents == ("billing",)
    assert acts == ["looked Lund up"]


def test_a_router_that_would_act_is_stopped_before_it_does():
    outcome = decided(lambda call: use("refund", cents=900))

    assert (outcome.agents, outcome.problem) == ((), "")
    assert acts == []
    assert words(lambda call: use("refund", cents=900)) == "none"


def test_a_model_that_fails_has_made_no_decision():
    def fails(call):
        raise ModelError("the key is wrong")

    outcome = decided(fails)

    assert "the key is wrong" in outcome.problem
    assert (outcome.agents, outcome.tries) == ((), 1)


def test_an_error_that_may_pass_is_tried_once_more_and_said():
    tried = []

    def fails_once(call):
        tried.append(1)
        if len(tried) == 1:
            raise TransientModelError("busy")
        return hand_over("billing", "charges")

    outcome = decided(fails_once)

    assert (outcome.agents, outcome.tries, outcome.problem) == (("billing",), 2, "")


def test_an_agent_of_ones_own_routes_by_the_tool_it_asks_for():
    def own(agent, messages):
        assert messages[-1]["content"].endswith("Why was I charged?")
        return ModelReply(
            tool_calls=({"id": "1", "name": "transfer_to_billing", "arguments": {"reason": "x"}},)
        )

    assert decided(own).agents == ("billing",)


@pytest.mark.parametrize("text", ["Why was I charged?", "Where is it?", "my parcel was charged"])
def test_a_router_that_scores_decides_alike_with_and_without_a_session(text):
    from handoff_console.console.commands import first_decisions

    chosen = side(
        LoadedFlow(scoring_flow(), "desk", Path()), ".", "offline:bm25", Path("none.db"), None
    )
    case = RouteCase("c", text, ("billing",))

    alone = asyncio.run(decide(chosen, case))
    inside, _ = asyncio.run(first_decisions._decided(chosen, case))

    assert (alone.agents, alone.knows, alone.scores) == (inside.agents, inside.knows, inside.scores)
    assert abs(alone.tokens - inside.tokens) < 0.2 * inside.tokens


def scoring_flow() -> Flow:
    edges = [
        Edge.transfer("billing", "Charges, charged."),
        Edge.transfer("orders", "Parcel, charged."),
    ]
    answers = [Agent(name, model=never_asked) for name in ("billing", "orders")]
    return Flow("desk", [Agent("triage", "Hand each message on.", edges=edges), *answers])
