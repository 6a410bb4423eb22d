"""Frozen data classes that share what others have written out for each."""

import copy
import dataclasses
import pickle

import pytest

from handoff_console.runtime.events import BudgetCharged, BudgetRefunded

CHARGED = BudgetCharged(tokens=120, free=9_880, open=0, spent=120)


def test_values_are_equal_by_what_they_hold_and_only_within_their_class():
    assert BudgetCharged(tokens=120, free=9_880, open=0, spent=120) == CHARGED
    assert BudgetCharged(tokens=121, free=9_880, open=0, spent=120) != CHARGED
    assert BudgetRefunded(tokens=120, free=9_880, open=0, spent=120) != CHARGED


def test_equal_values_are_one_in_a_set():
    assert {CHARGED, dataclasses.replace(CHARGED, tokens=120)} == {CHARGED}


def test_a_value_is_shown_as_it_is_made():
    assert repr(CHARGED) == (
        "BudgetCharged(tokens=120, estimated=False, cost=None, free=9880, open=0, spent=120)"
    )


@pytest.mark.parametrize(
    "again", [copy.copy, copy.deepcopy, lambda v: pickle.loads(pickle.dumps(v))]
)
def test_copies_are_equal_and_frozen_as_well(again):
    copied = again(CHARGED)

    assert copied == CHARGED
    with pytest.raises(dataclasses.FrozenInstanceError):
        copied.tokens = 1


def test_nothing_of_a_value_can_be_changed_or_taken_away():
    with pytest.raises(dataclasses.FrozenInstanceError, match="cannot assign to field 'tokens'"):
        CHARGED.tokens = 1
    with pytest.raises(dataclasses.FrozenInstanceError, match="cannot delete field 'tokens'"):
        del CHARGED.tokens


def test_a_value_is_made_by_keyword_with_all_that_has_no_default():
    with pytest.raises(TypeError, match="spent"):
        BudgetCharged(tokens=120, free=9_880, open=0)
    with pytest.raises(TypeError, match="positional"):
        BudgetCharged(120, free=9_880, open=0, spent=120)
