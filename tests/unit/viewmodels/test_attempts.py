from contextlib import suppress

import pytest
from support.attempts import Desk
from support.recorded import HOSTILE_TEXT

from handoff_console.console.viewmodels.attempts import (
    AttemptStrip,
    _numbers,
    attempt_strip,
    edit_lines,
)
from handoff_console.runtime import Origin
from handoff_console.runtime.edits import Edits
from handoff_console.runtime.errors import ReplayDiverged
from handoff_console.runtime.rerun_player import Mode
from handoff_console.store.analysis.lineage import attempts

FIXED = Edits(inputs={"customer": "4812"})


@pytest.fixture(scope="module")
def case() -> Desk:
    case = Desk()
    case.session()
    case.again("h2", mode=Mode.VERIFY)
    for _ in range(3):
        case.again("h2", FIXED)
    case.again("h2", FIXED, mode=Mode.CONTINUE)
    case.again("h1", mode=Mode.WHAT_IF)
    return case


def strip(case: Desk, handoff_id: str, **options: object) -> AttemptStrip:
    found = attempts(case.record("s1"), case.reruns, handoff_id)
    return attempt_strip(found, **options)  # type: ignore[arg-type]


def test_a_chip_says_how_an_attempt_was_made_and_how_it_came_out(case):
    chips = strip(case, "h2").chips

    assert [(chip.name, chip.how, chip.outcome) for chip in chips] == [
        ("attempt 1", "original", "not_found"),
        ("attempt 2", "verified", "not_found"),
        ("attempt 3", "live reads", "ok"),
        ("attempt 4", "live reads", "ok"),
        ("attempt 5", "live reads", "ok"),
        ("attempt 6", "continued", "ok"),
    ]
    assert [chip.compared_with for chip in chips] == [None, 1, 1, 1, 1, 1]
    assert chips[2].edits == ("inputs.customer = 4812",)


def test_a_chip_says_what_ran_and_what_was_saved(case):
    chips = strip(case, "h2").chips

    assert [(chip.ran, chip.tokens) for chip in chips[:3]] == [
        ("3 calls ran", "506 tokens"),
        ("3 replayed", "0 tokens spent, 506 saved"),
        ("3 calls ran", "509 tokens"),
    ]
    assert (chips[5].ran, chips[5].tokens) == (
        "6 calls ran · 1 replayed",
        "1,350 tokens spent, 248 saved",
    )
    whole_calls = strip(case, "h1").chips[1]
    assert (whole_calls.ran, whole_calls.tokens) == (
        "3 calls ran · 2 replayed",
        "1,023 tokens spent, 587 saved",
    )


def test_equal_results_and_where_a_rerun_parts_are_named(case):
    chips = strip(case, "h2").chips

    assert [chip.result for chip in chips] == [
        "",
        "same result as attempt 1",
        "",
        "same result as attempt 3",
        "same result as attempt 3",
        "same result as attempt 3",
    ]
    assert chips[5].diverged == "asked something else at t1/1.0 step 1"
    assert chips[1].title == (
        "attempt 2 · verified · not_found · 2 steps · 3 replayed · 0 tokens spent, 506 saved · 0 s"
        " · same result as attempt 1 · 2026-01-05 09:00:00 UTC"
    )


def test_the_one_that_is_looked_at_is_marked(case):
    chips = strip(case, "h2", selected=("r2", "h2")).chips

    assert [chip.number for chip in chips if chip.is_selected] == [3]


def test_reruns_that_were_made_alike_are_repeats(case):
    found = strip(case, "h2")

    (repeats,) = found.repeats
    assert (repeats.name, repeats.numbers) == ("attempts 3 to 5", (3, 4, 5))
    assert repeats.sentence == (
        "3 of 3 came out ok, all with the same result; the true share lies between 44 % and 100 %"
        " (95 % sure)."
    )
    assert (repeats.tokens, repeats.spent) == ("509 tokens each", "1,527 tokens spent in all")
    assert repeats.outcomes == (("ok", 3),)
    assert found.sentence == "6 attempts, 4 of them ok."


def test_answers_that_were_taken_over_say_nothing_of_how_often_it_comes_out_so():
    case = Desk()
    case.session()
    case.again("h2", FIXED)
    for _ in range(3):
        origin = Origin(metadata={"graft": "r1"})
        case.again("h2", FIXED, mode=Mode.CONTINUE, graft=case.recording("r1"), origin=origin)

    (repeats,) = strip(case, "h2").repeats

    assert (repeats.name, repeats.share, repeats.outcomes) == (
        "attempts 3 to 5",
        None,
        (("ok", 3),),
    )
    assert repeats.sentence == (
        "The same answers were taken over 3 times, so that this says nothing of how often it comes "
        "out so."
    )


def test_verifications_say_whether_they_came_to_what_was_recorded():
    same, parted = Desk(), Desk()
    for case, edits in ((same, None), (parted, FIXED)):
        case.session()
        for _ in range(2):
            with suppress(ReplayDiverged):
                case.again("h2", edits, mode=Mode.VERIFY)

    (alike,), (other,) = strip(same, "h2").repeats, strip(parted, "h2").repeats

    assert (alike.share, alike.sentence) == (
        None,
        "Verified 2 times, all came to the same result: every answer was the recorded one.",
    )
    assert (other.share, other.outcomes) == (None, (("cancelled", 2),))
    assert other.sentence == (
        "Verified 2 times: each time it asked for something else than was recorded (first at "
        "t1/1.0 step 1), and ended there."
    )


@pytest.mark.parametrize(
    ("numbers", "said"),
    [
        ([2, 3], "2 and 3"), ([2, 3, 4], "2 to 4"), ([2, 5], "2 and 5"),
        ([2, 8, 9, 10, 12], "2, 8 to 10 and 12"), ([2, 3, 5, 6, 7], "2, 3 and 5 to 7"),
    ],
)  # fmt: skip
def test_many_numbers_are_named_by_their_ends(numbers, said):
    assert _numbers(numbers) == said


def test_a_handoff_that_ran_once_has_nothing_to_compare(case):
    found = strip(case, "h3")

    assert (len(found.chips), found.repeats, found.sentence) == (1, (), "It ran once.")
    assert strip(case, "h99") == AttemptStrip((), (), "There is no such handoff.")


def test_every_kind_of_edit_has_its_line():
    edits = Edits(
        task="Look again.",
        inputs={"customer": "4812", "months": [1, 2]},
        without_inputs=("city",),
        goal="Find it.",
        summary="All is well.",
        claimed={"serial": "A-1"},
        allowed_tools=("list_payments",),
        limits={"max_steps": 3},
        output_schema="Text",
        prompt="Be brief.",
        model="offline:bm25",
        tool_results={"list_payments": {"payments": []}},
        armed=("refund",),
    )

    assert set(edit_lines(edits.described())) == {
        "task = Look again.",
        "inputs.customer = 4812",
        "inputs.months = [ 1, 2 ]",
        "without input city",
        "goal of the packet = Find it.",
        "summary of the packet = All is well.",
        "claimed.serial = A-1",
        "allowed tools: list_payments",
        "limits.max_steps = 3",
        "answer as = Text",
        "another prompt: Be brief.",
        "model = offline:bm25",
        'pretended result of list_payments = { "payments": [] }',
        "writes again: refund",
    }
    assert edit_lines({}) == ()


def test_hostile_edits_stay_on_a_line():
    lines = edit_lines({HOSTILE_TEXT: HOSTILE_TEXT, "inputs": {HOSTILE_TEXT: HOSTILE_TEXT * 99}})

    assert all(len(line) <= 130 and line.isprintable() for line in lines)
