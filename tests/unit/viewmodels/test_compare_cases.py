"""The cases of a comparison: which of them are shown, and what is said of each."""

from dataclasses import replace

import pytest
from support.comparisons import A_DECISIONS, B_DECISIONS, CASES, EVIL, experiment, trial

from handoff_console.console.viewmodels.compare_case import (
    all_changes,
    case_view,
    involved_agents,
    why_nobody,
)
from handoff_console.console.viewmodels.compare_rows import (
    Wanted,
    case_lines,
    cell_words,
    chip_word,
    matching,
    showing_cases,
    shown_chips,
)
from handoff_console.store.analysis.comparison.compare import comparison
from handoff_console.store.analysis.comparison.trials import AgentScore, Decided
from handoff_console.store.analysis.text_diff import Side


def compared(**changes):
    return comparison(experiment(**changes), "v2", "v3")


def ids(found, **wanted):
    return [row.case.case_id for row in matching(found, Wanted(**wanted))]


def line(found, case_id):
    rows = matching(found, Wanted(chip="all"))
    return next(it for it in case_lines(rows) if it.case_id == case_id)


def test_regressed_cases_are_shown_first_and_critical_ones_before_others():
    assert ids(compared()) == ["c1", "c7"]


@pytest.mark.parametrize(
    ("chip", "shown"),
    [
        ("improved", ["c2", "c4", "c6"]),
        ("both wrong", ["c8"]),
        ("other target", ["c1", "c2", "c4", "c6", "c7"]),
        ("critical", ["c1"]),
        ("missing", []),
        ("all", [case.case_id for case in CASES]),
    ],
)
def test_a_chip_leaves_the_cases_it_names(chip, shown):
    assert ids(compared(), chip=chip) == shown


def test_words_are_looked_for_in_text_tags_label_and_decisions():
    found = compared()

    assert ids(found, chip="all", text="PARCEL charged") == ["c6"]
    assert ids(found, chip="all", text="delivery") == ["c2"]
    assert ids(found, chip="all", text="zebra") == []


def test_a_cell_of_a_matrix_leaves_its_cases():
    found = compared()

    assert ids(found, chip="all", expected="billing", decided="orders", side="b") == ["c1"]
    assert ids(found, chip="all", expected="orders", decided="tech", side="a") == ["c2"]
    several = {"expected": "orders + billing", "decided": "several"}
    assert ids(found, chip="all", side="b", **several) == ["c6"]
    together = {"expected": "several", "decided": "orders"}
    assert ids(found, chip="all", side="a", **together) == ["c6"]
    assert ids(found, chip="all", expected="billing", decided="tech", side="") == ["c7"]


def test_a_filter_by_a_cell_is_said_in_words():
    wanted = Wanted(expected="billing", decided="abstain", side="b")

    assert cell_words(wanted, ("v2", "v3")) == "should go to billing, v3 sent it to nobody"
    assert cell_words(Wanted(), ("v2", "v3")) == ""


def test_chips_have_counts_and_empty_ones_are_left_out_but_the_first_and_last():
    counts = compared().counts

    assert chip_word("regressed", counts) == "▼ Regressed 2"
    assert shown_chips(counts) == (
        "regressed", "improved", "both wrong", "other target", "critical", "all",
    )  # fmt: skip
    assert shown_chips({}) == ("regressed", "all")


def test_that_nothing_regressed_is_said():
    same = compared(b=A_DECISIONS)

    assert ids(same) == []
    assert showing_cases(0, 1, 0, Wanted()) == (
        "No case regressed: whatever A had right, B has right too."
    )
    assert showing_cases(0, 1, 0, Wanted(text="zebra")) == "No case matches."
    assert showing_cases(25, 26, 5_500, Wanted(chip="all")) == "Showing 26 to 50 of 5,500 cases."


def test_a_row_says_what_changed_in_signs_and_words():
    found = line(compared(), "c1")

    assert (found.sign, found.change) == ("▼", "regressed")
    assert found.note == "! critical · charges"
    assert (found.a.sign, found.a.name) == ("✓", "billing")
    assert (found.b.sign, found.b.name) == ("✕", "orders")
    assert found.a.title == "billing 2.50 · tech 1.00"


def test_who_did_not_run_or_failed_is_no_pass():
    found = compared(a=("", "?", *A_DECISIONS[2:]))

    first, second = line(found, "c1"), line(found, "c2")
    assert (first.change, first.a.sign, first.a.name) == ("missing", "○", "no decision")
    assert second.a.name == "no decision"


def test_a_case_whose_trials_disagree_is_flaky():
    made = experiment(trials_each=2)
    of = {"v2": made.trials["v2"], "v3": ()}
    twice = [trial(CASES[0], said, number=n) for n, said in enumerate(("billing", "tech"), 1)]
    of["v3"] = (*twice, *made.trials["v3"][1:])

    found = comparison(replace(made, trials=of), "v2", "v3")

    assert ids(found, chip="flaky") == ["c1"]
    assert line(found, "c1").b.sign == "≈"
    assert line(found, "c1").note.startswith("! critical · ≈ flaky")


