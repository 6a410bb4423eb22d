"""Every step of a re-run says whether it ran or was replayed, and what that saved."""

from support.attempts import Desk

from handoff_console.console.viewmodels.sentences import sentence
from handoff_console.console.viewmodels.stepper import StepGuide
from handoff_console.runtime.edits import Edits
from handoff_console.runtime.rerun_player import Mode


def said(case: Desk, name: str, kind: str) -> list[str]:
    return [sentence(event) for event in case.record(name).events if event.kind == kind]


def test_what_was_replayed_says_so_and_what_it_saved():
    case = Desk()
    case.session()
    case.again("h2", mode=Mode.VERIFY, name="verified")
    case.again("h1", mode=Mode.WHAT_IF, name="whole")

    replies = said(case, "verified", "model_replied")
    assert len(replies) == 2
    assert replies[0].endswith("asks for 1 tool or handoff, 0 s, replayed: 221 tokens saved")
    assert said(case, "verified", "tool_returned") == [
        "list_payments: done, 0 s, replayed: not called again"
    ]
    assert said(case, "whole", "handoff_closed")[0] == (
        "taken over as recorded, nobody worked on it: not_found: no payment"
    )


def test_in_a_rerun_what_was_really_asked_says_that_it_ran():
    case = Desk()
    case.session()
    case.again("h1", mode=Mode.WHAT_IF, name="whole")
    record = case.record("whole")
    guide = StepGuide(record.tree, (), (), is_rerun=True)

    lines = [guide.row(event).what for event in record.events if event.kind == "model_replied"]
    assert len(lines) == 3
    assert all(line.endswith(", ran") for line in lines)
    usual = StepGuide(record.tree, (), ())
    assert not [event for event in record.events if usual.row(event).what.endswith(", ran")]


def test_what_ran_says_nothing_of_a_recording():
    case = Desk()
    case.session()
    case.again("h2", Edits(inputs={"customer": "4812"}), name="ran")

    for name in ("s1", "ran"):
        for kind in ("model_replied", "tool_returned", "handoff_closed"):
            assert not [line for line in said(case, name, kind) if "replayed" in line]
