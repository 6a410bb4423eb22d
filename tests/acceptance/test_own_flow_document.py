"""What docs/own-flow.md says of a flow of one's own, and the example that it shows."""

import asyncio
import re
import runpy
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest
from support.sessions import Played

from handoff_console import runtime
from handoff_console.runtime import (
    Agent,
    Approval,
    Decision,
    Edge,
    EventList,
    Flow,
    ModelCall,
    Session,
    Tool,
    run,
)

pytestmark = pytest.mark.acceptance

DOCS = Path(__file__).parents[2] / "docs"
TEXT = (DOCS / "own-flow.md").read_text("utf-8")
EXAMPLE = DOCS / "examples" / "shop.py"


def first_column(begin: str) -> set[str]:
    """Return the words in the first column of the table that follows a line."""
    table = TEXT.partition(begin)[2].partition("|---|---|\n")[2].partition("\n\n")[0]
    cells = [row.split(" | ")[0] for row in table.splitlines()]
    return {word for cell in cells for word in re.findall(r"`([^`]+)`", cell)}


@pytest.mark.parametrize(
    ("begin", "cls", "said_before"),
    [
        ("`Agent(name, …)`:", Agent, {"name"}),
        ("`Tool(function, …)`:", Tool, {"function"}),
        ("`Edge.call(target, description, …)`", Edge, {"target", "via", "description"}),
        ("`Flow(name, agents, …)`:", Flow, {"name", "agents"}),
    ],
)
def test_every_field_is_described_and_no_other(begin, cls, said_before):
    assert first_column(begin) == {one.name for one in fields(cls)} - said_before


def test_what_a_rule_reads_and_returns_is_there():
    read = {
        re.split(r"\W", word.removeprefix("call."))[0] for word in first_column("A rule reads:")
    }
    returned = {re.split(r"\W", word)[0] for word in first_column("and returns one of these")}

    assert all(hasattr(ModelCall, name) for name in read)
    assert returned == {"say", "answer", "use", "delegate", "hand_over", "together", "None"}
    assert all(hasattr(runtime, name) for name in returned - {"None"})


def shop() -> Flow:
    flow: Flow = runpy.run_path(str(EXAMPLE))["flow"]
    return flow


def played(message: str, **options: Any) -> Played:
    found = Played(EventList(b"key"))
    found.outcome = asyncio.run(run(shop(), message, sink=found.sink, **options))
    return found


def test_the_example_pays_back_only_after_a_yes():
    asked: list[Approval] = []

    def person(wanted: Approval) -> Decision | None:
        if not asked:
            return None
        return Decision(approval_id=wanted.approval_id, approved=True, shown=wanted.shown)

    waiting = played("Refund ORD-17, please", ask=person)
    asked.extend(waiting.outcome.waiting_for)
    paid = played("Refund ORD-17, please", ask=person)

    assert paid.routes() == ["user → desk", "desk → books"]
    assert asked[0].arguments == {"order_id": "ORD-17", "cents": 4900}
    assert (waiting.count("tool_called"), paid.count("tool_called")) == (1, 2)
    assert paid.outcome.answer == "49.00 EUR are on their way."


@pytest.mark.parametrize(
    ("message", "status", "answer"),
    [
        ("Refund ORD-99", "ok", "There is no order ORD-99."),
        ("I want a refund", "needs_input", "Which order is it?"),
    ],
)
def test_the_example_answers_what_it_cannot_do(message, status, answer):
    result = played(message).outcome

    assert (result.status, result.answer) == (status, answer)


def test_the_example_hands_over_to_a_person():
    found = played("I want a person")

    assert found.routes() == ["user → desk", "desk → human"]
    assert len(found.outcome.waiting_for) == 1


def test_the_example_goes_on_over_several_turns():
    async def talk() -> list[str]:
        session = Session(shop(), sink=EventList(b"key"))
        said = [await session.say("I want a refund"), await session.say("It is ORD-99")]
        session.close()
        return [result.answer for result in said]

    assert asyncio.run(talk()) == ["Which order is it?", "There is no order ORD-99."]


def test_the_program_that_is_shown_records_into_a_store_that_the_commands_read(handoff, folder):
    shown = TEXT.partition("## From Python")[2]
    record = re.findall(r"```python\n(.*?)```", shown, re.DOTALL)[-1]
    used = {"asyncio": asyncio, "run": run, "flow": shop()}

    for _ in range(2):  # into a new store, and into one that is there
        exec(record, used)

    assert used["result"].waiting_for
    assert handoff("list").out.count("waiting  ") == 2
    assert (folder / "handoff.db").is_file()
