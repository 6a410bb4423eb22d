"""Running an input file of many requests, one session each, so that nothing is done twice.

The ledger of the store says which lines are done. Whatever ended a batch (the last line, Ctrl-C,
SIGKILL, a power cut), the same command goes on with the lines that are left.
"""

import asyncio
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Literal, NamedTuple

from handoff_console.console.commands.errors import BatchBusy, InputRefused
from handoff_console.console.commands.flows import LoadedFlow, Models
from handoff_console.console.commands.inputs import InputFile, InputRequest
from handoff_console.console.commands.running import outcome_of
from handoff_console.runtime import Flow, Origin, SessionResult, run
from handoff_console.runtime.canonical import canonical, digest
from handoff_console.runtime.clock import SystemClock
from handoff_console.runtime.options import new_session_id
from handoff_console.store import batches
from handoff_console.store.batches import Skipped
from handoff_console.store.effects import StoreLedger
from handoff_console.store.liveness import alive_process
from handoff_console.store.writer import StoreSink, open_sink

OnBadLine = Literal["stop", "skip"]


class Batch(NamedTuple):
    """What is to be run."""

    loaded: LoadedFlow
    flow: Flow
    """The same flow with all options applied."""
    input_path: str
    """`-` is standard input."""
    models: Models = Models()
    on_bad_line: OnBadLine = "stop"
    limit: int | None = None
    """Only the first so many requests of the input."""
    again: bool = False
    """Begin anew where everything is done already."""


@dataclass
class Progress:
    """How far a batch has come."""

    input_name: str
    total: int
    """Requests of the input, or those within the limit; bad ones included."""
    done_before: int
    """Requests that became sessions in earlier runs of the same command."""
    changed: str = ""
    """Not empty: an unfinished batch of the same input cannot go on, and why."""
    done_now: int = 0
    """Requests that became sessions in this run."""
    skipped: list[Skipped] = field(default_factory=list)
    """Bad lines of the whole batch that were passed over."""
    skipped_before: int = 0
    """How many of these earlier runs passed over."""
    outcomes: dict[str, int] = field(default_factory=dict)
    """Of the sessions of the whole batch, by outcome."""
    tokens_used: int = 0
    """By this run."""
    seconds: float = 0.0

    @property
    def done(self) -> int:
        """Requests that became sessions so far."""
        return self.done_before + self.done_now

    @property
    def left(self) -> int:
        """Requests still to be dealt with."""
        return self.total - self.done - len(self.skipped)

    @property
    def left_before(self) -> int:
        """Requests that earlier runs of the same command left to this one."""
        return self.total - self.done_before - self.skipped_before

    @property
    def sessions_per_second(self) -> float:
        """The rate of this run; 0 before there is any."""
        return self.done_now / self.seconds if self.seconds else 0.0


class Control:
    """How a caller watches a batch and stops it; from the same thread or from a signal handler."""

    def __init__(self, tell: Callable[[Progress], None] | None = None) -> None:
        self._tell = tell
        self._session: asyncio.Task[SessionResult] | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self.asked_to_stop = False

    def stop(self) -> None:
        """Stop after the session that runs now; asked again, cancel that one as well."""
        if self.asked_to_stop and self._session is not None and self._loop is not None:
            self._loop.call_soon_threadsafe(self._session.cancel)
        self.asked_to_stop = True

    def tell(self, progress: Progress) -> None:
        """Say how far it has come."""
        if self._tell is not None:
            self._tell(progress)

    async def run(self, session: "asyncio.Task[SessionResult]") -> SessionResult | None:
        """Wait for a session; None when it was cancelled."""
        self._session, self._loop = session, asyncio.get_running_loop()
        try:
            return await session
        except asyncio.CancelledError:
            if not self.asked_to_stop:
                raise
            return None
        finally:
            self._session = None


def run_batch(store_path: Path, batch: Batch, control: Control | None = None) -> Progress:
    """Run every request of an input that is not done yet; a missing store is made.

    Raises:
        InputRefused: The input cannot be read, or a line is bad and `on_bad_line` is `stop`;
            nothing was run.
        BatchBusy: Another process works on this batch.
        StoreError: The store cannot be opened or does not take the record.
    """
    with closing(InputFile(batch.input_path)) as source:
        lines = _lines(source, batch)
        with closing(open_sink(store_path, create=True)) as sink:
            ledger = _Ledger(sink, source, batch, lines)
            all_skipped = batches.skipped_lines(sink.db, ledger.batch)
            skipped = [line for line in all_skipped if line.line in ledger.done]
            progress = Progress(
                source.name,
                len(lines),
                done_before=len(ledger.done) - len(skipped),
                changed=ledger.changed,
                skipped=skipped,
                skipped_before=len(skipped),
                outcomes=batches.outcome_counts(sink.db, ledger.batch),
            )
            asyncio.run(_work(batch, source, ledger, progress, control or Control()))
    return progress


