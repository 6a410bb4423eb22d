"""Acts on the world: each once, and none again where nobody knows whether it happened."""

import asyncio
from collections.abc import Callable
from typing import Any

import pytest
from support.sessions import play

from handoff_console.runtime import (
    Agent,
    Effect,
    EventList,
    Flow,
    OutcomeUnknown,
    Recording,
    Redaction,
    Tool,
    ToolError,
    TransientToolError,
    resume,
    say,
    together,
    use,
)
from handoff_console.runtime.contract import Limits
from handoff_console.runtime.ledger import MemoryLedger

CARDS = ("4111 1111 1111 1111", "5500 0000 0000 0004")
UNKNOWN = "nobody knows whether it did its work"


def desk(function: Callable[..., Any], model: Any, **tool: Any) -> Flow:
    """Return a flow of one agent that may act."""
    acts = Tool(function, name="act", effect=Effect.WRITE, **tool)
    return Flow("desk", [Agent("clerk", tools=[acts], may_write=True, model=model)])


def twice(**arguments: Any) -> Any:
    """Return a model that asks for the same act until it has asked twice."""
    return lambda call: use("act", **arguments) if len(call.results) < 2 else say("done")


# Outcomes that nobody knows


@pytest.mark.parametrize(
    ("raised", "error"),
    [
        (TimeoutError("no answer"), f"TimeoutError: no answer; {UNKNOWN}"),
        (ConnectionResetError(), f"ConnectionResetError; {UNKNOWN}"),
        (KeyError("id"), f"KeyError: 'id'; {UNKNOWN}"),
        (OutcomeUnknown("the bank did not say"), "the bank did not say"),
    ],
)
def test_an_act_that_broke_off_may_have_happened_and_is_not_tried_again(raised, error):
    tried = []

    async def act(what: str) -> None:
        tried.append(what)
        raise raised

    played = play(desk(act, twice(what="pay")))

    assert tried == ["pay"]
    assert played.one("tool_returned").error == error
    assert not played.one("tool_returned").transient
    denied = played.one("tool_denied")
    assert (denied.rule, denied.tool) == ("outcome_unknown", "act")


@pytest.mark.parametrize("raised", [ToolError("no such bill"), TransientToolError("busy")])
def test_an_act_that_says_it_did_nothing_may_be_tried_again(raised):
    tried = []

    async def act(what: str) -> str:
        tried.append(what)
        if len(tried) == 1:
            raise raised
        return "paid"

    played = play(desk(act, twice(what="pay")))

    assert tried == ["pay", "pay"]
    assert [payload.error for payload in played.of("tool_returned")] == [str(raised), ""]
    assert played.count("tool_denied") == 0


def test_a_read_that_times_out_is_asked_again():
    tried = []

    async def look() -> str:
        tried.append(1)
        if len(tried) == 1:
            raise TimeoutError("no answer")
        return "found"

    def model(call):
        return use("look") if len(call.results) < 2 else say("done")

    flow = Flow("f", [Agent("a", tools=[Tool(look)], model=model)])
    played = play(flow)

    first = played.of("tool_returned")[0]
    assert (first.error, first.transient) == ("TimeoutError: no answer", True)
    assert len(tried) == 2


def test_an_act_past_its_deadline_stays_unknown_until_it_returns():
    ledger = MemoryLedger()
    ended = asyncio.Event()

    async def act(what: str) -> str:
        await ended.wait()
        return "paid"

    limits = Limits(max_steps=4, max_tokens=4_000, deadline_seconds=2)
    flow = desk(act, twice(what="pay")).changed(limits=limits)
    played = play(flow, ledger=ledger)

    key = played.one("tool_called").idempotency_key
    assert played.one("tool_returned").late
    assert ledger.is_open(key)
    assert ledger.find(key) is None


# Secrets in an act


def payments(paid: list[str]) -> Callable[..., Any]:
    async def act(card: str) -> str:
        paid.append(card)
        return f"paid {len(paid)}"

    return act


def both_cards(call):
    if call.results:
        return say(" and ".join(call.results))
    return together(use("act", card=CARDS[0]), use("act", card=CARDS[1]))


