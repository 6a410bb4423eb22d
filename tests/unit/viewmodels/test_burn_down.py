"""The burn-down: what the figure draws, and the check under it."""

import dataclasses

from support.logs import Log

from handoff_console.console.viewmodels.burn_down import burn_down
from handoff_console.store.analysis.budget import ledgers


def run(agents: int = 1) -> Log:
    log = Log(pool_tokens=20_000).user("Help")
    root = log.root("supervisor")
    log.step(root, tokens=500)
    for number in range(agents):
        worker = log.call(root, f"worker{number}", grant=1_000)
        log.step(worker, tokens=100 + number).close(worker)
    return log


def test_every_point_adds_up_to_the_pool():
    log = run()
    log.call("h1", "search", refused="pool")
    shown = burn_down(ledgers(log.events))

    assert shown.agents == ("supervisor", "worker0")
    assert [(p.free, p.open, p.spent_by) for p in shown.points] == [
        (20_000, 0, (0, 0)),
        (19_500, 0, (500, 0)),
        (18_500, 1_000, (500, 0)),
        (18_500, 900, (500, 100)),
        (19_400, 0, (500, 100)),
        (19_400, 0, (500, 100)),
    ]
    assert [(m.kind, m.text) for m in shown.marks] == [
        ("reserve", "1,000 tokens reserved for worker0"),
        ("refund", "worker0 gave back 900 tokens"),
        ("refused", "refused: the pool has too few tokens for search"),
    ]
    assert shown.adds_up
    assert "The ledger adds up" in shown.check
    assert shown.left_out == 0


def test_without_a_request_there_is_nothing_to_draw():
    shown = burn_down([])

    assert (shown.points, shown.marks, shown.total_tokens, shown.adds_up) == ((), (), 0, True)
    assert shown.summary == "Nothing was reserved or spent."


def test_beyond_seven_agents_the_rest_is_one_band():
    shown = burn_down(ledgers(run(agents=12).events))

    assert len(shown.agents) == 8
    assert shown.agents[0] == "supervisor"
    assert shown.agents[-1] == "other"
    last = shown.points[-1]
    assert last.free + last.open + sum(last.spent_by) == 20_000


def test_two_agents_whose_names_look_alike_keep_their_bands():
    log = Log().user("Help")
    root = log.root("supervisor")
    for name in ("x" * 50 + "a", "x" * 50 + "b"):
        worker = log.call(root, name)
        log.step(worker, tokens=100).close(worker)
    shown = burn_down(ledgers(log.events))

    assert shown.points[-1].spent_by == (100, 100)


def test_a_damaged_record_is_named_and_still_drawn():
    (ledger,) = ledgers(run().events)
    rows = [*ledger.rows[:-1], dataclasses.replace(ledger.rows[-1], free=1)]
    shown = burn_down([dataclasses.replace(ledger, rows=tuple(rows))])

    assert not shown.adds_up
    assert "does not add up at event" in shown.check
    assert len(shown.points) == 5


def test_a_long_session_is_drawn_with_few_points():
    log = Log(pool_tokens=10**7).user("Go")
    root = log.root("supervisor")
    for _ in range(900):
        worker = log.call(root, "worker")
        log.step(worker).close(worker)
    shown = burn_down(ledgers(log.events))

    assert len(shown.points) <= 800
    assert shown.left_out == 2_701 - len(shown.points)
    assert shown.points[-1].spent_by == (90_000,)


def test_each_request_begins_with_a_full_pool():
    log = run()
    log.user("And again?").root("supervisor")
    log.step("h3", tokens=70)
    shown = burn_down(ledgers(log.events))

    assert [p.free for p in shown.points][-2:] == [20_000, 19_930]
    assert shown.points[-2].spent_by == (0, 0)
    assert "19,930 free" in shown.summary