def _lines(source: InputFile, batch: Batch) -> list[int]:
    """Return where the requests begin.

    The whole input is read before anything of it is run: a bad line is told at once, and not after
    the thousand sessions before it, which another content of the file would run again.
    """
    lines: list[int] = []
    bad: list[InputRequest] = []
    for record in islice(source.records(), batch.limit):
        lines.append(record.line)
        if record.problem and batch.on_bad_line == "stop":
            bad.append(record)
    if not lines:
        raise InputRefused(source.name, None, "it has no request; write one a line.")
    if bad:
        more = len(bad) - 1
        others = f" and {more:,} other {'line' if more == 1 else 'lines'}" if more else ""
        raise InputRefused(
            source.name,
            bad[0].line,
            f"{bad[0].problem}; nothing was run. Correct it{others} and run the same command "
            "again, or leave bad lines out with `--on-bad-line skip`.",
        )
    return lines


async def _work(
    batch: Batch, source: InputFile, ledger: "_Ledger", progress: Progress, control: Control
) -> None:
    began = time.monotonic()
    control.tell(progress)
    for record in islice(source.records(), batch.limit):
        if record.line in ledger.done:
            continue
        if control.asked_to_stop or not await _is_dealt_with(
            batch, record, ledger, progress, control
        ):
            break
        progress.seconds = time.monotonic() - began
        control.tell(progress)
    if progress.left == 0 and batch.limit is None:
        batches.finish_batch(ledger.sink.db, ledger.batch)


async def _is_dealt_with(
    batch: Batch, record: InputRequest, ledger: "_Ledger", progress: Progress, control: Control
) -> bool:
    """Run or skip a record; False when it was given up half-way."""
    if record.problem:
        batches.skip_line(ledger.sink.db, ledger.batch, record.line, record.problem)
        progress.skipped.append(Skipped(record.line, record.problem))
        return True
    result = await control.run(asyncio.create_task(_session(batch, record, ledger)))
    if result is None:
        return False
    outcome = outcome_of(result)
    progress.outcomes[outcome] = progress.outcomes.get(outcome, 0) + 1
    progress.tokens_used += result.tokens_used
    progress.done_now += 1
    return True


async def _session(batch: Batch, record: InputRequest, ledger: "_Ledger") -> SessionResult:
    session_id = new_session_id(_CLOCK)
    ledger.sink.begin_line(ledger.batch, record.line, session_id)
    return await run(
        batch.flow,
        record.message,
        sink=ledger.sink,
        model=batch.models.every_agent,
        models=batch.models.by_agent,
        session_id=session_id,
        ledger=StoreLedger(ledger.sink.db, batch.flow.redaction),
        origin=Origin(flow_source=batch.loaded.source, kind="batch", metadata=record.metadata),
    )


_CLOCK = SystemClock()


class _Ledger:
    """The batch in the store that a command means."""

    def __init__(
        self, sink: StoreSink, source: InputFile, batch: Batch, lines: Sequence[int]
    ) -> None:
        self.sink = sink
        identity = _identity(sink.digest_key, source, batch)
        known = "-".join(identity.values())
        self.changed = _why_another_batch(sink, source.name, identity)
        number = self._newest_number(known)
        self._take(source.name, f"{known}-{number}", lines)
        if batch.again and len(self.done) == len(lines):
            self._take(source.name, f"{known}-{number + 1}", lines)
        _refuse_if_busy(sink, self.batch)

    def _newest_number(self, known: str) -> int:
        number = 1
        while batches.find_batch(self.sink.db, f"{known}-{number + 1}") is not None:
            number += 1
        return number

    def _take(self, name: str, fingerprint: str, lines: Sequence[int]) -> None:
        self.batch = batches.begin_batch(self.sink.db, name, fingerprint).batch
        self.done = batches.done_lines(self.sink.db, self.batch).intersection(lines)


def _identity(key: bytes, source: InputFile, batch: Batch) -> Mapping[str, str]:
    """Return what tells one batch from another, by what the user would call it."""
    models = {"every": batch.models.every_agent, **batch.models.by_agent}
    named = {name: _model_name(model) for name, model in models.items()}
    loaded = batch.loaded.source.encode() + batch.loaded.flow.snapshot
    return {
        "input": source.digest(key),
        "flow": digest(loaded, key),
        "options": digest(batch.flow.snapshot + canonical(named), key),
    }


def _model_name(model: object) -> str:
    return model if isinstance(model, str) else getattr(model, "__name__", type(model).__name__)


def _why_another_batch(sink: StoreSink, name: str, identity: Mapping[str, str]) -> str:
    """Return why the unfinished batch of the same input cannot go on; empty when it can."""
    before = batches.newest_batch(sink.db, name)
    if before is None or before.finished_at is not None:
        return ""
    were = before.fingerprint.split("-")
    changed = [what for (what, now), was in zip(identity.items(), were, strict=False) if now != was]
    if "flow" in changed:  # then the flow with its options has changed as well
        changed.remove("options")
    plural = len(changed) > 1 or changed == ["options"]
    return (
        f"the {' and the '.join(changed)} {'have' if plural else 'has'} changed" if changed else ""
    )


def _refuse_if_busy(sink: StoreSink, batch: int) -> None:
    for session_id in batches.unfinished_sessions(sink.db, batch):
        pid = alive_process(sink.db, session_id)
        if pid is not None:
            raise BatchBusy(
                f"Process {pid} works on this batch now, in session {session_id}; wait for it, or "
                "end it and run the same command again."
            )
