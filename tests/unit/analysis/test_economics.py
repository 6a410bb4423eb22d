"""What sessions and transfers cost, from hand-made logs and from the recorded chain."""

import pytest
from support.logs import Log
from support.samples import shipped

from handoff_console.runtime import EventList, Flow, Price, Scripted, Usage, run, say
from handoff_console.runtime.agents import Agent, Edge
from handoff_console.runtime.clock import VirtualClock, run_virtual
from handoff_console.runtime.models import ModelReply, hand_over, timed
from handoff_console.store.analysis.economics import (
    Ratios,
    Totals,
    TransferCost,
    pays_off_at,
    ratios,
    tokens_by_step,
    totals,
    transfer_costs,
)


def spent(reply: ModelReply, tokens_in: int, tokens_out: int) -> ModelReply:
    return timed(reply, 2.0, tokens=(tokens_in, tokens_out))


def chain(prices=None) -> EventList:
    flow = Flow(
        "f",
        [Agent("triage", edges=[Edge.transfer("billing", "B.")]), Agent("billing")],
        model=Scripted(
            {
                "triage": [spent(hand_over("billing", "it is billing's"), 100, 20)],
                "billing": [spent(say("done"), 60, 5)],
            }
        ),
        prices=prices or {},
    )
    sink = EventList()
    run_virtual(run(flow, "hello", sink=sink, clock=VirtualClock(), session_id="s"))
    return sink


def test_a_session_s_time_tokens_and_money_are_added_up():
    sink = chain({"scripted": Price(10.0, 100.0)})

    found = totals(sink.events)

    assert found == Totals(4.0, 185, pytest.approx((160 * 10 + 25 * 100) / 1e6), 2, 1)


def test_a_model_without_a_price_makes_the_cost_unknown():
    assert totals(chain().events).cost is None


def test_nothing_took_nothing():
    assert totals([]) == Totals(0.0, 0, 0.0, 0, 0)


def test_ratios_say_nothing_where_there_is_nothing_to_divide_by():
    some, none = Totals(10.0, 200, 1.0, 1, 1), Totals(0.0, 0, None, 0, 0)

    assert ratios(some, Totals(5.0, 100, 4.0, 1, 1)) == Ratios(2.0, 2.0, 0.25)
    assert ratios(some, none) == Ratios(None, None, None)


def test_a_transfer_costs_the_call_that_asked_for_it_and_what_its_receiver_first_read():  # R82
    sink = chain()

    (cost,) = transfer_costs(sink.events)

    assert cost == TransferCost("h2", "triage", "billing", 120, 60, (185,))
    assert cost.overhead_tokens == 180
    assert tokens_by_step(sink.events, "h2") == (65,)
    assert tokens_by_step(sink.events, "h9") == ()


def test_a_transfer_that_was_refused_or_never_answered_costs_nothing_here():
    log = Log().user("Go on")
    root = log.root("triage")
    log.step(root)
    log.call(root, "nobody", refused="target")
    log.transfer(root, "billing", reason="theirs")

    assert transfer_costs(log.events) == ()


def test_it_pays_off_at_the_step_from_which_on_it_has_used_less():
    lean, other = (200, 350, 500), (195, 352, 640, 900)

    assert pays_off_at(lean, other) == 2
    assert pays_off_at((100, 300, 500), (195, 280, 640)) == 3
    assert pays_off_at((100, 300), (195, 400)) == 1
    assert pays_off_at(lean, lean) is None
    assert pays_off_at((), other) is None


def test_it_has_not_paid_off_where_it_used_less_for_a_while_only():
    assert pays_off_at((20, 920), (100, 200)) is None


def test_a_sliced_hand_over_pays_off_at_the_fifth_step_and_one_with_all_history_never_does():  # R82
    (sliced,) = transfer_costs(shipped("diagnosis-sliced").events)
    (full,) = transfer_costs(shipped("diagnosis-full-history").events)
    alone = shipped("diagnosis-one-agent").events
    last = [e.handoff_id for e in alone if e.kind == "handoff_opened"][-1]
    one_agent = tokens_by_step(alone, last)

    assert len(sliced.tokens_by_step) == len(full.tokens_by_step) == len(one_agent) == 8
    assert pays_off_at(sliced.tokens_by_step, one_agent) == 5
    assert pays_off_at(full.tokens_by_step, one_agent) is None


def test_the_slice_is_read_again_in_each_step_instead_of_the_talk():  # R60 R66 R82
    (sliced,) = transfer_costs(shipped("diagnosis-sliced").events)
    (full,) = transfer_costs(shipped("diagnosis-full-history").events)

    assert (sliced.asking_tokens, full.asking_tokens) == (552, 552)
    assert (sliced.first_prompt_tokens, full.first_prompt_tokens) == (328, 433)
    gains = [
        its - mine for mine, its in zip(sliced.tokens_by_step, full.tokens_by_step, strict=True)
    ]
    assert gains == pytest.approx([105 * step for step in range(1, 9)], abs=4)


def test_usage_that_was_estimated_counts_like_any_other():
    flow = Flow(
        "f", [Agent("one", model=lambda call: ModelReply(text="x", usage=Usage(7, 1, False)))]
    )
    sink = EventList()
    run_virtual(run(flow, "hello", sink=sink, clock=VirtualClock(), session_id="s"))

    assert totals(sink.events).tokens == 8
