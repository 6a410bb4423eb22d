"""What is said before a handoff is run again: what of a change its worker will not read."""

import pytest

from handoff_console.console.commands.estimates import plan_rerun
from handoff_console.console.commands.rerun_orders import RerunOrder
from handoff_console.runtime import CallableModel, Scripted, say
from handoff_console.runtime.edits import Edits
from handoff_console.runtime.rerun_player import Mode
from handoff_console.sample_runs.shipped import unpack

EXPLAINED, CUT_OFF = "20261125-100500-6e004ac9", "20261125-102000-41063c09"
DENIED = "20261125-140200-41d5fc12"
"""collector (h2) asks for a tool that it may not use."""
WITHIN = (
    "It ended within its limits when this was recorded; higher ones change nothing as long as it "
    "answers the same."
)


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    path = tmp_path_factory.mktemp("notes") / "handoff.db"
    unpack(path)
    return path


def notes(store, edits, session=EXPLAINED, handoff="h2"):
    order = RerunOrder(handoff_id=handoff, mode=Mode.WHAT_IF, edits=edits)
    return list(plan_rerun(store, session, order).estimate.notes)


def unread(what: str) -> str:
    return (
        f"billing follows rules that do not read {what}, so this changes nothing that it does "
        "itself."
    )


@pytest.mark.parametrize(
    ("edits", "said"),
    [
        (Edits(), []),
        (Edits(task="Other"), [unread("its task")]),
        (Edits(inputs={"customer_id": "5120"}), []),
        (Edits(tool_results={"billing.list_payments": {"payments": []}}), []),
        (
            Edits(allowed_tools=("billing.list_payments",)),
            [
                "billing follows rules that do not read which tools it may use: it asks for the "
                "same ones."
            ],
        ),
        (
            Edits(output_schema="PlanHistory"),
            [
                "billing follows rules that do not read what it has to answer with: it answers "
                "the same, and that is checked against the other schema."
            ],
        ),
        (Edits(limits={"max_steps": 20}), [WITHIN]),
        (Edits(limits={"max_steps": 2}), []),
        (
            Edits(tool_results={"9.0": 1}),
            [
                "9.0 was not called when this was recorded; what is said of it matters only if it "
                "is called now."
            ],
        ),
        (
            Edits(prompt="Other"),
            ["billing follows rules; it does not read its prompt, so this changes nothing."],
        ),
        (
            Edits(model=Scripted({"billing": [say("Hello")]}), task="Other", inputs={"a": 1}),
            [
                "a is a further input: recorded were customer_id, since and until.",
                unread("its task and its inputs"),
            ],
        ),
        (
            Edits(without_inputs=("customer", "since")),
            ["Leaving customer out changes nothing: its inputs were customer_id, since and until."],
        ),
        (
            Edits(
                model=CallableModel(lambda agent, messages: "Hello"), task="Other", prompt="Other"
            ),
            [],
        ),
    ],
)
def test_what_nobody_will_read_is_said_and_nothing_else(store, edits, said):
    assert notes(store, edits) == said


def test_higher_limits_are_no_matter_only_where_none_was_hit(store):
    said = notes(store, Edits(limits={"max_steps": 20}), CUT_OFF)

    assert WITHIN not in said


def test_what_has_no_recorded_answer_is_said_before_it_is_refused(store):
    more = Edits(limits={"max_steps": 20})
    both = ("crm.profile", "payments.list_methods")
    wider = Edits(allowed_tools=both)
    pretended = Edits(allowed_tools=both, tool_results={"payments.list_methods": []})

    assert notes(store, more, CUT_OFF) == [
        "What it calls beyond its recorded calls has no recorded answer and is refused; live-reads "
        "asks tools that only read."
    ]
    assert notes(store, wider, DENIED)[-1] == (
        "What payments.list_methods would return is not recorded, so it is refused; live-reads "
        "asks tools that only read."
    )
    assert not any("is refused" in note for note in notes(store, pretended, DENIED))
    for mode in (Mode.VERIFY, Mode.LIVE_READS, Mode.LIVE, Mode.CONTINUE):
        order = RerunOrder(handoff_id="h2", mode=mode, edits=wider)
        said = plan_rerun(store, DENIED, order).estimate.notes
        assert not any("is refused" in note for note in said)
