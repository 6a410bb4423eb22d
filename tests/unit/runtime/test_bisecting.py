"""Which change flips it: planted causes are found, and what cannot be known is said."""

import itertools
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.attempts import Desk, desk

from handoff_console.runtime import (
    Agent,
    Edge,
    EventList,
    Flow,
    Limits,
    ModelCall,
    ModelReply,
    RequestError,
    Tool,
    answer,
    delegate,
    hand_over,
    use,
)
from handoff_console.runtime.bisecting import bisect
from handoff_console.runtime.causes import Cause, Conclusion, estimate
from handoff_console.runtime.changes import Attempt, changes_between, edits_of, prompt_changes
from handoff_console.runtime.clock import VirtualClock, run_virtual
from handoff_console.runtime.edits import Edits
from handoff_console.runtime.rerun_player import Mode


def attempt(case: Desk, name: str, handoff_id: str = "h2") -> Attempt:
    return Attempt(case.recording(name), handoff_id)


def cause(case: Desk, good: str = "good", handoff_id: str = "h2", **options: Any) -> Cause:
    """Bisect between the session and one of its re-runs."""
    flow = options.pop("flow", case.flow)
    sink = EventList(b"key")
    sink.bodies = case.bodies
    return run_virtual(
        bisect(
            flow,
            attempt(case, "s1", handoff_id),
            attempt(case, good, handoff_id),
            clock=VirtualClock(),
            sink=sink,
            **options,
        )
    )


def names(found: Cause) -> list[str]:
    return [change.name for change in found.changes]


# Planted causes: a worker that fails unless something is so


def worker(condition: Any) -> Flow:
    """A desk whose billing is well exactly when a condition on its call holds."""

    def billing(call: ModelCall) -> ModelReply:
        if call.agent.tools and not call.results:
            return use("look", what="all")
        return answer("ok", "well") if condition(call) else answer("error", "not well")

    def look(what: str) -> str:
        """Look at something."""
        return f"{what} of it"

    def root(call: ModelCall) -> ModelReply:
        if not call.results:
            return delegate("billing", "Look into it.", customer="4813", city="Ulm", month="May")
        return answer("ok", "done")

    limits = Limits(max_steps=4, max_tokens=4_000)
    return Flow(
        "desk",
        [
            Agent("root", edges=[Edge.call("billing", limits=limits)], model=root),
            Agent("billing", prompt="You look.", tools=[Tool(look, inline=True)], model=billing),
        ],
        pool_tokens=20_000,
    )


GOOD = Edits(
    task="Look into it once more.",
    inputs={"customer": "4812", "city": "Bonn", "year": "2026"},
    without_inputs=("month",),
    limits={"max_steps": 3, "max_tokens": 3_000},
    prompt="You look. Be kind. Name them. Be short.",
    tool_results={"look": "nothing"},
)
"""Ten differences: whatever is planted, nine of them do not matter."""

CONDITIONS = {
    "task": lambda call: call.request.task == "Look into it once more.",
    "inputs.customer": lambda call: call.inputs.get("customer") == "4812",
    "inputs.city": lambda call: call.inputs.get("city") == "Bonn",
    "inputs.year": lambda call: "year" in call.inputs,
    "inputs.month": lambda call: "month" not in call.inputs,
    "limits.max_steps": lambda call: call.request.limits.max_steps == 3,
    "limits.max_tokens": lambda call: call.request.limits.max_tokens == 3_000,
    "prompt, part 1": lambda call: "Be kind." in call.messages[0]["content"],
    "prompt, part 2": lambda call: "Name them." in call.messages[0]["content"],
    "prompt, part 3": lambda call: "Be short." in call.messages[0]["content"],
    "result of look, step 1": lambda call: call.results[0].value == "nothing",
}


def planted(*wanted: str) -> Desk:
    conditions = [CONDITIONS[name] for name in wanted]
    case = Desk(worker(lambda call: all(condition(call) for condition in conditions)))
    case.session()
    came = case.again("h2", GOOD, name="good")
    assert came.session.status == "ok"
    return case


