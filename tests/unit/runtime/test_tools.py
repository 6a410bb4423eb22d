"""Running tools: whatever they do, an outcome; at a deadline, nobody waits."""

import asyncio
import functools
import re
import sys
import threading
from typing import Annotated, Literal

import pytest
from pydantic import Field

from handoff_console.runtime import Effect, Tool, ToolError, TransientToolError
from handoff_console.runtime.clock import run_virtual
from handoff_console.runtime.tools import LATE, ToolOutcome, by_deadline, run_together, run_tool


def look_up(customer_id: str, pages: int = 1) -> list[str]:
    """Find the invoices of a customer.

    More text that no model needs.
    """
    return [customer_id] * pages


async def look_up_later(customer_id: str) -> str:
    await asyncio.sleep(10)
    return customer_id


class Ledger:
    """Look into the ledger."""

    async def __call__(self, page: int) -> int:
        return page + 1


def outcome(tool: Tool, **arguments) -> ToolOutcome:
    return run_virtual(run_tool(tool, arguments))


# What a model is told of a tool


def test_a_tool_is_named_and_described_by_its_function():
    tool = Tool(look_up)

    assert (tool.name, tool.description) == ("look_up", "Find the invoices of a customer.")
    assert tool.effect is Effect.READ


def test_a_tool_may_have_another_name_and_description():
    tool = Tool(look_up, name="billing.list_invoices", description="List invoices.")

    assert (tool.spec["name"], tool.spec["description"]) == (
        "billing.list_invoices",
        "List invoices.",
    )


def test_a_spec_has_the_schema_of_the_arguments_and_a_digest_of_the_source():
    spec = Tool(look_up).spec

    assert spec["parameters"]["required"] == ["customer_id"]
    assert spec["parameters"]["additionalProperties"] is False
    assert spec["effect"] == "read"
    assert len(spec["source"]) == 32
    assert spec["source"] != Tool(look_up_later, name="look_up").spec["source"]


def test_a_function_without_source_has_a_spec_too():
    made: dict = {}
    exec("def typed_in(page: int) -> int:\n    return page", made)

    assert len(Tool(made["typed_in"]).spec["source"]) == 32


# Arguments


def test_arguments_are_checked_against_the_annotations():
    assert Tool(look_up).parse({"customer_id": "4812"}) == {"customer_id": "4812", "pages": 1}


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        ({}, "customer_id: Field required"),
        (
            {"customer_id": "4812", "page": 2},
            "page: Extra inputs are not permitted",
        ),
        (
            {"customer_id": 4812, "pages": "many"},
            "customer_id: Input should be a valid string; pages: Input should be a valid integer, "
            "unable to parse string as an integer",
        ),
    ],
)
def test_arguments_that_do_not_fit_are_named_without_quoting_values(arguments, problem):
    with pytest.raises(ValueError, match=f"^{problem}$"):
        Tool(look_up).parse(arguments)


def test_arguments_may_have_constraints():
    def refund(amount: Annotated[int, Field(gt=0)], currency: Literal["EUR"] = "EUR") -> int:
        return amount

    with pytest.raises(ValueError, match=r"^amount: Input should be greater than 0$"):
        Tool(refund).parse({"amount": -1})


# What it comes back with


@pytest.mark.parametrize(
    ("tool", "arguments", "value"),
    [
        (Tool(look_up), {"customer_id": "4812"}, ["4812"]),
        (Tool(look_up, inline=True), {"customer_id": "4812"}, ["4812"]),
        (Tool(look_up_later), {"customer_id": "4812"}, "4812"),
        (Tool(functools.partial(look_up, pages=2), name="two"), {"customer_id": "a"}, ["a", "a"]),
        (Tool(Ledger(), name="ledger"), {"page": 1}, 2),
    ],
    ids=["plain", "inline", "async", "partial", "object"],
)
def test_a_tool_returns_its_value(tool, arguments, value):
    assert outcome(tool, **arguments) == ToolOutcome(value)


def test_a_plain_tool_runs_in_a_thread_of_its_own():
    def where() -> str:
        return threading.current_thread().name

    found = asyncio.run(run_tool(Tool(where), {}))

    assert found == ToolOutcome("tool where")


def test_a_plain_tool_of_any_callable_runs_in_a_thread():
    tool = Tool(functools.partial(look_up, "4812"), name="mine")

    assert asyncio.run(run_tool(tool, {})) == ToolOutcome(["4812"])


@pytest.mark.parametrize(
    ("raised", "error", "transient"),
    [
        (ToolError("no such customer"), "no such customer", False),
        (TransientToolError("the ledger is busy"), "the ledger is busy", True),
        (ToolError(), "ToolError", False),
        (TimeoutError("no answer"), "TimeoutError: no answer", True),
        (ConnectionResetError(), "ConnectionResetError", True),
        (KeyError("page"), "KeyError: 'page'", False),
        (SystemExit(3), "SystemExit: 3", False),
        (asyncio.CancelledError(), "CancelledError", False),
        (StopIteration("over"), "StopIteration: over", False),
    ],
)
@pytest.mark.parametrize("kind", ["async", "inline"])
def test_whatever_a_tool_raises_is_an_error_for_the_model_to_read(kind, raised, error, transient):
    def fail() -> None:
        raise raised

    async def fail_later() -> None:
        await asyncio.sleep(1)
        raise raised

    if kind == "async" and isinstance(raised, StopIteration):
        error = "RuntimeError: coroutine raised StopIteration"
    tool = Tool(fail, inline=True) if kind == "inline" else Tool(fail_later)

    found = outcome(tool)
    assert (found.value, found.error, found.transient) == (None, error, transient)
    # What it says on purpose, and what may go well the next time, is no mistake in its code.
    is_meant = transient or isinstance(raised, ToolError)
    assert re.fullmatch("" if is_meant else r"test_tools\.py, line \d+", found.raised_at)


