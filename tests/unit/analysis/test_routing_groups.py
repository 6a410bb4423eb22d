"""Sessions of one kind, and what they say about routing."""

from dataclasses import replace

import pytest
from support.routings import HANDED_ON, MONDAY, RIGHT, named

from handoff_console.store.analysis.routing_groups import (
    group_difference,
    group_name,
    routing_group,
    routing_groups,
)


def test_first_pass_counts_only_what_can_be_judged():
    waits = replace(RIGHT, first_pass=None, not_eligible="waiting")

    group = routing_group("v2", named(RIGHT, HANDED_ON, waits), {})

    assert (group.first_pass.passed, group.first_pass.total) == (1, 2)
    assert group.not_eligible == {"waiting": 1}
    assert group.sessions == 3


def test_depth_churn_completeness_and_waste_are_of_all_sessions():
    group = routing_group("v2", named(RIGHT, HANDED_ON), {})

    assert (group.handoffs_mean, group.handoffs_p95, group.depth_most) == (1.5, 2.0, 2)
    assert (group.several.passed, group.several.total) == (1, 2)
    assert (group.churn.passed, group.churn.total) == (1, 3)
    assert (group.completeness.passed, group.completeness.total) == (3, 4)
    assert (group.tokens_mean, group.misroute_tokens) == (200.0, 120)


def test_first_tokens_and_whole_replies_are_never_mixed():
    streamed = replace(RIGHT, streamed=True, transition_seconds=(0.2,))

    group = routing_group("v2", named(HANDED_ON, streamed), {})

    assert (group.whole.count, group.whole.p50_seconds, group.whole.p95_seconds) == (2, 1.0, 3.0)
    assert (group.streamed.count, group.streamed.p50_seconds) == (1, 0.2)


def test_a_silent_misroute_is_wrong_and_answered_all_the_same():
    found = named(RIGHT, RIGHT, HANDED_ON, HANDED_ON)
    labels = {"s0": "billing", "s1": "orders", "s2": "billing", "s3": "orders"}

    group = routing_group("v2", found, labels)

    assert (group.labelled.passed, group.labelled.total) == (2, 4)
    assert group.silent_misroutes.passed == 1
    assert group.false_correctives == 1


@pytest.mark.parametrize(
    ("label", "targets", "invalid", "right"),
    [
        ("a or b", ("b",), False, True),
        ("a + b", ("b", "a"), False, True),
        ("a + b", ("a",), False, False),
        ("a", ("a", "b"), False, False),
        ("abstain", (), False, True),
        ("direct", ("a",), False, False),
        ("a", (), False, False),
        ("a", ("a",), True, False),
    ],
)
def test_a_first_decision_is_right_when_it_is_what_the_label_says(label, targets, invalid, right):
    routing = replace(RIGHT, first_targets=targets, first_invalid=invalid)

    assert routing_group("", [routing], {"s": label}).labelled.passed == right


def test_sessions_are_grouped_by_version_flow_and_week():  # R84
    later = replace(RIGHT, started_at=MONDAY + 6 * 86_400, prompt_version="v3")
    before = replace(RIGHT, started_at=MONDAY - 1, flow="bank")

    assert [group_name(it, "week") for it in (RIGHT, later, before)] == [
        "2026-11-30",
        "2026-11-30",
        "2026-11-23",
    ]
    groups = routing_groups(named(RIGHT, later, before), "prompt_version", {})
    assert [(group.name, group.sessions) for group in groups] == [("v2", 2), ("v3", 1)]
    assert [group.name for group in routing_groups([before, RIGHT], "flow", {})] == [
        "bank",
        "support",
    ]


def test_no_session_is_no_group_and_an_empty_group_knows_nothing():
    empty = routing_group("v2", [], {})

    assert routing_groups([], "flow", {}) == ()
    assert (empty.first_pass.share, empty.handoffs_mean, empty.tokens_mean) == (None, None, None)
    assert empty.whole.p50_seconds is None
    assert not empty.is_low


def test_the_alert_comes_only_when_the_whole_interval_is_under_the_line():
    few = routing_group("v2", named(*[RIGHT] * 8, *[HANDED_ON] * 2), {})
    many = routing_group("v2", named(*[RIGHT] * 80, *[HANDED_ON] * 40), {})

    assert (few.first_pass.share, few.is_low) == (0.8, False)
    assert many.is_low


def test_groups_are_compared_unpaired_and_like_with_like_where_all_are_labelled():
    a = named(*[RIGHT] * 5, *[HANDED_ON] * 5)
    b = [replace(it, session_id=f"b{n}") for n, it in enumerate([RIGHT] * 10 + [HANDED_ON] * 2)]

    loose = group_difference(a, b, {})
    assert (loose.by_label, loose.left_out) == (False, 0)
    assert loose.difference.difference == pytest.approx(10 / 12 - 0.5)

    labels = {it.session_id: "billing" for it in (*a, *b)} | {"b11": "orders"}
    strict = group_difference(a, b, labels)
    assert (strict.by_label, strict.left_out) == (True, 1)
    assert strict.difference.difference == pytest.approx(10 / 11 - 0.5)


def test_nothing_beside_something_is_no_difference():
    assert group_difference([], [RIGHT], {}).difference is None