@pytest.mark.parametrize("name", CONDITIONS)
def test_a_planted_cause_is_found_among_ten_other_differences(name):
    found = cause(planted(name))

    assert names(found) == [name]
    assert found.conclusion is Conclusion.FOUND
    assert (found.with_them, found.without) == ((3, 3), (0, 3))
    assert found.is_sure
    assert found.sentence == (
        f"{name} alone flips it: 3 of 3 came out well with it, 0 of 3 without."
    )


@pytest.mark.parametrize(
    "pair",
    [
        ("inputs.customer", "prompt, part 2"),
        ("task", "result of look, step 1"),
        ("limits.max_steps", "inputs.month"),
        ("prompt, part 1", "prompt, part 3"),
        ("inputs.city", "inputs.year"),
    ],
    ids="+".join,
)
def test_two_planted_causes_are_found_together_and_neither_can_be_left_out(pair):
    found = cause(planted(*pair))

    assert sorted(names(found)) == sorted(pair)
    assert [evidence.trials for evidence in found.without_one] == [(0, 3), (0, 3)]
    assert "flip it together, and none of them can be left out" in found.sentence


def test_before_and_after_of_what_was_found_are_told():
    (change,) = cause(planted("inputs.customer")).changes

    assert (change.before, change.after) == ("4813", "4812")


# Real differences of the desk


def test_an_edited_attempt_and_the_original_are_told_apart_by_what_mattered():
    case = Desk()
    case.session()
    edits = Edits(inputs={"customer": "4812"}, task="Look again.", limits={"max_steps": 3})
    case.again("h2", edits, name="good")

    for mode in (Mode.WHAT_IF, Mode.LIVE_READS):
        assert names(cause(case, mode=mode)) == ["inputs.customer"]


def test_what_the_good_ones_tools_answered_is_known_without_asking_them_again():
    calls: list[str] = []

    def list_payments(customer: str) -> dict[str, Any]:
        calls.append(customer)
        return {"payments": ["PAY-1"] if customer == "4812" else []}

    flow = desk()
    supervisor, billing, writer = flow.agents
    case = Desk(
        flow.changed(
            agents=[
                supervisor,
                Agent("billing", tools=[Tool(list_payments, inline=True)], model=billing.model),
                writer,
            ]
        )
    )
    case.session()
    case.again("h2", Edits(inputs={"customer": "4812"}), name="good")
    asked = len(calls)

    assert names(cause(case)) == ["inputs.customer"]
    assert len(calls) == asked


def test_two_sessions_are_told_apart_too():
    case = Desk()
    case.session()
    case.session("Customer 4812 was charged twice.", name="good")

    found = cause(case)

    assert names(found) == ["inputs.customer"]
    assert (found.reruns, found.untried) == (6, ())


def test_facts_of_a_packet_can_be_the_cause():
    def triage(call: ModelCall) -> ModelReply:
        serial = "A-1" if "4812" in call.text else "A-2"
        return hand_over("repair", "it is broken", serial=serial, colour=call.text[-4:])

    def repair(call: ModelCall) -> ModelReply:
        known = call.inputs.get("serial") == "A-1"
        return answer("ok", "known") if known else answer("not_found", "unknown serial")

    flow = Flow(
        "repairs",
        [
            Agent("triage", edges=[Edge.transfer("repair")], model=triage),
            Agent("repair", model=repair),
        ],
    )
    case = Desk(flow)
    case.session("Of 4813: my lamp is blue")
    case.session("Of 4812: my lamp is grey", name="good")
    found = cause(case)

    assert names(found) == ["inputs.serial"]
    assert found.untried == ()


