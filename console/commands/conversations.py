"""Sessions that somebody talks to in the console: begun, spoken to again, ended.

Each has a thread with a connection of its own. After an answer it stays open for a while, so that
the user can say more; where it needs a person it waits in the store, and its thread is done.
"""

import asyncio
import threading
from collections.abc import Iterator
from concurrent.futures import Future
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any

from handoff_console.console.commands.errors import NotListening
from handoff_console.console.commands.flows import load_flow
from handoff_console.console.commands.jobs import begun_within
from handoff_console.console.commands.left_out_values import keep_while_waiting
from handoff_console.console.commands.price_file import priced
from handoff_console.console.commands.working import at_work
from handoff_console.runtime import Event, Flow, Origin, Session, SessionResult
from handoff_console.runtime.clock import SystemClock
from handoff_console.runtime.errors import HandoffConsoleError
from handoff_console.runtime.options import new_session_id
from handoff_console.store.effects import StoreLedger
from handoff_console.store.writer import StoreSink, open_sink

START_SECONDS = 30.0
"""How long a session's first events are waited for."""
OPEN_SECONDS = 120.0
"""How long a session waits for the user's next message before it is closed."""
FAILURES_KEPT = 100


class Phase(StrEnum):
    """What a conversation does."""

    WORKING = "working"
    LISTENING = "listening"
    """It has answered, and waits for the user's next message."""


_open: dict[str, "Listener"] = {}
_failures: dict[str, str] = {}


def begin(
    store_path: Path,
    flow: Flow,
    message: str,
    *,
    source: str = "",
    open_seconds: float = OPEN_SECONDS,
) -> str:
    """Begin a session in a thread, and return its id once it is in the store.

    Args:
        store_path: Where to record it; the store has to exist.
        flow: The flow, with all options applied.
        message: What the user says first.
        source: How the flow was named.
        open_seconds: How long it waits for more after each answer; 0 closes it at once.

    Raises:
        FlowError: The flow cannot run.
        StoreError: The store cannot be opened or does not take the record.
    """
    session_id = new_session_id(SystemClock())
    listener = Listener(session_id, open_seconds)
    talk = _Conversation(session_id, flow, message, source, listener)
    threading.Thread(
        target=talk.run, args=(store_path,), name=f"session-{session_id}", daemon=True
    ).start()
    return begun_within(talk.started, START_SECONDS)


def start_run(
    store_path: Path,
    flow_name: str,
    message: str,
    *,
    speed: float = 1.0,
    open_seconds: float = 0.0,
) -> str:
    """Begin a session of a flow that is named; see `begin`.

    Args:
        store_path: Where to record it; the store has to exist.
        flow_name: A sample, or `path/to/file.py:name`.
        message: What the user says first.
        speed: How fast a sample's agents answer: 1 like a language model, 0 at once. Flows of the
            user's own take what they take.
        open_seconds: How long it waits for more after each answer; 0 closes it at once.

    Raises:
        FlowNotFound: There is no flow of this name.
        FlowError: The flow cannot run.
        PricesError: There are prices beside the store that cannot be read.
        StoreError: The store cannot be opened or does not take the record.
    """
    loaded = load_flow(flow_name)
    flow = priced(loaded.flow, store_path)
    if loaded.is_sample:
        from handoff_console.sample_runs.pace import paced

        flow = paced(flow, speed)
    return begin(store_path, flow, message, source=loaded.source, open_seconds=open_seconds)


def phase_of(session_id: str) -> Phase | None:
    """Return what a session of this process does; None for one that is over, or runs elsewhere."""
    talk = _open.get(session_id)
    return talk.phase if talk else None


def say_more(session_id: str, message: str) -> None:
    """Say something else to a session that has answered: its next turn begins.

    Raises:
        NotListening: It is still at work, is over, or runs elsewhere; or nothing is said.
    """
    if not message.strip():
        raise NotListening("The message is empty; say something.")
    talk = _open.get(session_id)
    if talk is None or not talk.take(message):
        why = "is still at work" if talk else "is over, or is run by another process"
        raise NotListening(f"Session {session_id!r} {why}; nothing was said to it.")


def failure_of(session_id: str) -> str:
    """Return why a session's thread ended before the session did; empty for one that did not."""
    return _failures.get(session_id, "")


