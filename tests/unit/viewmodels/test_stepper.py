"""The stepper: a line an event, what the pool was, and where to jump."""

import dataclasses
import enum
import typing

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.logs import Log

from handoff_console.console.viewmodels.sentences import KIND_WORDS, sentence
from handoff_console.console.viewmodels.stepper import StepGuide, step_window, window_around
from handoff_console.runtime.events import KINDS, Event, Opaque
from handoff_console.store.analysis.budget import ledgers
from handoff_console.store.analysis.findings import judgement


def guide_of(log: Log) -> StepGuide:
    judged = judgement(log.events, log.body)
    return StepGuide(judged.tree, ledgers(log.events), judged.findings)


def session() -> Log:
    log = Log(pool_tokens=10_000).user("Why twice?")
    supervisor = log.root("supervisor")
    log.step(supervisor, tokens=400)
    billing = log.call(supervisor, "billing", grant=3_000, reason="money")
    log.step(billing, tokens=500).tool(billing, "list").deny(billing, "refund")
    log.close(billing, "limit_reached", reason="steps", notes="two of five pages")
    return log.close(supervisor, values={"text": "Once."}).end()


def test_every_event_is_a_line_in_plain_words():
    log = session()
    rows = guide_of(log).window(log.events).rows

    said = [(row.kind, row.agent, row.what) for row in rows]
    assert said == [
        ("session started", "", "flow support, run"),
        ("user asked", "", "Why twice?"),
        ("handoff asked for", "supervisor", "user calls supervisor: the user asked"),
        ("handoff opened", "supervisor", "supervisor may take 6 steps and 30.0 s"),
        ("agent took over", "supervisor", "supervisor with model scripted"),
        ("model asked", "supervisor", "step 1: 1 message to scripted"),
        ("model answered", "supervisor", "step 1: 400 in, 0 out, 100 ms"),
        ("tokens spent", "supervisor", "400 tokens"),
        ("handoff asked for", "billing", "supervisor calls billing: money"),
        ("tokens reserved", "billing", "3,000 tokens set aside"),
        ("handoff opened", "billing", "billing may take 3,000 tokens, 6 steps and 30.0 s"),
        ("agent took over", "billing", "billing with model scripted"),
        ("model asked", "billing", "step 1: 1 message to scripted"),
        ("model answered", "billing", "step 1: 500 in, 0 out, 100 ms"),
        ("tokens spent", "billing", "500 tokens"),
        ("tool called", "billing", "list: it helps"),
        ("tool returned", "billing", "list: done, 100 ms"),
        ("tool denied", "billing", "billing may not call refund."),
        (
            "handoff closed",
            "billing",
            "limit_reached (steps), 1 step, 500 tokens: two of five pages",
        ),
        ("tokens given back", "billing", "2,500 tokens not used"),
        ("handoff closed", "supervisor", "ok, 1 step, 400 tokens"),
        ("session closed", "", "ok, 900 tokens spent, 9,100 free"),
    ]


def test_every_line_has_the_pool_as_it_was_then():
    log = session()
    rows = guide_of(log).window(log.events).rows

    assert [(row.delta, row.free, row.open, row.spent) for row in rows if row.delta] == [
        ("−400", 9_600, 0, 400),
        ("−3,000", 6_600, 3_000, 400),
        ("+2,500", 9_100, 0, 900),
    ]
    assert (rows[0].free, rows[0].open, rows[0].spent) == (None, None, None)
    assert (rows[1].free, rows[1].delta) == (10_000, "")
    assert (rows[-1].free, rows[-1].spent) == (9_100, 900)


def test_problems_and_handoffs_can_be_jumped_to():
    log = session()
    guide = guide_of(log)
    denied = next(e.seq for e in log.events if e.kind == "tool_denied")
    closed = next(e.seq for e in log.events if e.kind == "handoff_closed")

    assert guide.problems[:2] == (denied, closed)
    assert guide.handoffs == (3, 9)
    window = guide.window(log.events)
    assert {row.seq for row in window.rows if row.problem} == set(guide.problems)
    assert (window.total, window.pool_tokens) == (len(log.events), 10_000)


def test_a_stretch_needs_none_of_the_events_before_it():
    log = session()
    guide = guide_of(log)

    assert list(guide.window(log.events[10:15]).rows) == list(guide.window(log.events).rows[10:15])


def test_only_the_stretch_around_the_reader_is_loaded():
    log = session()
    asked: list[tuple[int, int]] = []

    def load(first: int, last: int) -> list[Event]:
        asked.append((first, last))
        return log.events[first - 1 : last]

    window = step_window(load, guide_of(log), around=11, rows=6)
    assert asked == [(8, 13)]
    assert [row.seq for row in window.rows] == [8, 9, 10, 11, 12, 13]


@given(st.one_of(st.none(), st.integers(-5, 3_000)), st.integers(0, 2_500), st.integers(1, 700))
def test_the_stretch_is_as_long_as_it_may_be_and_holds_the_event(seq, total, rows):
    first, last = window_around(seq, total, rows)

    assert last - first + 1 == min(rows, total)
    assert first >= 1
    assert last <= total
    if total:
        at = total if seq is None else min(max(seq, 1), total)
        assert first <= at <= last


def test_a_session_without_events_has_an_empty_window():
    window = step_window(lambda *_: [], StepGuide(judgement([]).tree, (), ()))

    assert (list(window.rows), window.total, window.pool_tokens) == ([], 0, 0)


def test_every_kind_of_event_has_words():
    assert KINDS.keys() == KIND_WORDS.keys()


@pytest.mark.parametrize("kind", sorted(KINDS))
def test_every_kind_can_be_said(kind):
    payload = example(kind)
    event = Event("s", 1, 0.0, 0.0, 1, None, None, None, None, 1, payload)

    line = sentence(event)
    assert line
    assert line.isprintable()


def test_a_kind_of_a_later_version_is_shown_as_it_is():
    payload = Opaque("brain_scanned", 3, {"depth": 2, "note": "a\nb"})
    event = Event("s", 1, 0.0, 0.0, 1, None, "h1", None, None, 1, payload)
    guide = StepGuide(judgement([]).tree, (), ())

    row = guide.row(event)
    assert (row.kind, row.what) == ("brain scanned", "depth=2, note=a b")


def test_of_a_hundred_thousand_events_only_those_in_the_window_are_read():
    log = Log(pool_tokens=10**9).user("Go")
    root = log.root("supervisor")
    for _ in range(5_000):
        log.step(root)
    read: list[Event] = []

    def between(first: int, last: int) -> list[Event]:
        read.extend(log.events[first - 1 : last])
        return log.events[first - 1 : last]

    window = step_window(between, guide_of(log), around=7_000)

    assert len(window.rows) == 600
    assert len(read) == 600


def example(kind: str) -> object:
    """Make a payload of a kind with a value of the right form in each required field."""
    cls = KINDS[kind]
    hints = typing.get_type_hints(cls)

    def value(hint: object) -> object:
        if typing.get_origin(hint) is not None:
            inner = [a for a in typing.get_args(hint) if a is not type(None)]
            if typing.get_origin(hint) is tuple:
                return ("a → b",)
            return {} if typing.get_origin(hint) is dict else value(inner[0])
        if isinstance(hint, type) and issubclass(hint, enum.Enum):
            return next(iter(hint))
        return {str: "words", int: 1, float: 1.0, bool: True}[hint]  # type: ignore[index]

    fields = {
        f.name: value(hints[f.name])
        for f in dataclasses.fields(cls)  # type: ignore[arg-type]
        if f.default is dataclasses.MISSING
    }
    return cls(**fields)