def test_two_secrets_that_look_alike_once_redacted_are_two_acts():
    paid: list[str] = []

    played = play(desk(payments(paid), both_cards))

    assert sorted(paid) == sorted(CARDS)
    keys = [payload.idempotency_key for payload in played.of("tool_called")]
    arguments = [payload.arguments for payload in played.of("tool_called")]
    assert len(set(keys)) == 2
    assert len(set(arguments)) == 1
    assert not any(payload.from_ledger for payload in played.of("tool_returned"))
    written = played.everything_written()
    assert not any(card in written for card in CARDS)


def test_an_act_that_is_not_done_again_is_answered_as_the_first_time():
    paid: list[str] = []
    ledger = MemoryLedger()

    async def act(card: str) -> list[str]:
        paid.append(card)
        return paid

    def first_card(call):
        return say(f"paid {len(call.result_of('act'))}") if call.results else use("act", card="a")

    assert play(desk(act, first_card), ledger=ledger).result.answer == "paid 1"
    paid.append("of somebody else")
    assert play(desk(act, first_card), ledger=ledger).result.answer == "paid 1"


def test_the_same_secret_in_a_second_attempt_is_the_same_act():
    paid: list[str] = []
    ledger = MemoryLedger()

    def first_card(call):
        return say("done") if call.results else use("act", card=CARDS[0])

    first = play(desk(payments(paid), first_card), ledger=ledger)
    again = play(desk(payments(paid), first_card), ledger=ledger)

    assert paid == [CARDS[0]]
    assert again.one("tool_returned").from_ledger
    keys = {played.one("tool_called").idempotency_key for played in (first, again)}
    assert len(keys) == 1


def test_what_a_key_of_a_secret_is_made_from_cannot_be_tried_out_without_the_stores_key():
    keys = []
    for sink in (EventList(b"one"), EventList(b"other"), EventList(b"one")):
        played = play(desk(payments([]), twice(card=CARDS[0])), sink=sink)
        keys.append(played.of("tool_called")[0].idempotency_key)

    assert keys[0] == keys[2] != keys[1]


def cut_after(played: Any, kind: str) -> tuple[EventList, Recording]:
    """Return what stands on the disk when the process dies right after its first `kind`."""
    events = played.events
    end = next(number for number, event in enumerate(events) if event.kind == kind) + 1
    left = EventList(b"key")
    left.bodies.update(played.sink.bodies)
    for event in events[:end]:
        left.append(event)
    return left, Recording("s1", list(events[:end]), left.body)


def one_card(call):
    return say(str(call.results[0])) if call.results else use("act", card=CARDS[0])


def test_an_act_with_a_secret_that_was_cut_off_is_known_again_after_a_resume():
    paid: list[str] = []
    ledger = MemoryLedger()
    played = play(desk(payments(paid), one_card))
    left, recording = cut_after(played, "tool_called")
    ledger.begin(played.one("tool_called").idempotency_key, "s1")
    paid.clear()

    asyncio.run(resume(desk(payments(paid), one_card), recording, sink=left, ledger=ledger))

    (denied,) = (event.payload for event in left.events if event.kind == "tool_denied")
    assert denied.rule == "outcome_unknown"
    assert paid == []


def test_an_act_whose_value_the_record_does_not_hold_is_not_done_with_what_stands_for_it():
    paid: list[str] = []
    played = play(desk(payments(paid), one_card))
    left, recording = cut_after(played, "model_replied")
    paid.clear()

    asyncio.run(resume(desk(payments(paid), one_card), recording, sink=left))

    (denied,) = (event.payload for event in left.events if event.kind == "tool_denied")
    assert (denied.rule, denied.reason) == (
        "redacted",
        "'act' did not run: the record does not hold what it was to be called with (card). "
        "A person has to supply it.",
    )
    assert paid == []


def test_an_act_without_secrets_goes_on_after_a_resume():
    paid: list[str] = []
    flow = desk(payments(paid), one_card).changed(redaction=Redaction.off())
    played = play(flow)
    left, recording = cut_after(played, "model_replied")
    paid.clear()

    asyncio.run(resume(flow, recording, sink=left))

    assert paid == [CARDS[0]]