def lamps(reads: Callable[[ModelCall], str]) -> Desk:
    """Two sessions whose packets have another goal, summary and claim; `reads` says what counts."""

    def triage(call: ModelCall) -> ModelReply:
        wish = "a letter" if "4812" in call.text else "a call"
        return hand_over("repair", f"wants {wish}", summary=f"They want {wish}.", wish=wish)

    def repair(call: ModelCall) -> ModelReply:
        assert call.packet is not None
        is_known = "4812" in reads(call) or "letter" in reads(call)
        return answer("ok", "known") if is_known else answer("not_found", "unknown")

    flow = Flow(
        "repairs",
        [
            Agent("triage", edges=[Edge.transfer("repair")], model=triage),
            Agent("repair", model=repair),
        ],
    )
    case = Desk(flow)
    case.session("Of 4813: my lamp is blue")
    case.session("Of 4812: my lamp is grey", name="good")
    return case


@pytest.mark.parametrize(
    ("reads", "found"),
    [
        (lambda call: call.packet.goal, "packet.goal"),
        (lambda call: call.packet.summary, "packet.summary"),
        (lambda call: str(call.packet.claimed), "inputs.wish"),
    ],
)
@pytest.mark.parametrize("mode", [Mode.WHAT_IF, Mode.LIVE_READS])
def test_what_a_packet_says_beside_its_facts_can_be_the_cause(reads, found, mode):
    assert names(cause(lamps(reads), mode=mode)) == [found]


def test_that_a_value_was_only_claimed_can_be_the_cause():
    def repair(call: ModelCall) -> ModelReply:
        assert call.packet is not None
        return answer("ok" if "serial" in call.packet.facts else "needs_input", "which serial?")

    def triage(call: ModelCall) -> ModelReply:
        return hand_over("repair", "broken", serial="SN-88213")

    flow = Flow(
        "repairs",
        [
            Agent("triage", edges=[Edge.transfer("repair")], model=triage),
            Agent("repair", model=repair),
        ],
    )
    case = Desk(flow)
    case.session("My lamp is broken")
    case.session("My lamp SN-88213 is broken", name="good")

    assert names(cause(case)) == ["packet.claimed.serial"]


def test_where_both_statuses_are_the_same_the_result_decides():
    case = Desk()
    case.session("Customer 4812 was charged twice.")
    case.again("h2", Edits(prompt="You look. You name them.", task="Look."), name="good")

    (change,) = cause(case).changes
    assert "name them" in change.after


# What cannot be found


def test_what_passes_anyway_was_chance():
    moods = itertools.cycle([False, True, True, True])
    case = Desk(worker(lambda _call: next(moods)))
    case.session()
    case.again("h2", Edits(task="Look again."), name="good")

    found = cause(case)

    assert (found.conclusion, found.changes) == (Conclusion.PASSES_ANYWAY, ())
    assert found.sentence.startswith("It comes out well without any change, ")


def test_a_cause_that_no_edit_can_make_is_not_among_them():
    healed = [False]
    case = Desk(worker(lambda _call: healed[0]))
    case.session()
    healed[0] = True
    case.again("h2", Edits(task="Look again."), name="good")
    healed[0] = False

    found = cause(case)

    assert (found.conclusion, found.changes) == (Conclusion.NOT_AMONG_THEM, ())
    assert (found.with_them, found.without) == ((0, 3), (0, 3))
    assert found.sentence == (
        "Even with all differences that can be tried it came out well only 0 of 3 times: the cause "
        "is something else."
    )


def test_where_nothing_differs_nothing_is_tried():
    case = Desk()
    case.session()
    case.again("h2", mode=Mode.VERIFY, name="good")

    found = cause(case)

    assert (found.conclusion, found.reruns) == (Conclusion.NOTHING_DIFFERS, 0)
    assert found.sentence == (
        "The two attempts differ in nothing that a re-run can change: run one of them several "
        "times to see whether it comes out by chance."
    )


def test_one_try_each_is_not_sure():
    found = cause(planted("inputs.customer"), repeats=1)

    assert names(found) == ["inputs.customer"]
    assert not found.is_sure
    assert found.chance == 0.5
    assert found.sentence == (
        "inputs.customer alone flips it, as far as seen: 1 of 1 came out well with it, 0 of 1 "
        "without. That may be chance; try it with more repeats."
    )


