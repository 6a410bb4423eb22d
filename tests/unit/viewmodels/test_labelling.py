"""The labelling queue: what comes next, and by which key."""

from support.comparisons import CASES, EVIL

from handoff_console.console.viewmodels.labelling import (
    QUEUE_SENT,
    agreement_view,
    choices,
    labelling_view,
)
from handoff_console.store.analysis.agreement import agreement
from handoff_console.store.analysis.comparison.cases import RouteCase

AGENTS = {"billing": "Charges", "orders": "Parcels", "tech": EVIL}


def view(labels=None, decisions=None, cases=CASES):
    return labelling_view(cases, decisions or {}, labels or {}, agents=AGENTS, labeller="ada")


def test_agents_have_the_keys_1_to_9_and_nobody_and_no_handoff_their_own():
    many = choices({f"a{n}": "" for n in range(1, 12)})

    assert [it.key for it in many] == [*"123456789", "", "", "0", "d"]
    assert [(it.key, it.value) for it in choices(AGENTS)[-2:]] == [
        ("0", "abstain"),
        ("d", "direct"),
    ]


def test_cases_that_versions_disagree_about_come_first():
    decisions = {
        "c1": {"v2": "billing", "v3": "billing"},
        "c3": {"v2": "tech", "v3": "orders"},
    }

    found = view(decisions=decisions)

    assert [it.case_id for it in found.queue[:3]] == ["c3", "c1", "c2"]
    assert found.queue[0].why == "The versions disagree: v2 → tech, v3 → orders"
    assert found.queue[0].guesses == ("tech", "orders")
    assert found.queue[1].why == "v2 → billing, v3 → billing"
    assert found.disagreeing == 1


def test_what_is_labelled_is_not_asked_again():
    found = view(labels={"c1": "billing", "c2": "orders"})

    assert (found.done, found.total) == (2, len(CASES))
    assert not {"c1", "c2"} & {it.case_id for it in found.queue}


def test_only_the_next_ones_are_sent():
    cases = [RouteCase(f"c{n}", f"Request {n}") for n in range(1_000)]

    assert len(view(cases=cases).queue) == QUEUE_SENT


def test_how_far_two_agree_is_said_with_its_interval_and_what_they_differ_about():
    mine = {"c1": "billing", "c2": "orders", "c3": "tech"}
    theirs = {"c1": "billing", "c2": "abstain", "c3": "tech", "c4": "billing"}

    found = agreement_view(agreement(("ada", mine), ("bob", theirs)), CASES)

    assert found.sentence == (
        "ada and bob agree on 2 of 3 cases: 66.7 % [21 to 94 %]; beyond chance (Cohen's kappa) "
        "0.57. No version can be told to route better than people agree."
    )
    assert found.disagreements == (("Where is my parcel?", "orders", "nobody"),)


def test_two_who_have_no_case_in_common_are_told_so():
    found = agreement_view(agreement(("ada", {"c1": "tech"}), ("bob", {})), CASES)

    assert found.sentence == "ada and bob have not labelled the same case yet."
