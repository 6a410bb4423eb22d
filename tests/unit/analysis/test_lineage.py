import itertools

import pytest
from support.attempts import Desk, desk

from handoff_console.runtime import ModelCall, ModelReply, Origin, answer, use
from handoff_console.runtime.edits import Edits
from handoff_console.runtime.rerun_player import Mode
from handoff_console.store.analysis.findings.record import Record
from handoff_console.store.analysis.lineage import Attempt, attempts
from handoff_console.store.analysis.repeats import made_alike, repeats, spread

FIXED = Edits(inputs={"customer": "4812"})


def of(case: Desk, handoff_id: str, name: str = "s1") -> tuple[Attempt, ...]:
    return attempts(case.record(name), case.reruns, handoff_id)


@pytest.fixture(scope="module")
def case() -> Desk:
    case = Desk()
    case.session()
    case.again("h2", mode=Mode.VERIFY)
    case.again("h2", FIXED)
    case.again("h2", Edits(prompt="You name them."), of="r2")
    case.again("h2", FIXED, mode=Mode.CONTINUE)
    case.again("h3", mode=Mode.VERIFY)
    case.again("h1", mode=Mode.WHAT_IF)
    return case


def test_the_attempts_of_a_handoff_are_the_original_and_all_that_repeat_it_or_each_other(case):
    found = of(case, "h2")

    assert [(a.number, a.session_id, a.mode, a.repeats) for a in found] == [
        (1, "s1", "", None),
        (2, "r1", "verify", 1),
        (3, "r2", "live-reads", 1),
        (4, "r3", "live-reads", 3),
        (5, "r4", "continue", 1),
    ]
    assert [a.is_rerun for a in found] == [False, True, True, True, True]
    assert [a.session_id for a in of(case, "h3")] == ["s1", "r5"]


def test_an_attempt_says_what_was_changed_and_how_it_came_out(case):
    found = of(case, "h2")

    assert [dict(a.edits) for a in found] == [
        {},
        {},
        {"inputs": {"customer": "4812"}},
        {"prompt": "You name them."},
        {"inputs": {"customer": "4812"}},
    ]
    assert [a.outcome for a in found] == ["not_found", "not_found", "ok", "ok", "ok"]
    assert found[0].result == found[1].result
    assert found[2].result != found[3].result


def test_an_attempt_says_what_ran_and_what_was_taken_from_the_recording(case):
    first, verified, fixed, _, whole = of(case, "h2")

    assert (first.figures.ran, first.figures.replayed, first.saved_tokens) == (3, 0, 0)
    assert (verified.figures.ran, verified.figures.replayed) == (0, 3)
    assert verified.saved_tokens == verified.figures.tokens_used == 506
    assert (fixed.figures.ran, fixed.figures.replayed, fixed.saved_tokens) == (3, 0, 0)
    assert (whole.figures.ran, whole.figures.replayed) == (6, 1)
    assert whole.saved_tokens == 248


def test_calls_that_were_taken_over_as_a_whole_are_saved_too(case):
    first, what_if = of(case, "h1")

    workers = sum(of(case, name)[0].figures.tokens_used for name in ("h2", "h3"))
    assert what_if.mode == "what-if"
    assert what_if.figures.replayed == 2
    assert what_if.saved_tokens == workers > 0
    assert what_if.figures.spent_tokens + what_if.saved_tokens == first.figures.tokens_used


def test_where_a_rerun_parts_from_the_recording_is_named(case):
    assert [a.diverged_at for a in of(case, "h2")][:2] == ["", ""]
    assert of(case, "h2")[4].diverged_at == "t1/1.0 step 1"


def test_reruns_of_other_sessions_and_unknown_handoffs_are_left_out(case):
    other = Desk()
    other.session(name="elsewhere")

    assert len(attempts(other.record("elsewhere"), case.reruns, "h2")) == 1
    assert of(case, "h99") == ()
    assert attempts(Record([]), case.reruns, "h2") == ()


def test_the_order_in_which_reruns_are_given_does_not_matter(case):
    records = case.reruns
    numbered = [(a.number, a.session_id) for a in of(case, "h2")]

    for order in itertools.islice(itertools.permutations(records), 0, 720, 97):
        found = attempts(case.record("s1"), order, "h2")
        assert [(a.number, a.session_id) for a in found] == numbered


