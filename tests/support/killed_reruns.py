"""Handoffs of samples that are run again and killed meanwhile, with what a user has at hand.

The same verbs as in a shell: run it again, say yes to what waits, say what became of an act that
nobody knows about, resume. Only what they reach outside the record is watched.
"""

from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from dataclasses import replace
from pathlib import Path
from unittest.mock import patch

from mortal import Death, World, counted
from rescue import Outcome, SampleCase

from handoff_console import sample_runs
from handoff_console.console.commands import saying
from handoff_console.console.commands.rerun_orders import RerunOrder
from handoff_console.console.commands.rerunning import rerun_handoff
from handoff_console.console.commands.resuming import resume_session
from handoff_console.console.commands.settling import Settled, settle
from handoff_console.console.commands.waiting import Pending, pending_of
from handoff_console.runtime.edits import Edits
from handoff_console.runtime.rerun_player import Mode
from handoff_console.sample_runs.day import RECORDINGS
from handoff_console.store import reader
from handoff_console.store.db import open_reader
from handoff_console.store.effects import StoreLedger
from handoff_console.store.writer import StoreSink

TRIES = 20
"""More often than any of these has to be gone on with."""


class RerunCase:
    """A handoff of a sample that is run again with a change, everybody asked saying yes."""

    def __init__(self, sample: str, handoff_id: str, mode: Mode, edits: Edits) -> None:
        self.name = f"{sample}/{handoff_id}/{mode}"
        self._order = RerunOrder(handoff_id=handoff_id, mode=mode, edits=edits)
        self._recording = next(one for one in RECORDINGS if one.name == sample)

    def prepare(self, folder: Path) -> None:
        """Record the sample, which stays as it is from here on."""
        world = World(folder)
        SampleCase(self._recording).work(folder, Death())
        with closing(open_reader(world.store)) as db:
            world.commit(db, 0, (0, 0))

    def work(self, folder: Path, moment: Death) -> None:
        """Run the handoff again, and go on until there is nothing to go on with."""
        world = World(folder)
        with watched(world, moment):
            for _ in range(TRIES):
                if not self._step(world):
                    return
        raise AssertionError("It comes to no end.")

    rescue = work

    def outcome(self, folder: Path) -> Outcome:
        return Outcome.of(self._session(World(folder)), folder)

    def _session(self, world: World) -> str:
        """Return the id of the re-run; empty when nothing of it is in the store."""
        with closing(open_reader(world.store)) as db:
            found = [one for one in reader.session_ids(db) if one != self._recording.session_id]
        assert len(found) <= 1, "The handoff was run again twice."
        return found[0] if found else ""

    def _step(self, world: World) -> bool:
        """Do the next thing that there is to do, and say whether there was one."""
        session = self._session(world)
        if not session:
            rerun_handoff(world.store, self._recording.session_id, self._order)
            return True
        with closing(open_reader(world.store)) as db:
            last, waits = reader.last_kind(db, session), pending_of(db, session)
            done = db.execute("select count(*) from effects where state = 'done'").fetchone()[0]
        if last == "session_closed" or (last == "session_suspended" and not waits.approvals):
            return False
        answer(world, waits, done)
        resume_session(world.store, session)
        return True


def answer(world: World, waits: Pending, done: int) -> None:
    """Say what became of acts that nobody knows about, and yes to those that wait."""
    session, happened = waits.session_id, world.happened()[done:]
    for effect in waits.effects:
        found = next((one for one in happened if one["tool"] == effect.tool), None)
        came = (found["result"],) if found else ()
        settle(world.store, session, Settled(effect.place, bool(found), *came))
    for act in waits.approvals:
        if not act.said:
            saying.decide(world.store, session, act.approval_id, approved=True, decided_by="Ada")


@contextmanager
def watched(world: World, moment: Death) -> Iterator[None]:
    """Have each commit, each note in the ledger and each effect of any verb be a moment."""
    commit, sample = StoreSink.commit, sample_runs.sample

    def last_words() -> None:
        with closing(open_reader(world.store)) as db:
            world.commit(db, 0, (0, 0))

    def committed(sink: StoreSink, *, synced: bool = False) -> None:
        commit(sink, synced=synced)
        moment()

    def noting(note):
        def noted(ledger, *words):
            note(ledger, *words)
            moment()

        return noted

    def watched_sample(name):
        found = sample(name)
        flow = counted(found.recorded_flow, world, moment)
        return replace(found, flow=flow, in_process=None)

    moment.last_words = last_words
    with ExitStack() as watching:
        watching.enter_context(patch.object(StoreSink, "commit", committed))
        watching.enter_context(patch.object(sample_runs, "sample", watched_sample))
        for name in ("begin", "done", "failed"):
            note = noting(getattr(StoreLedger, name))
            watching.enter_context(patch.object(StoreLedger, name, note))
        yield


RERUNS = (
    # An act happens once more, after a fresh yes.
    RerunCase("refunds-approved", "h1", Mode.LIVE, Edits(armed=("payments.refund",))),
    RerunCase("briefing-not-sent", "h1", Mode.LIVE, Edits(armed=("send_email",))),
    RerunCase("coding-rounding", "h5", Mode.LIVE, Edits(armed=("sandbox.run_tests",))),
    # An act is another one than was recorded, so that it happens as well.
    RerunCase(
        "letters-edited", "h1", Mode.CONTINUE,
        Edits(task="Please tell Ms Okafor that the refund of 29.00 EUR is on its way."),
    ),
    # The session goes on from a worker that was told something else.
    RerunCase(
        "quarter-three-companies", "h3", Mode.CONTINUE,
        Edits(tool_results={"1.0": {"company": "Globex", "found": "revenue up 30%"}}),
    ),
    RerunCase("support-charged-twice", "h2", Mode.CONTINUE, Edits(inputs={"customer_id": "5120"})),
    RerunCase(
        "departments-lamp-back", "h3", Mode.CONTINUE, Edits(inputs={"amount_cents": 2_500})
    ),
    RerunCase(
        "parcels-overloaded-model", "h2", Mode.CONTINUE, Edits(inputs={"number": "TRK-2204"})
    ),
    # So does a chain of transfers, a fork of them, and a second turn.
    RerunCase("repairs-four-hops", "h3", Mode.CONTINUE, Edits(inputs={"part": "V-207"})),
    RerunCase(
        "intents-two-questions", "h2", Mode.CONTINUE,
        Edits(tool_results={"1.0": {"order_id": "ORD-9812", "status": "lost"}}),
    ),
    RerunCase("bank-mortgage", "h2", Mode.CONTINUE, Edits(inputs={"amount_eur": 260_000})),
    # Alone, with real models and what they read.
    RerunCase("loyalty-half-a-count", "h2", Mode.LIVE_READS, Edits(limits={"max_steps": 6})),
    RerunCase("returns-damaged", "h1", Mode.WHAT_IF, Edits()),
)  # fmt: skip