@pytest.mark.parametrize(
    ("raised", "error"),
    [
        (SystemExit(3), "RuntimeError: SystemExit: 3"),
        (StopIteration(), "RuntimeError: StopIteration"),
        (ToolError("no such customer"), "no such customer"),
    ],
)
def test_what_a_tool_raises_in_its_thread_reaches_the_model(raised, error):
    def fail() -> None:
        raise raised

    assert asyncio.run(run_tool(Tool(fail), {})).error == error


# Deadlines


def test_work_that_is_done_in_time_gives_its_value():
    async def work() -> str:
        await asyncio.sleep(4)
        return "done"

    assert run_virtual(by_deadline(work(), 5)) == "done"


def test_the_waiting_one_is_free_at_the_deadline_even_when_cleaning_up_takes_longer():  # OA#4899
    cleaned = []

    async def slow() -> None:
        try:
            await asyncio.sleep(100)
        finally:
            await asyncio.sleep(50)
            cleaned.append(asyncio.get_running_loop().time())

    async def ask() -> tuple[object, float]:
        found = await by_deadline(slow(), 5)
        freed = asyncio.get_running_loop().time()
        await asyncio.sleep(100)
        return found, freed

    assert run_virtual(ask()) == (LATE, 5)
    assert cleaned == [55]


def test_late_work_reports_when_it_ends_after_all():
    late = []

    async def slow() -> str:
        await asyncio.sleep(8)
        return "late value"

    async def ask() -> object:
        found = await by_deadline(slow(), 5, late.append)
        await asyncio.sleep(10)
        return found

    assert run_virtual(ask()) is LATE
    assert late == ["late value"]


def test_late_work_that_fails_disturbs_nobody():
    async def slow() -> None:
        await asyncio.sleep(8)
        raise ValueError("nobody waits")

    async def stubborn() -> None:
        try:
            await asyncio.sleep(8)
        except asyncio.CancelledError:
            raise ValueError("nobody waits") from None

    async def ask() -> list[object]:
        found = [await by_deadline(slow(), 5, print), await by_deadline(stubborn(), 5)]
        await asyncio.sleep(10)
        return found

    assert run_virtual(ask()) == [LATE, LATE]


def test_no_time_left_means_that_nothing_is_waited_for():
    async def ask() -> tuple[object, float]:
        found = await by_deadline(asyncio.sleep(1), -3)
        return found, asyncio.get_running_loop().time()

    assert run_virtual(ask()) == (LATE, 0)


def test_work_that_cancels_itself_is_a_failure_not_a_cancellation():
    async def work() -> None:
        raise asyncio.CancelledError

    with pytest.raises(RuntimeError, match=r"^it was cancelled from within$"):
        run_virtual(by_deadline(work(), 5))


def test_cancelling_who_waits_cancels_the_work():
    ended = []

    async def work() -> None:
        try:
            await asyncio.sleep(100)
        except asyncio.CancelledError:
            ended.append("cancelled")
            raise

    async def ask() -> None:
        task = asyncio.ensure_future(by_deadline(work(), 50))
        await asyncio.sleep(1)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await asyncio.sleep(1)

    run_virtual(ask())

    assert ended == ["cancelled"]


def test_work_that_comes_back_at_the_very_moment_of_the_deadline_counts():
    async def work() -> str:
        await asyncio.sleep(5)
        return "done"

    assert run_virtual(by_deadline(work(), 5)) == "done"


def test_a_thread_that_hangs_does_not_hold_the_programs_end():
    code = (
        "import asyncio, threading\n"
        "from handoff_console.runtime import Tool\n"
        "from handoff_console.runtime.tools import LATE, by_deadline, run_tool\n"
        "def hang(): threading.Event().wait()\n"
        "print(asyncio.run(by_deadline(run_tool(Tool(hang), {}), 0.05)) is LATE)\n"
    )
    ended = asyncio.run(_ran(code))

    assert ended == (0, b"True\n")


async def _ran(code: str) -> tuple[int | None, bytes]:
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-c", code, stdout=asyncio.subprocess.PIPE
    )
    out, _ = await asyncio.wait_for(process.communicate(), 60)
    return process.returncode, out


# Several at once


def test_works_run_together_overlap():
    done = []

    async def work(seconds: float) -> None:
        await asyncio.sleep(seconds)
        done.append(asyncio.get_running_loop().time())

    run_virtual(run_together([work(3), work(2), work(3)]))

    assert done == [2, 3, 3]


def test_one_that_raises_cancels_the_others_and_is_raised_itself():
    ended = []

    async def fail() -> None:
        await asyncio.sleep(1)
        raise OSError("the disk is full")

    async def work() -> None:
        try:
            await asyncio.sleep(100)
        finally:
            ended.append(asyncio.get_running_loop().time())

    with pytest.raises(OSError, match=r"^the disk is full$"):
        run_virtual(run_together([work(), fail()]))
    assert ended == [1]


def test_nothing_to_run_is_done_at_once():
    run_virtual(run_together([]))
