"""What was spent for nothing: handoffs without a result, and work that had been done before."""

from support.logs import Log

from handoff_console.store.analysis.tree import handoff_tree
from handoff_console.store.analysis.waste import Waste, waste


def waste_of(log: Log) -> Waste:
    return waste(handoff_tree(log.events, body=log.body), log.events)


def test_a_handoff_that_hit_a_limit_and_one_that_repeats_an_answered_one_are_counted_apart():
    log = Log().user("Where is it?")
    desk = log.root("desk")
    log.step(desk, tokens=100)
    first = log.call(desk, "tracker", task="Find TRK-1", inputs={"parcel": "TRK-1"})
    log.step(first, tokens=200).close(first, "not_found")
    again = log.call(desk, "tracker", task="Find TRK-1", inputs={"parcel": "TRK-1"})
    log.step(again, tokens=210).close(again, "not_found")
    other = log.call(desk, "tracker", task="Find TRK-2", inputs={"parcel": "TRK-2"})
    log.step(other, tokens=220).close(other, "limit_reached", reason="steps")
    log.close(desk).end()

    assert waste_of(log) == Waste(1, 220, 1, 210)
    assert waste_of(log).tokens == 430


def test_an_agent_alone_and_a_second_try_after_a_failure_repeat_nothing():
    log = Log().user("Where is it?")
    desk = log.root("desk")
    first = log.call(desk, "tracker", task="Find TRK-1")
    log.step(first, tokens=50).close(first, "error")
    second = log.call(desk, "tracker", task="Find TRK-1")
    log.step(second, tokens=60).close(second)
    log.close(desk, "error").end("error")

    assert waste_of(log) == Waste(1, 50, 0, 0)


def test_nothing_was_wasted_where_nothing_happened():
    assert waste_of(Log()) == Waste(0, 0, 0, 0)
