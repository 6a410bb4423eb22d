"""Kills the recording of sample sessions at every moment, goes on, and counts what differs.

A program of its own (`python tests/support/killing.py [--every N] [--twice] [NAME…]`), which forks
a process for each death: after each commit of the record, each note in the ledger, and each effect.
With `--twice` the process that goes on is killed too, at each of its moments in turn. Prints an
object a line, one for each sample, and one of their sums.
"""

import asyncio
import gc
import json
import os
import shutil
import signal
import sys
import tempfile
import traceback
from collections import Counter
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any
from zlib import crc32

import pytest
from contexts import ContextCheck

from handoff_console.console.commands.waiting import pending_of
from handoff_console.runtime import (
    Approval,
    Decision,
    Effect,
    Flow,
    Model,
    ModelCall,
    Origin,
    Question,
    Session,
    resume,
)
from handoff_console.runtime.clock import VirtualClock, run_virtual
from handoff_console.runtime.models import as_model
from handoff_console.runtime.redaction import Redaction
from handoff_console.sample_runs import sample
from handoff_console.sample_runs.day import RECORDINGS
from handoff_console.sample_runs.recording import DIGEST_KEY, SampleSession
from handoff_console.store import reader
from handoff_console.store.effects import StoreLedger
from handoff_console.store.leases import leased
from handoff_console.store.recordings import recording_of
from handoff_console.store.writer import StoreSink, open_sink

Moment = Callable[[], None]
CONTEXTS = ContextCheck(pytest.MonkeyPatch())
"""Of all processes here that live on; what is wrong ends them with an error."""


class Death:
    """Ends this process at its n-th moment; 0 lets it live."""

    def __init__(self, at: int) -> None:
        self.at, self.moments = at, 0

    def __call__(self) -> None:
        self.moments += 1
        if self.moments == self.at:
            os.kill(os.getpid(), signal.SIGKILL)


class World:
    """What happens outside the record: models that were asked, effects that happened."""

    def __init__(self, folder: Path) -> None:
        self.asked, self.happened = folder / "asked.txt", folder / "happened.txt"

    def note(self, path: Path, line: str) -> None:
        with path.open("a") as file:
            file.write(line + "\n")

    def effects(self) -> list[dict[str, Any]]:
        lines = self.happened.read_text().splitlines() if self.happened.exists() else []
        return [json.loads(line) for line in lines]

    def questions(self) -> int:
        return len(self.asked.read_text().splitlines()) if self.asked.exists() else 0


class CountedModel:
    """A model that leaves a line for each time it is asked."""

    def __init__(self, model: Model, world: World) -> None:
        self._model, self._world = model, world

    def __getattr__(self, name: str) -> Any:
        return getattr(self._model, name)

    async def reply(self, call: ModelCall, /) -> Any:
        self._world.note(self._world.asked, f"{call.path} {call.step}")
        return await self._model.reply(call)


def counted(flow: Flow, world: World, moment: Moment) -> Flow:
    """The flow with models and effects that leave a trace outside the record."""

    def act(tool):
        if tool.effect is Effect.READ:
            return tool
        plain = tool.function

        async def acting(**arguments):
            result = plain(**arguments)
            if asyncio.iscoroutine(result):
                result = await result
            said = {"tool": tool.name, "arguments": arguments, "result": result}
            world.note(world.happened, json.dumps(said, default=str))
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
    """The store's sink; each commit is a moment."""

    def __init__(self, sink: StoreSink, moment: Moment) -> None:
        self.digest_key, self._sink, self._moment = sink.digest_key, sink, moment
        self.append, self.keep = sink.append, sink.keep

    def commit(self, *, synced: bool = False) -> None:
        self._sink.commit(synced=synced)
        self._moment()


class MortalLedger(StoreLedger):
    """The store's ledger; each note in it is a moment."""

    def __init__(self, db: Any, moment: Moment) -> None:
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


