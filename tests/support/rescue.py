"""Sample sessions in a store: run until their process dies, gone on with, and looked at."""

import sqlite3
from collections import Counter
from contextlib import closing
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any

from mortal import Death, MortalLedger, MortalSink, World, counted

from handoff_console.console.commands.waiting import pending_of
from handoff_console.runtime import (
    Approval,
    Decision,
    Event,
    Flow,
    Origin,
    Question,
    Session,
    resume,
)
from handoff_console.runtime.clock import VirtualClock, run_virtual
from handoff_console.runtime.redaction import Redaction
from handoff_console.sample_runs import sample
from handoff_console.sample_runs.recording import SampleSession
from handoff_console.store import reader
from handoff_console.store.db import open_reader
from handoff_console.store.effects import StoreLedger
from handoff_console.store.leases import leased
from handoff_console.store.recordings import recording_of
from handoff_console.store.writer import StoreSink, open_sink


class SampleCase:
    """A sample session, run as it is recorded."""

    def __init__(self, recording: SampleSession) -> None:
        self.name, self._recording = recording.name, recording

    def prepare(self, folder: Path) -> None:
        sample(self._recording.flow)  # imported before a process is forked

    def work(self, folder: Path, moment: Death) -> None:
        """Run the session, and go on with it as often as there is something to go on with."""
        with closing(open_sink(World(folder).store)) as sink:
            first_run(self._recording, sink, folder, moment)
        going_on(self._recording, folder, moment)

    def rescue(self, folder: Path, moment: Death) -> None:
        """Go on from what a killed process left, until there is nothing to go on with."""
        with closing(open_sink(World(folder).store)) as sink:
            if any(reader.session_ids(sink.db)):
                is_left = go_on(self._recording, sink, folder, moment)
            else:  # it died before anything was recorded: it is run as if for the first time
                first_run(self._recording, sink, folder, moment)
                is_left = True
        if is_left:
            going_on(self._recording, folder, moment)

    def outcome(self, folder: Path) -> "Outcome":
        return Outcome.of(self._recording.session_id, folder)


def going_on(recording: SampleSession, folder: Path, moment: Death) -> None:
    is_left = True
    while is_left:
        with closing(open_sink(World(folder).store)) as sink:
            is_left = go_on(recording, sink, folder, moment)


def first_run(recording: SampleSession, sink: StoreSink, folder: Path, moment: Death) -> None:
    """Run the session as it is recorded, until it ends or waits."""
    world = World(folder)
    flow = flow_of(recording, world, moment)

    async def work():
        session = Session(
            flow,
            clock=VirtualClock(recording.at),
            session_id=recording.session_id,
            sink=MortalSink(sink, world, moment),
            ledger=MortalLedger(sink.db, moment),
            origin=Origin(flow_source=recording.flow),
        )
        result = await session.say(recording.asked)
        for message in recording.then:
            result = await session.say(message)
        if not result.waiting_for:
            session.close()

    run_virtual(work())


def go_on(recording: SampleSession, sink: StoreSink, folder: Path, moment: Death) -> bool:
    """Go on with the session if anything is left to do; say whether something still is."""
    world, db, session_id = World(folder), sink.db, recording.session_id
    with leased(db, session_id):
        last = reader.last_kind(db, session_id)
        if last == "session_closed":
            return False
        decisions, minutes = [], 0.0
        if last == "session_suspended":
            if not recording.later:
                return False
            minutes = recording.later[0].minutes
            decisions = decided(recording, pending_of(db, session_id))
        settle(db, session_id, world)
        so_far = recording_of(db, session_id)
        said = [e for e in so_far.events if e.kind == "user_message_received"]
        flow = flow_of(recording, world, moment)
        options = {
            "clock": VirtualClock(recording.at + timedelta(minutes=minutes)),
            "sink": MortalSink(sink, world, moment),
            "ledger": MortalLedger(db, moment),
            "decisions": decisions,
        }

        async def work():
            if len(said) > len(recording.then):
                return await resume(flow, so_far, **options)
            # The process died before the user had said everything.
            session = Session(flow, so_far, session_id=session_id, **options)
            for message in [recording.asked, *recording.then]:
                result = await session.say(message)
                if result.waiting_for:
                    return result
            session.close()
            return result

        return bool(run_virtual(work()).waiting_for and recording.later)


