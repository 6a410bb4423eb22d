"""Changes on top of other changes: of what both say, the later ones count.

And changes of a packet, recorded or made anew, which have to come to the same.
"""

from dataclasses import replace

import pytest

from handoff_console.runtime.contract import Packet
from handoff_console.runtime.edits import Edits


def test_the_later_changes_count_and_the_others_stay() -> None:
    first = Edits(task="a", limits={"max_steps": 9, "max_tokens": 5}, tool_results={"t": 1})
    later = Edits(limits={"max_steps": 12}, prompt="p")

    assert later.over(first) == Edits(
        task="a", prompt="p", limits={"max_steps": 12, "max_tokens": 5}, tool_results={"t": 1}
    )


def test_an_input_is_set_or_left_out_as_was_said_last() -> None:
    set_it, leave_it_out = Edits(inputs={"a": 1, "b": 2}), Edits(without_inputs=("a",))

    assert leave_it_out.over(set_it) == Edits(inputs={"b": 2}, without_inputs=("a",))
    assert set_it.over(leave_it_out) == set_it


def test_no_change_on_top_of_others_leaves_them() -> None:
    some = Edits(task="a", denied=("pay",), goal="g", claimed={"x": 1}, allowed_tools=())

    assert Edits().over(some) == some
    assert some.over(Edits()) == some


RECORDED = Packet(
    "triage",
    "billing",
    goal="Why twice?",
    summary="A charge.",
    facts={"customer": "5120", "month": "10"},
    claimed={"angry": True, "vip": False},
)


@pytest.mark.parametrize(
    ("inputs", "facts", "claimed"),
    [
        ({"customer": "1"}, {"month": "10"}, {"customer": "1", "angry": True, "vip": False}),
        ({"more": 1}, RECORDED.facts, {"more": 1, **RECORDED.claimed}),
        ({"angry": "5120"}, {**RECORDED.facts, "angry": "5120"}, {"vip": False}),
        ({}, RECORDED.facts, RECORDED.claimed),
    ],
)
def test_an_input_is_told_as_it_was_whoever_makes_the_packet(inputs, facts, claimed) -> None:
    """Facts and claims here are those of the gate: what nothing confirms is a claim to it."""
    edits = Edits(inputs=inputs, summary="Another.")
    anew = edits.packet_anew(replace(RECORDED, facts=facts, claimed=claimed), RECORDED)
    changed = edits.packet(RECORDED)

    assert anew == changed
    assert [*anew.facts] == [*changed.facts]
    assert [*anew.claimed] == [*changed.claimed]