@dataclass(eq=False)
class Listener:
    """Waits for what the user says next in one session, and hands it over."""

    session_id: str
    open_seconds: float
    """How long it waits after each answer; 0 does not wait."""
    phase: Phase = Phase.WORKING
    _said: "asyncio.Queue[str | None]" = field(default_factory=asyncio.Queue)
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _loop: asyncio.AbstractEventLoop | None = None
    _task: "asyncio.Task[Any] | None" = None
    _is_ending: bool = False
    """It was stopped while it listened: what is said now would not be heard."""

    @contextmanager
    def heard(self) -> Iterator[None]:
        """Let others talk to the session, and stop it, while the block lasts."""
        self._loop, self._task = asyncio.get_running_loop(), asyncio.current_task()
        _open[self.session_id] = self
        try:
            with at_work(self.session_id, self.stop):
                yield
        finally:
            _open.pop(self.session_id, None)

    async def converse(self, session: Session, result: SessionResult) -> SessionResult:
        """Say to a session that has answered what the user says, until there is no more.

        Returns:
            The result of the last turn, which may wait for a person.
        """
        with self.heard():
            while not result.waiting_for:
                message = await self._next()
                if message is None:
                    break
                result = await session.say(message)
        return result

    def take(self, message: str) -> bool:
        """Take what the user says next, and say whether it was listened to."""
        with self._lock:
            if self.phase is not Phase.LISTENING or self._is_ending or self._loop is None:
                return False
            self.phase = Phase.WORKING
            self._loop.call_soon_threadsafe(self._said.put_nowait, message)
            return True

    def stop(self) -> None:
        """End it: at once where it works, properly where it listens."""
        assert self._loop is not None
        self._loop.call_soon_threadsafe(self._stop)

    def _stop(self) -> None:
        with self._lock:
            was_ending, self._is_ending = self._is_ending, self.phase is Phase.LISTENING
        if self._is_ending:
            self._said.put_nowait(None)
        elif not was_ending and self._task is not None:
            self._task.cancel()

    async def _next(self) -> str | None:
        """Return what the user says next; None when nothing comes, or the session is to end."""
        if not self.open_seconds:
            return None
        with self._lock:
            self.phase = Phase.LISTENING
        try:
            return await asyncio.wait_for(self._said.get(), self.open_seconds)
        except TimeoutError:
            with self._lock:
                was_heard = self.phase is Phase.WORKING  # in the last moment
                self.phase = Phase.WORKING
            return await self._said.get() if was_heard else None


@dataclass(eq=False)
class _Conversation:
    """One session, from its first message until it is closed or waits in the store."""

    session_id: str
    flow: Flow
    first: str
    source: str
    listener: Listener
    started: "Future[str]" = field(default_factory=Future)

    def run(self, store_path: Path) -> None:
        """Do all of it, in a thread of its own."""
        try:
            with closing(open_sink(store_path)) as sink:
                asyncio.run(self._talk(sink))
        except asyncio.CancelledError:
            pass  # somebody stopped it, and the record says so
        except BaseException as error:
            if not self.started.done():
                self.started.set_exception(error)
                return
            _note_failure(self.session_id, error)
            if not isinstance(error, HandoffConsoleError):
                raise

    async def _talk(self, sink: StoreSink) -> None:
        originals: dict[str, str] = {}
        keep_while_waiting(self.session_id, originals, waits=True)
        session = Session(
            self.flow,
            originals=originals,
            sink=_TellsWhenRecorded(sink, self.started, self.session_id),
            session_id=self.session_id,
            ledger=StoreLedger(sink.db, self.flow.redaction),
            origin=Origin(flow_source=self.source),
        )
        waits = False
        try:
            with self.listener.heard():
                result = await session.say(self.first)
                result = await self.listener.converse(session, result)
                waits = bool(result.waiting_for)
                if not waits:
                    session.close()
        finally:
            keep_while_waiting(self.session_id, originals, waits=waits)


def _note_failure(session_id: str, error: BaseException) -> None:
    while len(_failures) >= FAILURES_KEPT:
        _failures.pop(next(iter(_failures)))
    said = str(error).strip() or type(error).__name__
    _failures[session_id] = f"It broke off: {said}"


class _TellsWhenRecorded:
    """A sink that tells a waiting thread when the first events of a session are in the store."""

    def __init__(self, sink: StoreSink, started: "Future[str]", session_id: str) -> None:
        self.digest_key = sink.digest_key
        self._sink, self._started, self._session_id = sink, started, session_id

    def append(self, event: Event, /) -> None:
        self._sink.append(event)

    def keep(self, digest: str, body: bytes, session_id: str, /) -> None:
        self._sink.keep(digest, body, session_id)

    def commit(self, *, synced: bool = False) -> None:
        self._sink.commit(synced=synced)
        if not self._started.done():
            self._started.set_result(self._session_id)
