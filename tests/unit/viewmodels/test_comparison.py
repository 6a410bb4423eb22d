import pytest
from support.attempts import Desk, desk
from support.recorded import hostile, wide

from handoff_console.console.viewmodels.comparison import (
    ComparisonView,
    comparison_view,
    pairs_to_show,
)
from handoff_console.console.viewmodels.differences import PairView, changed_offer, pair_view
from handoff_console.runtime.edits import Edits
from handoff_console.runtime.rerun_player import Mode
from handoff_console.store.analysis.diff import compare
from handoff_console.store.analysis.differences import Aspect, Difference
from handoff_console.store.analysis.findings.record import Record
from handoff_console.store.analysis.text_diff import Side

FIXED = Edits(inputs={"customer": "4812"})


@pytest.fixture(scope="module")
def case() -> Desk:
    case = Desk()
    case.session()
    case.again("h2", mode=Mode.VERIFY, name="verify")
    case.again("h2", FIXED, name="fixed")
    case.again("h2", FIXED, mode=Mode.CONTINUE, name="whole")
    case.session("Customer 4812 was charged twice.", name="other")
    case.session("Customer 4812 was charged twice.", name="poor", flow=desk(pool_tokens=5_000))
    return case


def between(case: Desk, left: str, right: str) -> tuple[ComparisonView, list[PairView]]:
    mine, theirs = case.record(left), case.record(right)
    found = compare(mine, theirs)
    return comparison_view(found, mine, theirs), [pair_view(pair) for pair in found.pairs]


def test_the_first_thing_said_is_where_the_runs_part(case):
    view, _ = between(case, "s1", "whole")

    assert view.sentence == (
        "They first part at billing (t1/1.0): its request has another inputs.customer: 4813 → 4812."
    )
    assert view.scope == "whole sessions"
    assert view.counts == "3 handoffs: 3 changed"
    assert (view.first, [row.is_first for row in view.rows]) == (1, [False, True, False])


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("mail.source", ("mail", "source", True)),
        ("mail.effect", ("mail", "effect", False)),
        (
            "mail.parameters.properties.source.type",
            ("mail", "schema of its arguments (properties.source.type)", False),
        ),
        ("mail.approval", None),
        ("mail.untrusted", None),
        ("mail", None),
    ],
)
def test_what_is_another_one_about_an_offered_tool_is_put_into_words(name, said):
    assert changed_offer(Difference(Aspect.OFFER, name, 1, 2, None, None)) == said
    assert changed_offer(Difference(Aspect.REQUEST, name, 1, 2, None, None)) is None


def test_both_runs_say_what_they_are(case):
    view, _ = between(case, "s1", "fixed")

    assert (view.left.name, view.left.how, view.left.edits) == ("s1", "original", ())
    assert (view.left.outcome, view.right.outcome) == ("not_found", "ok")
    assert (view.right.how, view.right.edits) == ("live reads", ("inputs.customer = 4812",))
    assert view.scope == "billing at t1/1.0 and what is below it"


def test_runs_can_be_called_by_another_name(case):
    mine, theirs = case.record("s1"), case.record("fixed")
    view = comparison_view(compare(mine, theirs), mine, theirs, names=("attempt 1", "attempt 3"))

    assert (view.left.name, view.right.name) == ("attempt 1", "attempt 3")
    assert (view.left.session_id, view.right.session_id) == ("s1", "fixed")


def test_a_run_that_is_still_on_its_way_differs_in_nothing_so_far(case):
    whole = case.record("s1")
    begun = Record(whole.events[:14], whole.body)

    view = comparison_view(compare(whole, begun), whole, begun)

    assert view.sentence == "Nothing differs up to where the right run is now, in supervisor (t1)."


def test_runs_that_are_the_same_say_so_and_what_they_took(case):
    view, (pair,) = between(case, "s1", "verify")

    assert view.sentence == "Nothing differs but what the runs took."
    assert view.first is None
    assert [(line.name, line.left, line.right, line.change) for line in view.figures] == [
        ("handoffs", "1", "1", ""),
        ("steps", "2", "2", ""),
        ("tool calls", "1", "1", ""),
        ("tokens", "506", "506", ""),
        ("saved tokens", "0", "506", "+506"),
        ("calls that ran", "3", "0", "−3"),
        ("calls replayed", "0", "3", "+3"),
        ("time", "0 s", "0 s", ""),
    ]
    assert pair.sentence == "Nothing differs but what it may have taken."


