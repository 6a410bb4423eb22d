from support.attempts import Desk, desk
from support.logs import Log

from handoff_console.console.viewmodels.what_if import WhatIfView, grouped, what_if_view
from handoff_console.store.analysis.findings.record import Record
from handoff_console.store.analysis.what_if import Change, courses, pool_marks, what_if


def view(record: Record, **change: object) -> WhatIfView:
    played = courses(record)
    return what_if_view(what_if(played, Change(**change)), pool_marks(played))  # type: ignore[arg-type]


def three_calls() -> Record:
    log = Log(pool_tokens=20_000).user("Go")
    root = log.root("supervisor")
    for agent in ("billing", "search", "writer"):
        log.step(root, tokens=500)
        child = log.call(root, agent, grant=3_000, task=f"Ask {agent}")
        log.step(child, tokens=400).step(child, tokens=700).close(child)
    log.step(root, tokens=500).close(root).end()
    return Record(log.events, log.body)


def test_a_slider_that_stands_where_it_stood_says_that_nothing_changes():
    found = view(three_calls())

    assert (found.sentence, found.lines, found.unknown) == ("Nothing would have changed.", (), ())
    assert found.spent == "5,300 tokens spent"
    assert found.marks == ((7_700, "the least that changes nothing"),)


def test_a_refused_handoff_says_what_the_pool_had_for_it():
    found = view(three_calls(), pool_tokens=7_000)

    assert found.sentence == "1 handoff would have fared otherwise: 1 refused."
    (line,) = found.lines
    assert (line.handoff_id, line.agent, line.fate, line.recorded) == (
        "h4",
        "writer",
        "refused",
        "ok",
    )
    assert line.why == "the pool has 2,300 of the 3,000 tokens it asks for"
    assert line.takes_away
    assert len(found.unknown) == 1


def test_a_handoff_that_is_cut_says_by_what():
    record = three_calls()
    tokens = view(record, limits={"search": {"max_tokens": 1_000}}).lines[0]
    steps = view(record, limits={"search": {"max_steps": 1}}).lines[0]

    assert tokens.why == "600 tokens are left, and its next step takes about 700"
    assert (steps.fate, steps.why) == ("cut short", "its steps would have ended it")


def test_one_token_that_is_left_is_told_as_one():
    found = view(three_calls(), pool_tokens=1)

    assert found.lines[0].why == "1 token is left, and its next step takes about 500"


def test_what_was_refused_and_is_let_through_has_a_range():
    case = Desk(desk(pool_tokens=5_000))
    case.session("Customer 4812 was charged twice.")
    found = view(case.record("s1"), pool_tokens=20_000)

    (line,) = found.lines
    assert (line.fate, line.why, line.takes_away) == (
        "let through",
        "the pool lets it through",
        False,
    )
    low, _, high = found.spent.removesuffix(" tokens spent").replace(",", "").split()
    assert int(high) - int(low) == 4_000
    assert found.marks[1] == (5_248, "enough for all that was refused")


def test_a_session_without_a_request_has_nothing_to_move():
    found = view(Record([]))

    assert (found.sentence, found.marks) == ("Nothing would have changed.", ())


def test_handoffs_of_an_agent_that_fare_just_so_are_one_line():
    log = Log(pool_tokens=100_000).user("Go")
    root = log.root("supervisor")
    for agent in ("billing", "search", "billing", "billing"):
        log.close(log.call(root, agent, grant=3_000, task=f"Ask {agent}"))
    log.close(root).end()

    lines = grouped(view(Record(log.events, log.body), pool_tokens=2_000).lines)

    assert [(line.agent, line.handoff_id, line.alike) for line in lines] == [
        ("billing", "h2", 3),
        ("search", "h3", 1),
    ]
