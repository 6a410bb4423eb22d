"""Plans are checked as a whole."""

import pytest

from handoff_console.sample_runs.plans import PlanStep, checked_plan


def step(worker: str) -> PlanStep:
    return PlanStep(worker=worker, task="do it")


def test_a_plan_of_known_workers_is_the_plan():  # R43
    plan = [step("researcher"), step("checker")]

    assert checked_plan(plan, {"checker", "researcher", "writer"}) == plan


def test_all_invented_workers_are_listed_with_those_there_are():  # R43
    with pytest.raises(
        ValueError, match=r"^unknown workers: astrologer, poet; there are: checker$"
    ):
        checked_plan([step("poet"), step("checker"), step("astrologer")], {"checker"})


def test_an_empty_plan_is_no_plan():
    with pytest.raises(ValueError, match="the plan has no steps"):
        checked_plan([], {"checker"})
