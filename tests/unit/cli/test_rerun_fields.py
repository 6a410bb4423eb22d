"""What is typed into the form for a re-run, read as an order."""

from contextlib import closing
from dataclasses import replace

import pytest

from handoff_console.console.commands.flows import load_flow
from handoff_console.console.commands.rerun_fields import fields_of, read_fields
from handoff_console.console.commands.rerun_orders import RerunOrder, prepare
from handoff_console.console.commands.rerun_start import best_named, start_of
from handoff_console.console.commands.running import run_once
from handoff_console.runtime.edits import Edits
from handoff_console.runtime.errors import RequestError
from handoff_console.runtime.rerun_player import Mode
from handoff_console.store.db import open_reader


def started(path, flow, message, handoff="h2"):
    """Run a sample, and return what the form for one of its handoffs starts from."""
    session = run_once(path, load_flow(flow).flow, message, source=flow).session_id
    with closing(open_reader(path)) as db:
        return start_of(db, session, handoff)


def test_an_agent_that_is_gone_from_the_flow_is_a_sentence(tmp_path):
    path, file = tmp_path / "sessions.db", tmp_path / "desk.py"
    session = run_once(path, load_flow("support").flow, QUESTION, source="support").session_id
    file.write_text(
        "from handoff_console.runtime import Agent, Flow, say\n"
        "flow = Flow('desk', [Agent('triage', 'Routes.', model=lambda call: say('Hello'))])\n"
    )
    order = RerunOrder(handoff_id="h2", mode=Mode.VERIFY, named=f"{file}:flow")

    with closing(open_reader(path)) as db:
        for asked in (
            lambda: start_of(db, session, "h2", order.named),
            lambda: prepare(db, session, order),
        ):
            with pytest.raises(RequestError, match="'desk' has no agent 'billing', who did"):
                asked()


def test_a_version_that_was_saved_in_the_page_can_be_chosen_in_the_form(tmp_path):
    saved = tmp_path / "prompts" / "support" / "mine"
    saved.mkdir(parents=True)
    (saved / "billing.md").write_text("Look twice.\n")

    start = started(tmp_path / "sessions.db", "support", QUESTION)

    assert start.prompt_versions["mine"] == "Look twice."


QUESTION = "I am customer 5120. Why was I charged twice last month?"


@pytest.fixture(scope="module")
def start(tmp_path_factory):
    path = tmp_path_factory.mktemp("form") / "sessions.db"
    return started(path, "support", QUESTION)


def edits(start, **fields) -> Edits:
    read = read_fields(start, replace(fields_of(start), **fields))
    assert read.problems == {}
    return read.order.edits


def problems(start, **fields) -> dict[str, str]:
    return dict(read_fields(start, replace(fields_of(start), **fields)).problems)


def test_what_stands_there_as_it_was_recorded_changes_nothing(start):
    read = read_fields(start, fields_of(start))

    assert (read.order.edits, read.problems) == (Edits(), {})
    assert read.order.mode is Mode.WHAT_IF


@pytest.mark.parametrize(
    ("fields", "changed"),
    [
        ({"task": "Look again."}, Edits(task="Look again.")),
        ({"left_out": ("since",)}, Edits(without_inputs=("since",))),
        ({"more_inputs": "page = 2\n\nname = O'Neil"}, Edits(inputs={"page": 2, "name": "O'Neil"})),
        ({"tools": ()}, Edits(allowed_tools=())),
        ({"limits": {"max_steps": 9.0}}, Edits(limits={"max_steps": 9})),
        ({"limits": {"deadline_seconds": 2.5}}, Edits(limits={"deadline_seconds": 2.5})),
        ({"output_schema": "Text"}, Edits(output_schema="Text")),
        ({"prompt": "Be brief."}, Edits(prompt="Be brief.")),
        ({"model": " offline:bm25 "}, Edits(model="offline:bm25")),
        ({"tool_results": {"1.0": '{"a": 1}'}}, Edits(tool_results={"1.0": {"a": 1}})),
        ({"tool_results": {"1.0": '"nobody"'}}, Edits(tool_results={"1.0": "nobody"})),
    ],
)
def test_each_field_is_an_edit_of_its_own(start, fields, changed):
    assert edits(start, **fields) == changed


def test_a_text_stays_one_and_quotation_marks_are_no_part_of_it(start):
    inputs = dict(fields_of(start).inputs)

    assert edits(start, inputs={**inputs, "customer_id": "4812"}).inputs == {"customer_id": "4812"}
    assert edits(start, inputs={**inputs, "customer_id": '"4812"'}).inputs == {
        "customer_id": "4812"
    }


@pytest.mark.parametrize(
    ("fields", "field", "sentence"),
    [
        ({"limits": {"max_steps": None}}, "limits.max_steps", "Type a number above 0."),
        ({"limits": {"max_steps": 1.5}}, "limits.max_steps", "valid integer"),
        ({"output_schema": "No"}, "output_schema", "There is no schema 'No'; there are: "),
        ({"tools": ("shell",)}, "tools", "Agent 'billing' has no tool 'shell'; it has: "),
        ({"tool_results": {"1.0": "{"}}, "tool_results.1.0", "That is no JSON."),
        ({"tool_results": {"1.0": "NaN"}}, "tool_results.1.0", "That is no JSON."),
        ({"armed": ("billing.list_payments",)}, "armed", "Only the mode `live` acts again"),
        ({"times": None}, "times", "It runs 1 to 100 times"),
        ({"times": 101}, "times", "It runs 1 to 100 times"),
        ({"goal": "Find it."}, "goal", "No packet came along with this handoff"),
        ({"more_inputs": "= 3"}, "more_inputs", "'= 3' is no `name = value`."),
        (
            {"more_inputs": 'log = [{"role": "user", "content": "x"}]'}, "more_inputs",
            "Input 'log' is a list of messages",
        ),
    ],
)  # fmt: skip
def test_what_is_wrong_is_said_at_its_field_alone(start, fields, field, sentence):
    found = problems(start, **fields)

    assert list(found) == [field]
    assert sentence in found[field]


def test_several_mistakes_are_all_said(start):
    assert set(problems(start, task="", times=0, model="x")) == {"task", "times", "model"}


def test_a_packet_has_fields_of_its_own(tmp_path):
    start = started(tmp_path / "s.db", "frontdesk", "I need a refund for my last invoice")
    packet = start.recorded.packet
    before = fields_of(start)

    assert packet is not None
    assert (before.goal, before.summary) == (packet.goal, packet.summary)
    assert edits(start, goal="Find it.", summary="All is well.") == Edits(
        goal="Find it.", summary="All is well."
    )


@pytest.mark.parametrize(
    ("source", "flows", "name"),
    [
        ("support", ["a.py:flow"], ""),
        ("a.py:flow", ["b.py:flow", "/x/a.py:flow"], "/x/a.py:flow"),
        ("/y/a.py:flow", ["/x/a.py:other"], ""),
        ("/y/a.py:flow", ["/x/a.py:flow", "/y/a.py:flow"], "/y/a.py:flow"),
        ("", ["a.py:flow"], ""),
        ("<b>", ["a.py:flow"], ""),
    ],
)
def test_the_flow_is_one_that_the_user_named_or_none(source, flows, name):
    assert best_named(source, flows) == name
