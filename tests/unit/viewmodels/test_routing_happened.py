"""What happened, in the words of the page."""

from dataclasses import replace

from support.routings import HANDED_ON, MONDAY, RIGHT, named

from handoff_console.console.viewmodels.routing_happened import (
    alert_sentence,
    difference_sentence,
    group_rows,
    group_words,
)
from handoff_console.store.analysis.routing_groups import (
    group_difference,
    routing_group,
    routing_groups,
)


def row_of(*several, labels=None):
    (row,) = group_rows(routing_groups(several, "flow", labels or {}), "flow")
    return row


def test_a_row_has_the_four_metrics_with_what_they_are_of():
    row = row_of(*named(*[RIGHT] * 6, *[HANDED_ON] * 2))

    assert (row.name, row.sessions) == ("support", "8")
    assert (row.first_pass.value, row.first_pass.small) == ("75.0 %", "[41 to 93 %] · of 8")
    assert (row.handoffs.value, row.handoffs.small) == ("1.25", "25.0 % have 2 or more")
    assert (row.churn.value, row.churn.small) == ("20.0 %", "[6 to 51 %] · of 10")
    assert (row.completeness.value, row.completeness.small) == ("87.5 %", "[64 to 97 %] · of 16")
    assert (row.latency.value, row.latency.small) == ("1.0 s / 3.0 s", "to the whole reply")
    assert (row.tokens.value, row.tokens.small) == ("150", "20.0 % lost to misroutes")


def test_what_was_not_measured_is_a_dash_and_says_why():
    row = row_of(replace(RIGHT, required=0, present=0, transition_seconds=()))

    assert (row.completeness.value, row.completeness.small) == ("–", "nothing to judge")
    assert (row.latency.value, row.latency.small) == ("–", "not measured")
    assert (row.labelled.value, row.labelled.small) == ("–", "no labels")


def test_silent_misroutes_stand_beside_what_the_labels_say():
    found = named(RIGHT, RIGHT)

    row = row_of(*found, labels={"s0": "billing", "s1": "orders"})

    assert row.labelled.value == "50.0 %"
    assert row.labelled.small.endswith("of 2 · 1 silently wrong")


def test_sessions_that_cannot_be_judged_are_named():
    waits = replace(RIGHT, first_pass=None, not_eligible="waiting")
    stopped = replace(RIGHT, first_pass=False, route_unknown=True)

    row = row_of(*named(RIGHT, waits, waits, stopped))

    assert row.first_pass.title == (
        "Not judged: 2 waiting. 1 first handoff hit a limit: route unknown."
    )


def test_groups_are_named_for_people_and_the_newest_stands_first():
    older = replace(RIGHT, started_at=MONDAY - 86_400)

    rows = group_rows(routing_groups(named(RIGHT, older), "week", {}), "week")

    assert [row.name for row in rows] == ["30 November 2026", "23 November 2026"]
    assert group_words("", "prompt_version") == "the flow's own prompts"


def test_the_alert_names_who_is_low_and_is_silent_otherwise():
    low = routing_group("v1", named(*[RIGHT] * 60, *[HANDED_ON] * 60), {})
    fine = routing_group("v2", named(*[RIGHT] * 60), {})

    assert alert_sentence([low, fine], "prompt_version").startswith(
        "Right first time under 85 %, and not by chance: v1."
    )
    assert alert_sentence([fine], "prompt_version") == ""


def sentence(a, b, labels=None):
    groups = routing_group("v2", a, {}), routing_group("v3", b, {})
    return difference_sentence(group_difference(a, b, labels or {}), *groups, "prompt_version")


def test_two_groups_are_compared_in_a_sentence_that_says_the_traffic_differed():
    a = named(*[RIGHT] * 50, *[HANDED_ON] * 50)
    b = named(*[RIGHT] * 90, *[HANDED_ON] * 10)

    assert sentence(a, b) == (
        "v3 is right first time more often than v2: 90.0 % beside 50.0 %, "
        "+40.0 points [+27.8, +50.6]. The traffic differed: each had its own sessions, so part of "
        "this may be what was asked. To know, compare both on the same cases."
    )
    less = "v3 is right first time less often than v2: 50.0 % beside 90.0 %"
    assert sentence(b, a).startswith(less)


def test_too_few_sessions_cannot_tell():
    said = sentence(named(RIGHT, HANDED_ON), named(RIGHT, RIGHT))

    assert said.startswith(
        "These sessions cannot tell v3 from v2: 100.0 % beside 50.0 %, +50.0 points"
    )


def test_sessions_of_the_same_label_are_compared_where_all_are_labelled():
    found = named(RIGHT, HANDED_ON)

    said = sentence(found, found, {"s0": "billing", "s1": "orders"})

    assert said.endswith("They had different sessions; only those of the same label were compared.")


def test_nothing_to_compare_is_said():
    assert sentence([], named(RIGHT)) == "v3 and v2 have no session that can be compared."
