"""The same sessions without a runtime: the least Python that does the work, as a yardstick.

Plain asyncio, pydantic and sqlite3: requests, arguments and results are validated, steps and tokens
counted, and typed events written in one transaction a step. Nothing of it can be run again: there
are no contexts, packets, grants, gates or deadlines.
"""

import asyncio
import itertools
import json
import sqlite3
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from pydantic import BaseModel


class Asked(BaseModel):
    """What one agent asks of another."""

    task: str
    inputs: dict[str, str]
    tools: list[str]
    max_steps: int


class Result(BaseModel):
    """What a worker answers with."""

    status: str
    data: dict[str, Any]
    notes: str


class Call(BaseModel):
    """One call of a reply: of a tool, of a worker, or a transfer."""

    name: str
    arguments: str


class Reply(BaseModel):
    """What a model says."""

    text: str | None = None
    calls: list[Call] = []
    tokens: int = 120


class Arguments(BaseModel):
    """Of the one tool."""

    customer_id: str


class Noted(BaseModel):
    """An event."""

    session: str
    seq: int
    at: float
    kind: str
    agent: str
    handoff: int
    parent: int | None
    data: dict[str, Any]


Ask = Callable[[list[dict[str, Any]]], Awaitable[Reply]]

ANSWER = "Customer 4812 was charged twice because of one proration invoice."
INVOICES = json.dumps([{"id": f"in_{n}", "amount": 2_900 + n, "status": "paid"} for n in range(3)])
RESULT = json.dumps({"status": "ok", "data": {"total": 8_703}, "notes": "three invoices found"})
ASKED = Asked(
    task="Find the invoices of 4812",
    inputs={"customer_id": "4812"},
    tools=["list_invoices"],
    max_steps=6,
).model_dump_json()
USE = Reply(calls=[Call(name="list_invoices", arguments='{"customer_id": "4812"}')])


class Journal:
    """Events on their way to a file."""

    def __init__(self, path: Path) -> None:
        self.db = sqlite3.connect(path, isolation_level=None)
        self.db.execute("pragma journal_mode=wal")
        self.db.execute("pragma synchronous=normal")
        self.db.execute(
            "create table noted (session text, seq integer, at real, kind text, agent text,"
            " handoff integer, parent integer, data text, primary key (session, seq))"
            " without rowid"
        )
        self.rows: list[tuple[Any, ...]] = []

    def write(self) -> None:
        """Commit what is noted."""
        self.db.execute("begin")
        self.db.executemany("insert into noted values (?, ?, ?, ?, ?, ?, ?, ?)", self.rows)
        self.db.execute("commit")
        self.rows.clear()


class PlainSession:
    """One request: a counter of tokens, and what happened in order."""

    numbers = itertools.count()

    def __init__(self, models: dict[str, Ask], journal: Journal) -> None:
        self.models, self.journal = models, journal
        self.name = f"s{next(self.numbers)}"
        self.seq, self.handoffs, self.left = itertools.count(), itertools.count(1), 10_000_000

    def note(
        self, kind: str, agent: str, handoff: int, parent: int | None = None, **data: Any
    ) -> None:
        event = Noted(
            session=self.name, seq=next(self.seq), at=time.time(), kind=kind, agent=agent,
            handoff=handoff, parent=parent, data=data,
        )  # fmt: skip
        row = (event.session, event.seq, event.at, event.kind, event.agent, event.handoff)
        self.journal.rows.append((*row, event.parent, event.model_dump_json()))

    async def run(self, first: str, question: str) -> str:
        self.note("started", first, 0, question=question)
        answer = await self.work(first, [{"role": "user", "content": question}], 0, None, 10_000)
        self.note("closed", first, 0, answer=answer, left=self.left)
        self.journal.write()
        return answer

    async def work(
        self, name: str, messages: list[dict[str, Any]], handoff: int, parent: int | None, most: int
    ) -> str:
        for step in range(1, most + 1):
            reply = await self.models[name](messages)
            self.left -= reply.tokens
            self.note("step", name, handoff, parent, step=step, reply=reply.model_dump())
            self.journal.write()
            if reply.text is not None:
                return reply.text
            calls = [call for call in reply.calls if call.name == "ask_worker"]
            if calls:
                found = await asyncio.gather(*(self.ask(call, name, handoff) for call in calls))
                content = [result.model_dump() for result in found]
                messages = [*messages, {"role": "tool", "content": content}]
                continue
            call = reply.calls[0]
            if call.name.startswith("transfer_to_"):
                asked = Asked.model_validate_json(call.arguments)
                parent, handoff = handoff, next(self.handoffs)
                name = call.name.removeprefix("transfer_to_")
                self.note("handoff", name, handoff, parent, request=asked.model_dump())
                messages = [{"role": "user", "content": asked.model_dump_json()}]
                continue
            arguments = Arguments.model_validate_json(call.arguments).model_dump()
            self.note("tool", name, handoff, parent, arguments=arguments, output=INVOICES)
            messages = [*messages, {"role": "tool", "content": INVOICES}]
        raise RuntimeError("step cap hit")

    async def ask(self, call: Call, by: str, parent: int) -> Result:
        asked = Asked.model_validate_json(call.arguments)
        handoff = next(self.handoffs)
        self.left -= 1_000
        self.note("handoff", by, handoff, parent, request=asked.model_dump())
        messages = [{"role": "user", "content": asked.model_dump_json()}]
        text = await self.work("worker", messages, handoff, parent, asked.max_steps)
        result = Result.model_validate_json(text)
        self.left += 1_000
        self.note("result", "worker", handoff, parent, result=result.model_dump())
        return result


def scripted(script: Callable[[list[dict[str, Any]]], Reply]) -> Ask:
    """Return a model that gives way once, as a real call would."""

    async def ask(messages: list[dict[str, Any]]) -> Reply:
        await asyncio.sleep(0)
        return script(messages)

    return ask


def passes_to(target: str) -> Reply:
    return Reply(calls=[Call(name=f"transfer_to_{target}", arguments=ASKED)])


def says(text: str) -> Reply:
    return Reply(text=text)


def after_tool(text: str, otherwise: Reply) -> Ask:
    return scripted(lambda heard: says(text) if heard[-1]["role"] == "tool" else otherwise)


def transfer() -> dict[str, Ask]:
    return {
        "triage": scripted(lambda _: passes_to("billing")),
        "billing": scripted(lambda _: says(ANSWER)),
    }


def transfer_and_tool() -> dict[str, Ask]:
    return {"triage": scripted(lambda _: passes_to("billing")), "billing": after_tool(ANSWER, USE)}


def fan_out(workers: int) -> dict[str, Ask]:
    asks = Reply(calls=[Call(name="ask_worker", arguments=ASKED) for _ in range(workers)])
    return {"supervisor": after_tool(ANSWER, asks), "worker": after_tool(RESULT, USE)}


def chain(handoffs: int) -> dict[str, Ask]:
    passed = itertools.count(1)

    def script(target: str) -> Ask:
        def reply(_: Any) -> Reply:
            is_last = next(passed) % (handoffs + 1) == 0
            return says(ANSWER) if is_last else passes_to(target)

        return scripted(reply)

    return {"one": script("two"), "two": script("one")}