def test_a_moody_worker_is_judged_by_how_often_it_comes_out_well():
    tries = itertools.count()

    def condition(call: ModelCall) -> bool:
        often = call.inputs.get("customer") == "4812"
        return next(tries) % 5 != 4 if often else next(tries) % 5 == 4

    case = Desk(worker(condition))
    case.session()
    case.again("h2", GOOD, name="good")
    found = cause(case, repeats=9)

    assert names(found) == ["inputs.customer"]
    assert 0 < found.without.passed < 4 < found.with_them.passed < 9
    assert found.is_sure


# Around it


def test_the_originals_are_not_touched_and_every_rerun_names_what_it_repeats():
    case = planted("inputs.customer")
    before = {name: [repr(e) for e in sink.events] for name, sink in case.sinks.items()}
    sink = EventList(b"key")
    sink.bodies = case.bodies
    told: list[tuple[list[str], bool]] = []

    found = run_virtual(
        bisect(
            case.flow,
            attempt(case, "s1"),
            attempt(case, "good"),
            clock=VirtualClock(),
            sink=sink,
            watch=lambda changes, passed: told.append(([c.name for c in changes], passed)),
        )
    )

    assert {name: [repr(e) for e in s.events] for name, s in case.sinks.items()} == before
    started = [e.payload for e in sink.events if e.kind == "session_started"]
    assert {(p.rerun_of, p.rerun_handoff, p.rerun_mode) for p in started} == {
        ("s1", "h2", "what-if")
    }
    assert len(started) == found.reruns == len(told)
    assert told[0] == ([], False)
    assert max(e.payload.step for e in sink.events if e.kind == "tool_called") < 9


def test_the_estimate_says_what_it_will_take():
    case = planted("inputs.customer")
    changes = changes_between(attempt(case, "s1"), attempt(case, "good"))

    assert len(changes.changes) == 11
    said = estimate(changes, tokens_each=500, repeats=3)
    assert (said.changes, said.likely_reruns, said.tokens_each) == (11, 3 * (2 + 8), 500)
    assert cause(case).reruns <= said.likely_reruns
    assert said.most_reruns == 3 * (2 + 11 * 11 + 3 * 11 + 11)


@pytest.mark.parametrize("mode", [Mode.VERIFY, Mode.CONTINUE])
def test_modes_that_try_nothing_are_refused(mode):
    with pytest.raises(RequestError, match="nothing is tried; choose what-if, live-reads or live"):
        cause(planted("task"), mode=mode)


def test_fewer_than_one_try_is_refused():
    with pytest.raises(RequestError, match="0 repeats try nothing; ask for 1 or more"):
        cause(planted("task"), repeats=0)


def test_an_unknown_handoff_is_named():
    with pytest.raises(RequestError, match="has no handoff 'h99'"):
        cause(planted("task"), handoff_id="h99")


@pytest.mark.parametrize(
    ("before", "after", "parts"),
    [
        ("Be brief.", "Count twice. Be polite.", ["Be brief.→", "→Count twice.", "→ Be polite."]),
        ("Be brief. Go.", "Be long. Stop.", ["Be brief.→Be long.", " Go.→ Stop."]),
        ("Be brief.", "Be long.", ["Be brief.→Be long."]),
        ("a." * 6, "b." * 7, ["a.a.a.a.a.a.→b.b.b.b.b.b.b."]),
    ],
    ids=["one and two", "two and two", "one and one", "a long passage"],
)
def test_a_rewritten_passage_is_tried_sentence_by_sentence_unless_it_is_long(before, after, parts):
    assert [f"{one.before}→{one.after}" for one in prompt_changes(before, after)] == parts


PROMPTS = st.text(alphabet="ab .!?\n", max_size=40)


@given(PROMPTS, PROMPTS)
def test_all_parts_of_a_prompt_together_give_the_other_prompt(before, after):
    changes = list(prompt_changes(before, after))

    if before == after:
        assert changes == []
    else:
        assert edits_of(changes).prompt == after