def first_run(recording: SampleSession, folder: Path, moment: Moment) -> None:
    """Run the session as it is recorded, in a store, until it ends or waits."""
    flow = flow_of(recording, folder, moment)
    with closing(open_sink(folder / "s.db")) as sink:

        async def work():
            session = Session(
                flow,
                clock=VirtualClock(recording.at),
                session_id=recording.session_id,
                sink=MortalSink(sink, moment),
                ledger=MortalLedger(sink.db, moment),
                origin=Origin(flow_source=recording.flow),
            )
            result = await session.say(recording.asked)
            for message in recording.then:
                result = await session.say(message)
            if not result.waiting_for:
                session.close()

        run_virtual(work())


def go_on(recording: SampleSession, folder: Path, moment: Moment) -> bool:
    """Go on with the session if anything is left to do; False when nothing is."""
    world = World(folder)
    with closing(open_sink(folder / "s.db")) as sink, leased(sink.db, recording.session_id):
        db, session_id = sink.db, recording.session_id
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
        flow = flow_of(recording, folder, moment)
        options = {
            "clock": VirtualClock(recording.at + timedelta(minutes=minutes)),
            "sink": MortalSink(sink, moment),
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


def settle(db: Any, session_id: str, world: World) -> None:
    """Say what became of acts whose outcome is unknown, as an operator does who looks."""
    ledger = StoreLedger(db, Redaction())
    done = db.execute("select count(*) from effects where state = 'done'").fetchone()[0]
    happened = world.effects()[done:]
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


def flow_of(recording: SampleSession, folder: Path, moment: Moment) -> Flow:
    flow = recording.variant() if recording.variant else sample(recording.flow).recorded_flow
    return counted(flow, World(folder), moment)


def forked(work: Callable[[], None]) -> int:
    """Do it in a process of its own, and return how that ended."""
    pid = os.fork()
    if pid == 0:
        status = 1
        try:
            work()
            assert CONTEXTS.taken() == [], "A model was sent messages that it must not be sent."
            status = 0
        except BaseException:  # noqa: BLE001 - it would fork on otherwise
            traceback.print_exc()
        finally:
            os._exit(status)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def came_to(recording: SampleSession, folder: Path) -> tuple[Any, ...]:
    """Return how the session ended, and whether its record is sound."""
    with closing(open_sink(folder / "s.db")) as sink:
        events = reader.load_events(sink.db, recording.session_id)
    closed = events[-1].payload
    opened = [e.handoff_id for e in events if e.kind == "handoff_opened"]
    ended = [e.handoff_id for e in events if e.kind == "handoff_closed"]
    is_sound = len(set(opened)) == len(opened) and len(set(ended)) == len(ended)
    if events[-1].kind == "session_suspended":
        return "waiting", None, is_sound
    return closed.status, closed.answer, is_sound and sorted(opened) == sorted(ended)


def lost_replies(recording: SampleSession, folder: Path) -> int:
    """Return the questions whose answers died with the process, so that they were asked again."""
    with closing(open_sink(folder / "s.db")) as sink:
        events = reader.load_events(sink.db, recording.session_id)
    return sum(
        getattr(e.payload, "error", "") == "the process ended before the reply came" for e in events
    )


def fresh(place: Path, empty: Path) -> Path:
    folder = Path(tempfile.mkdtemp(dir=place))
    shutil.copy(empty, folder / "s.db")
    return folder


WRONG = ("other_results", "effects_twice", "effects_lost", "asked_twice")
"""What may never be; `asked_again` may: questions whose answers died with the process."""


class Undisturbed:
    """What a sample comes to when nobody kills it: what every other run is held against."""

    def __init__(self, recording: SampleSession, folder: Path) -> None:
        self.recording = recording
        self.moments = moments_of(lambda moment: worked(recording, folder, moment), folder)
        self._came_to = came_to(recording, folder)
        self._effects = Counter(json.dumps(one) for one in World(folder).effects())
        self.questions = World(folder).questions()

    def differs(self, folder: Path) -> Counter[str]:
        """Count what is not the same about a run that was killed and gone on with."""
        now = Counter(json.dumps(one) for one in World(folder).effects())
        again = World(folder).questions() - self.questions
        return Counter(
            other_results=came_to(self.recording, folder) != self._came_to,
            effects_twice=(now - self._effects).total(),
            effects_lost=(self._effects - now).total(),
            asked_again=max(again, 0),
            asked_twice=max(again - lost_replies(self.recording, folder), 0),
        )


def worked(recording: SampleSession, folder: Path, moment: Moment) -> None:
    """Run the session, and go on with it as often as there is something to go on with."""
    first_run(recording, folder, moment)
    while go_on(recording, folder, moment):
        pass


def moments_of(work: Callable[[Moment], None], folder: Path) -> int:
    """Do it in a process of its own, and return how many moments it has."""

    def counting() -> None:
        alive = Death(0)
        work(alive)
        (folder / "moments.txt").write_text(str(alive.moments))

    assert forked(counting) == 0
    return int((folder / "moments.txt").read_text())


def tried(
    recording: SampleSession, place: Path, empty: Path, every: int, *, twice: bool
) -> dict[str, Any]:
    """Kill a sample's recording at every n-th moment, and return the counts."""
    whole = Undisturbed(recording, fresh(place, empty))
    counts = Counter(dict.fromkeys(("runs", "deaths", "asked_again", *WRONG), 0))
    # Not the same moments of each: of every n-th, which one depends on the sample.
    for at in range(1 + crc32(recording.name.encode()) % every, whole.moments + 1, every):
        folder = fresh(place, empty)
        died = forked(lambda at=at, folder=folder: worked(recording, folder, Death(at)))
        counts["deaths"] += died == -signal.SIGKILL
        left = Path(shutil.copytree(folder, place / "left"))
        moments = moments_of(lambda moment, at=folder: rescued(recording, at, moment), folder)
        counts["runs"] += 1
        counts.update(whole.differs(folder))
        shutil.rmtree(folder)
        for then in range(1, moments + 1) if twice else ():
            counts.update(killed_again(whole, left, then))
        shutil.rmtree(left)
    return {
        "sample": recording.name,
        "moments": whole.moments,
        "questions": whole.questions,
        **counts,
    }


def killed_again(whole: Undisturbed, left: Path, at: int) -> Counter[str]:
    """Go on from what a death left, die once more, go on again, and count."""
    folder = Path(shutil.copytree(left, left.with_name("again")))
    died = forked(lambda: rescued(whole.recording, folder, Death(at)))
    assert forked(lambda: rescued(whole.recording, folder, lambda: None)) == 0
    found = Counter(runs=1, deaths=int(died == -signal.SIGKILL)) + whole.differs(folder)
    shutil.rmtree(folder)
    return found


def rescued(recording: SampleSession, folder: Path, moment: Moment) -> None:
    with closing(open_sink(folder / "s.db")) as sink:
        is_there = recording.session_id in set(reader.session_ids(sink.db))
    if not is_there:  # it died before anything was recorded: it is run as if for the first time
        first_run(recording, folder, moment)
    while go_on(recording, folder, moment):
        pass


def main(words: list[str]) -> None:
    every = int(words[words.index("--every") + 1]) if "--every" in words else 1
    twice = "--twice" in words
    names = {word for word in words if not word.startswith("--") and not word.isdigit()}
    with tempfile.TemporaryDirectory(prefix="killing-") as place:
        empty = Path(place) / "empty.db"
        with closing(open_sink(empty, create=True)) as sink:
            sink.db.execute("update meta set value = ? where name = 'digest_key'", (DIGEST_KEY,))
        for recording in RECORDINGS:
            sample(recording.flow)  # imported once, and not again by each process
        gc.freeze()  # a fork would otherwise copy all of it as soon as it collects
        total: Counter[str] = Counter(samples=0)
        for recording in RECORDINGS:
            if not names or recording.name in names:
                found = tried(recording, Path(place), empty, every, twice=twice)
                print(json.dumps(found), flush=True)
                total.update({"samples": 1, **{k: v for k, v in found.items() if k != "sample"}})
        print(json.dumps(total))


if __name__ == "__main__":
    main(sys.argv[1:])