def test_a_case_has_both_decisions_with_scores_and_matched_words():
    view = case_view(compared(), "c1")

    assert view.expected == "billing"
    assert [(it.agent, it.score, it.matched) for it in view.a.scores] == [
        ("billing", "2.50", "charged"),
        ("tech", "1.00", ""),
    ]
    assert view.a.scores[0].share == 1.0
    assert view.a.scores[0].is_wanted
    assert view.a.figures == "40 tokens (estimated) · 2.0 ms"
    assert view.facts == ("critical", "charges", "case c1")


def test_the_texts_of_the_agents_involved_stand_side_by_side_word_by_word():
    view = case_view(compared(), "c1")

    assert [(it.agent, it.field, it.is_same) for it in view.changes] == [
        ("billing", "description", False),
        ("orders", "description", False),
    ]
    billing = view.changes[0].segments
    assert [it.text for it in billing if it.side is Side.LEFT] == ["payments"]
    assert [it.text for it in billing if it.side is Side.RIGHT] == ["refunds"]
    assert view.unchanged == ""


def test_an_agent_whose_text_is_the_same_is_shown_once():
    view = case_view(compared(), "c3")

    assert [(it.agent, it.is_same) for it in view.changes] == [("tech", True)]
    assert view.unchanged.startswith("The descriptions involved are the same")


def test_whole_sessions_lead_to_their_record():
    view = case_view(compared(mode="full"), "c1")

    assert (view.a.session_id, view.b.session_id) == ("s-v2-c1", "s-v3-c1")
    assert view.b.figures.endswith("2 handoffs · 1 of them put right later · answered by orders")


def test_a_case_says_what_has_to_go_along_what_is_known_and_how_much_of_it_did():
    first = replace(CASES[0], required_fields=("invoice", "amount"), state={"customer": "K-1"})
    sides = {
        label: (trial(first, "billing", completeness=share),)
        for label, share in (("v2", 0.5), ("v3", None))
    }
    made = replace(experiment(cases=(first,), a=["billing"], b=["billing"]), trials=sides)

    view = case_view(comparison(made, "v2", "v3"), "c1")

    assert view.facts[2:] == (
        "has to go along: invoice, amount",
        "known before: customer",
        "case c1",
    )
    assert view.a.figures.endswith(" · 50.0 % of the required values went along")
    assert view.b.figures == "40 tokens (estimated) · 2.0 ms"


def test_there_is_no_such_case():
    assert case_view(compared(), "c99") is None


def test_involved_are_those_who_should_get_it_and_those_who_got_it():
    row = next(row for row in compared().rows if row.case.case_id == "c4")

    assert involved_agents(row) == ("billing", "orders", "tech")


def test_every_change_is_listed_with_what_decides_first():
    assert [(it.agent, it.field) for it in all_changes(compared())] == [
        ("billing", "description"),
        ("orders", "description"),
    ]


def test_hostile_text_stays_text_on_one_line():
    found = line(compared(), "c8")

    assert "\u202e" not in found.input
    assert "<script>" in found.input
    view = case_view(compared(), "c8")
    assert view.source == "s-failed"
    assert EVIL.split("\u202e")[0].strip() in view.text


def test_both_sides_of_the_fixture_are_as_its_name_says():
    assert len(A_DECISIONS) == len(B_DECISIONS) == len(CASES)


@pytest.mark.parametrize(
    ("scores", "why"),
    [
        ((3.6, 3.6, 0.0), "a0 and a1 fit equally well, so it goes to nobody."),
        ((1.2, 0.4), "a0 fits best, but not well enough."),
        ((0.0, 0.0), "No description has any of its words."),
        ((), ""),
    ],
)
def test_a_router_that_chooses_nobody_says_why(scores, why):
    assert why_nobody([AgentScore(f"a{n}", score) for n, score in enumerate(scores)]) == why


def test_why_nobody_stands_at_the_side_that_chose_nobody_and_not_at_the_other():
    found = compared()
    row = found.rows[0]
    tied = (AgentScore("billing", 3.6), AgentScore("orders", 3.6))
    b = replace(row.b, decided=Decided.ABSTAIN, agents=(), scores=tied)
    view = case_view(replace(found, rows=(replace(row, b=b),)), row.case.case_id)

    assert view.b.why_nobody == "billing and orders fit equally well, so it goes to nobody."
    assert view.a.why_nobody == ""


def test_a_decision_of_an_earlier_run_says_when_that_was():
    made = experiment()
    reused = {
        label: tuple(replace(it, reused=True) for it in of) for label, of in made.trials.items()
    }

    view = case_view(compared(trials=reused), "c1")

    assert view.a.reused == "from an earlier run of the same content, 2026-11-30 00:53:20 UTC"
    assert case_view(compared(), "c1").a.reused == ""
