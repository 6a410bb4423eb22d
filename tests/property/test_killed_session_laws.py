"""Laws of sessions that were killed anywhere and go on from what was committed.  # T8"""

from collections import Counter

from hypothesis import given, settings
from support.sessions import SOMEWHERE
from support.worlds import WORLDS, Ledger, World

from handoff_console.runtime import EventList, Origin, Recording, SessionResult, resume, run
from handoff_console.runtime.clock import VirtualClock, run_virtual


class Journal(EventList):
    """A sink that remembers how far each commit came: what a killed process leaves behind."""

    def __init__(self) -> None:
        super().__init__(b"key")
        self.cuts: set[int] = set()

    def commit(self, *, synced: bool = False) -> None:
        super().commit(synced=synced)
        self.cuts.add(len(self.events))

    def killed_at(self, cut: int) -> EventList:
        left = EventList(b"key")
        left.bodies.update(self.bodies)
        left.events.extend(self.events[:cut])
        return left


def recorded(world: World) -> Journal:
    journal = Journal()
    origin = Origin(process=SOMEWHERE)
    run_virtual(
        run(
            world.flow(),
            "Do it.",
            sink=journal,
            clock=VirtualClock(),
            session_id="s1",
            origin=origin,
        )
    )
    return journal


def resumed(world: World, left: EventList) -> SessionResult:
    recording = Recording("s1", list(left.events), left.body)
    origin = Origin(process=SOMEWHERE)
    return run_virtual(
        resume(world.flow(), recording, sink=left, clock=VirtualClock(), origin=origin)
    )


@given(WORLDS)
@settings(max_examples=10)
def test_it_goes_on_from_every_commit_and_keeps_the_laws(world):
    journal = recorded(world)

    for cut in sorted(journal.cuts):
        if journal.events[cut - 1].kind == "session_closed":
            continue
        left = journal.killed_at(cut)
        resumed(world, left)

        events = left.events
        assert events[:cut] == journal.events[:cut]
        assert [event.seq for event in events] == list(range(1, len(events) + 1))
        assert events[-1].kind == "session_closed"
        ends = Counter(e.handoff_id for e in events if e.kind == "handoff_closed")
        refused = Counter(e.handoff_id for e in events if e.kind == "handoff_rejected")
        assert ends == Counter(e.handoff_id for e in events if e.kind == "handoff_opened")
        asked = Counter(e.handoff_id for e in events if e.kind == "handoff_requested")
        assert ends + refused == asked
        assert set(asked.values()) == {1}
        ledger = Ledger(world.pool_tokens)
        for event in events:
            if event.kind.startswith("budget_"):
                ledger.follow(event)
                said = event.payload
                figures = (said.free, said.open, said.spent)
                assert figures == (ledger.free, ledger.open, ledger.spent)
