"""Processes that can be killed at any moment, and what they leave outside the record they write."""

import asyncio
import json
import os
import signal
import sqlite3
import traceback
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from hashlib import blake2b
from pathlib import Path
from typing import Any

from handoff_console.runtime import Effect, Event, Flow, Model, ModelCall
from handoff_console.runtime.models import as_model
from handoff_console.runtime.redaction import Redaction
from handoff_console.store.effects import StoreLedger
from handoff_console.store.writer import StoreSink


class Death:
    """Ends this process at its n-th moment; 0 lets it live.

    A moment is when something was done: a commit of the record, a note in the ledger, an effect.
    """

    def __init__(self, at: int = 0) -> None:
        self.at, self.moments = at, 0
        self.last_words: Callable[[], None] = lambda: None

    def __call__(self) -> None:
        self.moments += 1
        if self.moments == self.at:
            self.last_words()
            os.kill(os.getpid(), signal.SIGKILL)


ALIVE: list[int] = []
"""The process that this one waits for, if it does."""


def forked(work: Callable[[], None]) -> int:
    """Do it in a process of its own, and return how that ended."""
    pid = os.fork()
    if pid == 0:
        status = 1
        try:
            work()
            status = 0
        except BaseException:  # noqa: BLE001 - it would fork on otherwise
            traceback.print_exc()
        finally:
            os._exit(status)
    ALIVE[:] = [pid]
    ended = os.waitpid(pid, 0)[1]
    ALIVE.clear()
    return os.waitstatus_to_exitcode(ended)


def stop(*_: object) -> None:
    """End this process, and the one that it waits for before: nobody writes any more then."""
    for pid in ALIVE:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
    os._exit(1)


class World:
    """What happens outside the record: models asked, effects that happened, what was committed."""

    def __init__(self, folder: Path) -> None:
        self.store = folder / "s.db"
        self._asked, self._happened = folder / "asked.txt", folder / "happened.txt"
        self._committed = folder / "committed.txt"

    def ask(self, call: ModelCall) -> None:
        _add(self._asked, f"{call.path} {call.step}\n")

    def happen(self, tool: str, arguments: dict[str, Any], result: Any) -> None:
        said = {"tool": tool, "arguments": arguments, "result": result}
        _add(self._happened, json.dumps(said, default=str) + "\n")

    def questions(self) -> int:
        return len(_lines(self._asked))

    def effects(self) -> Counter[str]:
        return Counter(_lines(self._happened))

    def happened(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in _lines(self._happened)]

    def commit(self, db: sqlite3.Connection, events: int, before: tuple[int, int]) -> None:
        """Note what a process committed, by digest: so many events, after those before it."""
        rows = [*_events(db, before[0])]
        rows += [f"not there when its process died: {n}" for n in range(len(rows), events)]
        rows += _bodies(db, before[1])
        _add(self._committed, "".join(f"{row}\n" for row in rows))

    def lost(self, db: sqlite3.Connection) -> int:
        """Return how much of what was ever committed is not in the store now, byte for byte."""
        return len(set(_lines(self._committed)).difference(_events(db), _bodies(db)))


def _events(db: sqlite3.Connection, after: int = 0) -> Iterator[str]:
    """Yield a line for each event: which it is, and the digest of all that its row holds."""
    for row in db.execute("select * from events where event > ?", (after,)):
        yield f"{row[0]} {_digest(repr(row))}"


def _bodies(db: sqlite3.Connection, after: int = 0) -> Iterator[str]:
    for name, text in db.execute("select digest, content from bodies where body > ?", (after,)):
        yield f"{name.hex()} {_digest(text)}"


def _digest(text: str) -> str:
    return blake2b(text.encode(), digest_size=12).hexdigest()


def _add(path: Path, text: str) -> None:
    with path.open("a") as file:
        file.write(text)


def _lines(path: Path) -> list[str]:
    return path.read_text().splitlines() if path.exists() else []


class CountedModel:
    """A model that leaves a line for each time it is asked."""

    def __init__(self, model: Model, world: World) -> None:
        self._model, self._world = model, world

    def __getattr__(self, name: str) -> Any:
        return getattr(self._model, name)

    async def reply(self, call: ModelCall, /) -> Any:
        self._world.ask(call)
        return await self._model.reply(call)


def counted(flow: Flow, world: World, moment: Death) -> Flow:
    """The flow with models and effects that leave a trace outside the record."""

    def act(tool):
        if tool.effect is Effect.READ:
            return tool
        plain = tool.function

        async def acting(**arguments):
            result = plain(**arguments)
            if asyncio.iscoroutine(result):
                result = await result
            world.happen(tool.name, arguments, result)
            moment()
            return result

        acting.__wrapped__ = plain
        return replace(tool, function=acting)

    agents = [
        replace(
            agent,
            model=CountedModel(as_model(agent.model or flow.model, flow.name, agent.name), world),
            tools=[act(tool) for tool in agent.tools],
        )
        for agent in flow.agents
    ]
    return flow.changed(agents=agents)


class MortalSink:
    """The store's sink; each commit is a moment.

    Before its process dies, all that this one committed is noted beside the store.
    """

    def __init__(self, sink: StoreSink, world: World, moment: Death) -> None:
        self.digest_key, self.keep = sink.digest_key, sink.keep
        self._sink, self._world, self._moment = sink, world, moment
        self._taken = self._committed = 0
        newest = "select ifnull((select max(event) from events), 0), ifnull(max(body), 0)"
        self._before = sink.db.execute(f"{newest} from bodies").fetchone()
        moment.last_words = self._last_words

    def append(self, event: Event, /) -> None:
        self._sink.append(event)
        self._taken += 1

    def commit(self, *, synced: bool = False) -> None:
        self._sink.commit(synced=synced)
        self._committed = self._taken
        self._moment()

    def _last_words(self) -> None:
        self._world.commit(self._sink.db, self._committed, self._before)


class MortalLedger(StoreLedger):
    """The store's ledger; each note in it is a moment."""

    def __init__(self, db: sqlite3.Connection, moment: Death) -> None:
        super().__init__(db, Redaction())
        self._moment = moment

    def begin(self, key, session_id, /):
        super().begin(key, session_id)
        self._moment()

    def done(self, key, result, /):
        super().done(key, result)
        self._moment()

    def failed(self, key, /):
        super().failed(key)
        self._moment()