def test_a_row_says_in_what_a_handoff_differs(case):
    view, _ = between(case, "s1", "whole")
    row = view.rows[1]

    assert (row.agent, row.depth, row.change) == ("billing", 1, "changed")
    assert (row.left_outcome, row.right_outcome, row.tokens_change) == ("not_found", "ok", "+3")
    assert row.says == "request, messages, tool calls, tool results, replies, status, result"
    assert row.label.startswith("billing, changed, first difference, request, messages")


def test_what_only_one_run_has_is_marked(case):
    view, pairs = between(case, "other", "poor")
    row = view.rows[2]

    assert (row.change, row.left_handoff_id, row.right_handoff_id) == ("removed", "h3", None)
    assert (row.left_outcome, row.right_outcome) == ("ok", "")
    assert (pairs[2].sentence, pairs[2].figures) == ("Only the left run has it.", ())
    assert [line.name for line in view.settings] == ["pool_tokens"]
    assert [row.place for row in pairs_to_show(view.rows, only_changed=True)] == [0, 1, 2]


def test_rows_that_are_the_same_can_be_left_out(case):
    view, _ = between(case, "fixed", "whole")

    assert len(view.rows) == 1
    assert pairs_to_show(view.rows, only_changed=True) == ()
    assert pairs_to_show(view.rows, only_changed=False) == view.rows


def test_differences_stand_under_headings_in_the_order_they_happened(case):
    _, (pair,) = between(case, "s1", "fixed")

    assert pair.title == "billing at t1/1.0"
    assert [heading for heading, _ in pair.sections] == [
        "request",
        "messages",
        "tool calls",
        "tool results",
        "replies",
        "status",
        "result",
    ]
    request = dict(pair.sections)["request"][0]
    assert (request.name, request.left, request.right) == ("inputs.customer", "4813", "4812")
    assert (request.is_short, request.segments) == (True, ())


def test_long_texts_are_shown_word_by_word(case):
    _, (pair,) = between(case, "s1", "fixed")
    message = dict(pair.sections)["messages"][0]

    assert not message.is_short
    changed = [part.text for part in message.segments if part.side is not Side.BOTH]
    assert changed == ["4813", "4812"]


def test_of_two_very_long_texts_what_differs_is_shown_wherever_it_stands():
    sides = []
    for word in ("left", "right"):
        case = Desk(desk(pool_tokens=1_000_000))
        case.session(f"{'before ' * 6_000}{word}{' after' * 40_000}")
        sides.append(case.record("s1"))
    found = compare(*sides)
    pair = pair_view(found.pairs[0])
    message = dict(pair.sections)["messages"][0]

    changed = [(one.side, one.text) for one in message.segments if one.side is not Side.BOTH]
    assert changed == [(Side.LEFT, "left"), (Side.RIGHT, "right")]
    assert message.left.startswith("[… 41,900 characters that are the same …]\ne before ")
    assert message.left.endswith("[… 239,901 characters that are the same …]")


def test_hostile_text_is_only_text():
    left, right = hostile(), hostile("other <b>text</b> \x1b[31m \u202e \x00")
    mine, theirs = Record(left.events, left.body), Record(right.events, right.body)
    found = compare(mine, theirs)
    view = comparison_view(found, mine, theirs)
    pairs = [pair_view(pair) for pair in found.pairs]

    shown = [row.label + row.task + row.agent for row in view.rows] + [view.sentence]
    shown += [
        line.left + line.right for pair in pairs for _, lines in pair.sections for line in lines
    ]
    assert not [text for text in shown if set(text) & set("\x00\x1b\u202e")]


def test_a_thousand_handoffs_are_a_thousand_rows():
    left, right = wide(300), wide(301)
    mine, theirs = Record(left.events, left.body), Record(right.events, right.body)
    view = comparison_view(compare(mine, theirs), mine, theirs)

    assert len(view.rows) == 302
    assert view.counts == "302 handoffs: 300 same, 1 changed, 1 added"