def test_a_retry_by_the_runtime_is_an_attempt_of_the_session_itself():
    tries = itertools.count()

    def shaky(call: ModelCall) -> ModelReply:
        if next(tries) == 0:
            raise ConnectionError("gone")
        return answer("ok", "here") if call.results else use("list_payments", customer="4812")

    case = Desk()
    case.session(models={"billing": shaky})
    found = of(case, "h2")

    assert [(a.number, a.handoff_id, a.repeats, a.outcome) for a in found] == [
        (1, "h2", None, "error"),
        (2, "h3", 1, "ok"),
    ]
    assert [a.figures.model_calls for a in found] == [1, 2]


# N times


def moody(answers: str):
    """A billing that says what the letters say, one run after the other: o(k) or n(ot found)."""
    said = iter(answers)
    status = {"o": "ok", "n": "not_found"}

    def model(call: ModelCall) -> ModelReply:
        return answer(status[next(said)], "by mood")

    return model


def test_repeats_say_how_often_it_came_out_how():
    case = Desk(desk())
    case.session()
    model = moody("ooonoonooo")
    for _ in range(10):
        case.again("h2", FIXED, models={"billing": model})
    first, *again = of(case, "h2")
    found = repeats(again)

    assert found.outcomes == {"ok": 8, "not_found": 2}
    assert (found.passed.passed, found.passed.total, found.passed.share) == (8, 10, 0.8)
    assert (round(found.passed.low, 4), round(found.passed.high, 4)) == (0.4902, 0.9433)
    assert found.different_results == 2
    assert found.unfinished == 0
    assert found.tokens is not None
    assert found.tokens.least <= found.tokens.median <= found.tokens.most
    assert found.spent_tokens == sum(a.figures.tokens_used for a in again)
    assert repeats(again, passing=("not_found",)).passed.passed == 2
    assert first.outcome == "not_found"


def test_attempts_that_were_made_alike_stand_together(case):
    alike = made_alike(of(case, "h2"))

    assert [[a.number for a in group] for group in alike] == [[2], [3], [4], [5]]
    twice = Desk()
    twice.session()
    for edits in (FIXED, None, FIXED):
        twice.again("h2", edits)
    assert [[a.number for a in group] for group in made_alike(of(twice, "h2"))] == [[2, 4], [3]]


def test_attempts_that_took_over_other_answers_were_not_made_alike():
    case = Desk()
    case.session()
    case.again("h2", FIXED)
    for graft in ("r1", "", "r1"):
        origin = Origin(metadata={"graft": graft} if graft else {})
        answers = case.recording(graft) if graft else None
        case.again("h2", FIXED, mode=Mode.CONTINUE, graft=answers, origin=origin)

    found = of(case, "h2")

    assert [attempt.graft for attempt in found] == ["", "", "r1", "", "r1"]
    assert [[a.number for a in group] for group in made_alike(found)] == [[2], [3, 5], [4]]


def test_attempts_that_read_marks_were_not_made_like_those_that_were_told_the_values():
    case = Desk()
    case.session()
    for labels in ({"values": "card number"}, {"marks": "read"}, {"values": "card number"}, {}):
        case.again("h2", FIXED, origin=Origin(metadata=labels))

    found = made_alike(of(case, "h2"))

    assert [[a.number for a in group] for group in found] == [[2, 4], [3], [5]]


def test_attempts_of_a_flow_that_was_changed_in_between_were_not_made_alike():
    case = Desk()
    case.session()
    for flow in (desk(), desk(pool_tokens=19_000), desk()):
        case.again("h2", FIXED, flow=flow)

    assert [[a.number for a in group] for group in made_alike(of(case, "h2"))] == [[2, 4], [3]]


def test_of_no_attempt_nothing_is_known():
    found = repeats(())

    assert (found.outcomes, found.passed.share, found.tokens, found.spent_tokens) == (
        {},
        None,
        None,
        0,
    )


def test_a_spread_is_that_of_its_values():
    assert spread([]) is None
    one, three = spread([7]), spread([2, 4, 9])

    assert one is not None
    assert (one.least, one.median, one.most, one.mean, one.deviation) == (7, 7, 7, 7, 0)
    assert three is not None
    assert (three.least, three.median, three.most, three.mean) == (2, 4, 9, 5)
    assert round(three.deviation, 6) == 3.605551
