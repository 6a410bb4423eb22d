"""Answers of one tape put into another one, at a place."""

from collections import Counter

from handoff_console.runtime import tape
from handoff_console.runtime.events import is_within
from handoff_console.runtime.tape import Tape


def test_a_graft_looks_at_each_place_once_however_many_were_taken_over(monkeypatch):
    mine, other = Tape(), Tape()
    for call in range(300):
        place = (f"t1/1.{call}", 1)
        mine.requests[place] = other.requests[place] = f"request {call}"
        mine.handoff_ids[place].append(f"h{call + 2}")
    looked = Counter[str]()

    def counted(path: str | None, root: str) -> bool:
        looked[root] += 1
        return is_within(path, root)

    monkeypatch.setattr(tape, "is_within", counted)
    merged = mine.grafted("t1", other)

    assert merged.handoff_ids == mine.handoff_ids
    assert set(looked) == {"t1"}
    assert looked["t1"] <= 3 * 300
