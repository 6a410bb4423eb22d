"""Our row of the peers benchmark: the same five sessions, with all recorded that a re-run needs.

Run by that benchmark (`run_peers.py --peer tests/benchmarks/peer_handoff.py --python …`), whose
folder is then on the path. Every limit stays in force, raised only where a workload goes beyond the
default.
"""

import asyncio
import itertools
import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

from bench import ANSWER, CALLS, INVOICES, QUESTION, RESULT_JSON, Workload, main
from pydantic import BaseModel

from handoff_console.runtime import Agent, Edge, Flow, Limits, ModelReply, Tool, Usage, run

USAGE = Usage(100, 20)
REQUEST = {"reason": "invoices", "task": "Find the invoices of 4812", "customer_id": "4812"}


class Invoices(BaseModel):
    """What a worker answers with."""

    invoices: list[int]
    total: int


async def list_invoices(customer_id: str) -> str:
    """List the invoices of a customer."""
    CALLS["tool"] += 1
    return INVOICES


LIST = Tool(list_invoices)


class Script:
    """A scripted model; it gives way once, as a real call would."""

    offline, reads_prompt = True, False

    def __init__(self, name: str, script: Any) -> None:
        self.name, self._script = name, script

    async def reply(self, call: Any) -> ModelReply:
        CALLS["model"] += 1
        await asyncio.sleep(0)
        return self._script(call.messages)


def asks(*names: str) -> ModelReply:
    arguments = {"customer_id": "4812"}
    calls = tuple(
        {"id": "", "name": name, "arguments": REQUEST if "_to_" in name else arguments}
        for name in names
    )
    return ModelReply(tool_calls=calls, usage=USAGE)


def says(text: str) -> ModelReply:
    return ModelReply(text=text, usage=USAGE)


def sessions(flow: Flow, db_dir: Path | None, model_calls: int, tool_calls: int) -> Workload:
    if db_dir is None:

        async def in_memory() -> str:
            return (await run(flow, QUESTION)).answer

        return Workload(in_memory, model_calls, tool_calls)

    from handoff_console.store.db import open_store
    from handoff_console.store.writer import StoreSink

    path = db_dir / "handoff.db"
    connection = open_store(path, create=True)
    sink = StoreSink(connection)
    ran = itertools.count()

    async def durable() -> str:
        next(ran)
        return (await run(flow, QUESTION, sink=sink)).answer

    def stored() -> int:
        with closing(sqlite3.connect(path)) as db:
            return int(db.execute("select count(*) from events").fetchone()[0]) // next(ran)

    return Workload(durable, model_calls, tool_calls, connection.close, stored)


def w1(n: int, db_dir: Path | None) -> Workload:
    flow = Flow(
        "w1",
        [
            Agent(
                "triage",
                "Route the user.",
                edges=[Edge.transfer("billing", "Invoices.")],
                model=Script("triage", lambda _: asks("transfer_to_billing")),
            ),
            Agent("billing", "Answer.", model=Script("billing", lambda _: says(ANSWER))),
        ],
        pool_tokens=10_000_000,
    )
    return sessions(flow, db_dir, 2, 0)


def w1_tool(n: int, db_dir: Path | None) -> Workload:
    flow = Flow(
        "w1_tool",
        [
            Agent(
                "triage",
                "Route the user.",
                edges=[Edge.transfer("billing", "Invoices.")],
                model=Script("triage", lambda _: asks("transfer_to_billing")),
            ),
            Agent("billing", "Answer.", tools=[LIST], model=Script("billing", after_tool(ANSWER))),
        ],
        pool_tokens=10_000_000,
    )
    return sessions(flow, db_dir, 3, 1)


def after_tool(text: str, first: str = "list_invoices", times: int = 1) -> Any:
    return lambda messages: says(text) if messages[-1]["role"] == "tool" else asks(*[first] * times)


def fan_out(n: int, db_dir: Path | None) -> Workload:
    flow = Flow(
        "fan_out",
        [
            Agent(
                "supervisor",
                "Ask the workers.",
                edges=[
                    Edge.call("worker", "Invoices.", limits=Limits(max_steps=6, max_tokens=1_000))
                ],
                model=Script("supervisor", after_tool(ANSWER, "delegate_to_worker", n)),
            ),
            Agent(
                "worker",
                "Find invoices.",
                tools=[LIST],
                output_schema="Invoices",
                model=Script("worker", after_tool(_typed())),
            ),
        ],
        schemas={"Invoices": Invoices},
        pool_tokens=10_000_000,
        max_workers=n,
        max_workers_per_session=n,
    )
    return sessions(flow, db_dir, 2 + 2 * n, n)


def _typed() -> str:
    json.loads(RESULT_JSON)  # the benchmark's own result, as it is
    return RESULT_JSON


def chain(n: int, db_dir: Path | None) -> Workload:
    left = [0]

    def script(target: str) -> Any:
        def answer(_: Any) -> ModelReply:
            left[0] += 1
            if left[0] > n:
                left[0] = 0
                return says(ANSWER)
            return asks(f"transfer_to_{target}")

        return answer

    flow = Flow(
        "chain",
        [
            Agent(
                "one",
                "One.",
                edges=[Edge.transfer("two", "Two.")],
                model=Script("one", script("two")),
            ),
            Agent(
                "two",
                "Two.",
                edges=[Edge.transfer("one", "One.")],
                model=Script("two", script("one")),
            ),
        ],
        pool_tokens=10_000_000,
        max_handoffs=n,
        max_edge_repeats=n,
    )
    return sessions(flow, db_dir, n + 1, 0)


if __name__ == "__main__":
    main(
        "handoff-console",
        ["pydantic"],
        {"w1": w1, "w1_tool": w1_tool, "w2": fan_out, "w3": chain, "w4": fan_out},
    )