def settle(db: sqlite3.Connection, session_id: str, world: World) -> None:
    """Say what became of acts whose outcome is unknown, as an operator does who looks."""
    ledger = StoreLedger(db, Redaction())
    done = db.execute("select count(*) from effects where state = 'done'").fetchone()[0]
    happened = world.happened()[done:]
    for effect in pending_of(db, session_id).effects:
        found = next((one for one in happened if one["tool"] == effect.tool), None)
        if found:
            ledger.done(effect.key, found["result"])
        else:
            ledger.failed(effect.key)
    called = {
        event.payload.idempotency_key
        for event in reader.load_events(db, session_id, kinds={"tool_called"})
    }
    for (key,) in db.execute("select key from effects where state = 'begun'").fetchall():
        if key not in called:
            ledger.failed(key)


def decided(recording: SampleSession, found: Any) -> list[Decision]:
    said = []
    for act in found.approvals:
        approval = Approval(
            approval_id=act.approval_id, tool=act.tool, effect=act.effect,
            arguments=act.arguments, agent=act.agent, path=act.path, shown=act.shown,
        )  # fmt: skip
        said.append(recording.later[0].says(approval))
    for question in found.questions:
        asked = Question(
            handoff_id=question.handoff_id, text=question.text, agent=question.agent,
            path=question.path,
        )  # fmt: skip
        assert recording.later[0].says(asked) is None
    return [one for one in said if isinstance(one, Decision)]


def flow_of(recording: SampleSession, world: World, moment: Death) -> Flow:
    flow = recording.variant() if recording.variant else sample(recording.flow).recorded_flow
    return counted(flow, world, moment)


@dataclass(frozen=True)
class Outcome:
    """What a session came to, in the record and outside it."""

    ended: tuple[Any, ...]
    """How the session ended, what each handoff came to, and whether its record is sound."""
    effects: Counter[str]
    questions: int
    lost_replies: int
    """Questions whose answers died with the process, so that they were asked again."""
    events_lost: int

    @classmethod
    def of(cls, session_id: str, folder: Path) -> "Outcome":
        world = World(folder)
        with closing(open_reader(world.store)) as db:
            events = reader.load_events(db, session_id)
            lost = world.lost(db)
        replies = [getattr(e.payload, "error", "") for e in events]
        return cls(
            ended_as(events),
            world.effects(),
            world.questions(),
            replies.count("the process ended before the reply came"),
            lost,
        )

    def differences(self, now: "Outcome") -> Counter[str]:
        """Count what is not the same about a run that was killed and gone on with."""
        again = now.questions - self.questions
        return Counter(
            other_results=now.ended != self.ended,
            events_lost=now.events_lost,
            effects_twice=(now.effects - self.effects).total(),
            effects_lost=(self.effects - now.effects).total(),
            asked_again=max(again, 0),
            asked_twice=max(again - now.lost_replies, 0),
        )


def ended_as(events: list[Event]) -> tuple[Any, ...]:
    """Return how the session ended, what each handoff came to, and whether the record is sound."""
    last = events[-1]
    opened = [e.handoff_id for e in events if e.kind == "handoff_opened"]
    closed = [e for e in events if e.kind == "handoff_closed"]
    ids = [e.handoff_id for e in closed]
    is_sound = len(set(opened)) == len(opened) and len(set(ids)) == len(ids)
    results = sorted(
        (e.path, e.attempt, e.payload.ended_by, e.payload.status or "", e.payload.result or "")
        for e in closed
    )
    if last.kind != "session_closed":
        return last.kind, results, is_sound
    is_sound = is_sound and sorted(opened) == sorted(ids)
    return last.payload.status, last.payload.answer, results, is_sound
