"""Which of several versions is best, said only as surely as the data allow."""

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st
from support.experiments import experiment, version

from handoff_console.store.analysis.comparison.compare import comparison, comparisons
from handoff_console.store.analysis.comparison.gate import Gate
from handoff_console.store.analysis.comparison.ranking import best_of
from handoff_console.store.analysis.paired import Pairs, mcnemar


def right(*spans: tuple[int, int], of: int = 100) -> list[str]:
    """What a version did that got the cases of these spans right."""
    hits = {case for low, high in spans for case in range(low, high)}
    return ["a" if case in hits else "b" for case in range(of)]


def ranked(offline=False, of=100, **went):
    return best_of(experiment(["a"] * of, went, offline=offline), 0.05)


def test_the_best_is_ahead_of_each_of_the_others():
    best = ranked(v1=right((0, 40)), v2=right((0, 60)), v3=right((0, 90)))

    assert (best.label, best.level) == ("v3", ())
    assert best.sentence == (
        "Of 3 versions v3 routes best, right in 90.0 % of 100 cases. It is ahead of each of the "
        "others (v2 60.0 % and v1 40.0 %; the largest p < 0.0001, after Holm over all 3 pairs)."
    )
    assert best.note == "All versions together: Cochran's Q 76.0, p < 0.0001."


def test_an_offline_score_speaks_of_descriptions():
    best = ranked(offline=True, v1=right((0, 40)), v2=right((0, 60)), v3=right((0, 90)))

    assert best.sentence.startswith(
        "Of 3 versions the agents are easiest to tell apart by v3, right in 90.0 % of 100 cases. "
    )


def test_one_that_cannot_be_told_from_the_first_is_named_with_its_p():
    best = ranked(v1=right((0, 40)), v2=right((0, 86)), v3=right((0, 80), (90, 100)))

    assert (best.label, best.level) == ("", ("v3", "v2"))
    assert best.sentence == (
        "Of 3 versions none is best for sure: v3 gets most right, 90.0 % of 100 cases, but the "
        "data cannot tell it from v2 (86.0 %, p = 0.45). It is ahead of v1, after Holm over all 3 "
        "pairs."
    )


def test_what_is_sure_of_a_pair_alone_may_not_be_among_all_pairs():
    """v3 beats v2 with p = 0.031 by itself; among six pairs that is not enough."""
    went = {"v1": right((0, 30)), "v2": right((0, 50)), "v3": right((0, 56)), "v4": right((0, 52))}

    assert mcnemar(Pairs(50, 0, 6, 44)) < 0.05
    assert ranked(**went).level == ("v3", "v4", "v2")


def test_nobody_is_ahead_where_nothing_is_clear():
    best = ranked(v1=right((0, 50)), v2=right((0, 51)), v3=right((0, 52)))

    assert best.sentence == (
        "Of 3 versions none is best for sure: v3 gets most right, 52.0 % of 100 cases, but the "
        "data cannot tell it from v2 (51.0 %, p = 1.00) or v1 (50.0 %, p = 1.00), after Holm over "
        "all 3 pairs."
    )


def test_versions_that_get_as_many_right_share_their_place():
    best = ranked(v1=right((0, 10)), v2=right((0, 80)), v3=right((20, 100)), v4=right((0, 75)))

    assert best.level == ("v2", "v3", "v4")
    assert best.sentence == (
        "Of 4 versions none is best for sure: v2 and v3 get most right, 80.0 % of 100 cases each, "
        "but the data cannot tell them from v4 (75.0 %). They are ahead of v1, after Holm over all "
        "6 pairs."
    )
    alike = ranked(v1=right((0, 50)), v2=right((0, 50)), v3=right((50, 100)))
    assert alike.sentence == "Of 3 versions none is best: each is right in 50.0 % of 100 cases."


def test_only_cases_that_all_have_decided_count():
    went = {"v1": right((0, 40)), "v2": right((0, 60)), "v3": ["?", *right((1, 90))[1:]]}

    assert ranked(**went).sentence.startswith(
        "Of 3 versions v3 routes best, right in 89.9 % of the 99 cases that all have decided. "
    )
    assert ranked(v1=["?"] * 9, v2=right(of=9), v3=right(of=9), of=9) is None


def test_versions_that_say_the_same_to_the_router_are_no_pair():
    made = experiment(
        ["a"] * 100,
        {"v1": right((0, 40)), "v2": right((0, 90)), "copy": right((0, 90))},
        offline=True,
    )
    same = replace(made, versions=(*made.versions[:2], version("copy", offline=True, reads="v2")))

    assert best_of(same, 0.05).sentence == (
        "Of 3 versions none is best for sure: v2 and copy get most right, 90.0 % of 100 cases "
        "each. They are ahead of v1, after Holm over all 2 pairs."
    )


def test_of_two_versions_or_of_two_kinds_of_router_none_is_best():
    mixed = experiment(["a"] * 9, {name: right((0, 9), of=9) for name in ("v1", "v2", "v3")})
    offline = replace(mixed, versions=(*mixed.versions[:2], version("v3", offline=True)))

    assert ranked(v1=right((0, 9), of=9), v2=right((0, 5), of=9), of=9) is None
    assert best_of(offline, 0.05) is None


def test_every_candidate_says_the_same_of_all_versions():
    went = {"v1": right((0, 40)), "v2": right((0, 86)), "v3": right((0, 90))}
    made = experiment(["a"] * 100, went)

    said = {one.best for one in (*comparisons(made), comparison(made, "v2", "v3"))}

    assert said == {best_of(made, 0.05)}
    assert comparisons(made, Gate(alpha=0.2))[0].best.label == "v3"


@given(st.permutations(["v1", "v2", "v3", "v4"]))
def test_the_order_of_the_versions_changes_nobodys_place(order):
    went = {
        "v1": right((0, 30)),
        "v2": right((0, 50)),
        "v3": right((0, 57)),
        "v4": right((0, 52)),
    }
    made = experiment(["a"] * 100, {label: went[label] for label in order})

    assert best_of(made, 0.05).level == ("v3", "v4")
