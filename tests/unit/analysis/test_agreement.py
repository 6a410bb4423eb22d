"""How far two labellers agree."""

import pytest

from handoff_console.store.analysis.agreement import agreement


def test_agreement_counts_only_what_both_have_labelled():
    found = agreement(
        ("ada", {"c1": "billing", "c2": "tech", "c3": "tech"}),
        ("bob", {"c2": "tech", "c3": "orders", "c4": "billing"}),
    )

    assert (found.agreed.passed, found.both) == (1, 2)
    assert found.disagreements == (("c3", "tech", "orders"),)


def test_kappa_takes_away_what_chance_would_give():
    mine = dict.fromkeys(["c1", "c2", "c3", "c4"], "yes") | dict.fromkeys(["c5", "c6"], "no")
    theirs = mine | {"c4": "no", "c6": "yes"}

    found = agreement(("ada", mine), ("bob", theirs))

    # 4 of 6 agree; chance gives (4·4 + 2·2) / 36.
    assert found.kappa == pytest.approx((4 / 6 - 20 / 36) / (1 - 20 / 36))


def test_two_who_always_say_the_same_word_agree_and_prove_nothing():
    labels = {"c1": "billing", "c2": "billing"}

    found = agreement(("ada", labels), ("bob", labels))

    assert found.agreed.share == 1.0
    assert found.kappa is None


def test_without_a_common_case_nothing_is_known():
    found = agreement(("ada", {"c1": "billing"}), ("bob", {}))

    assert found.both == 0
    assert found.agreed.share is None
    assert found.kappa is None
