"""The ledger: what happened to the pool, added up again, and drawn with fewer points."""

import dataclasses

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.logs import Log, random_log

from handoff_console.runtime.events import BudgetCharged, BudgetReserved
from handoff_console.store.analysis.budget import Entry, ledgers
from handoff_console.store.analysis.burn_down import downsample
from handoff_console.store.analysis.ledger_check import check, rest_of_grant


def two_workers() -> Log:
    log = Log(pool_tokens=10_000).user("Why was I charged twice?")
    supervisor = log.root("supervisor")
    log.step(supervisor, tokens=500)
    billing, account = log.fork(supervisor, ["billing", "account"], grant=3_000)
    log.step(billing, tokens=2_000).step(account, tokens=400)
    log.close(billing).close(account)
    log.join(supervisor, [billing, account])
    return log.step(supervisor, tokens=600).close(supervisor).end()


def test_every_entry_says_what_was_true_afterwards():
    (ledger,) = ledgers(two_workers().events)

    rows = [
        (r.entry, r.agent, r.tokens, r.delta_free, r.free, r.open, r.spent) for r in ledger.rows
    ]
    assert rows == [
        ("pool", "", 10_000, 0, 10_000, 0, 0),
        ("spend", "supervisor", 500, -500, 9_500, 0, 500),
        ("reserve", "billing", 3_000, -3_000, 6_500, 3_000, 500),
        ("reserve", "account", 3_000, -3_000, 3_500, 6_000, 500),
        ("spend", "billing", 2_000, 0, 3_500, 4_000, 2_500),
        ("spend", "account", 400, 0, 3_500, 3_600, 2_900),
        ("refund", "billing", 1_000, 1_000, 4_500, 2_600, 2_900),
        ("refund", "account", 2_600, 2_600, 7_100, 0, 2_900),
        ("spend", "supervisor", 600, -600, 6_500, 0, 3_500),
    ]  # fmt: skip


def test_spending_is_told_apart_by_agent_most_first():
    (ledger,) = ledgers(two_workers().events)

    assert list(ledger.spent_by_agent.items()) == [
        ("billing", 2_000),
        ("supervisor", 1_100),
        ("account", 400),
    ]


def test_r28_one_number_to_alert_on():  # R28
    figures = ledgers(two_workers().events)[0].figures

    assert figures.used_share == 0.35
    assert figures.lowest_free_tokens == 3_500
    assert (figures.refused, figures.overdrawn_tokens) == (0, 0)


def test_a_sound_ledger_adds_up_and_says_so():
    result = check(ledgers(two_workers().events)[0])

    assert result.adds_up
    assert result.sentence == (
        "The ledger adds up: 6,500 free + 0 reserved + 3,500 spent = 10,000, "
        "after each of 9 entries."
    )


def test_a_grant_carved_from_a_grant_moves_no_free_tokens():
    log = Log(pool_tokens=10_000).user("Help")
    root = log.root("supervisor")
    lead = log.call(root, "lead", grant=5_000)
    helper = log.call(lead, "helper", grant=1_000)
    log.step(helper, tokens=300).close(helper).close(lead).close(root).end()

    (ledger,) = ledgers(log.events)
    assert [(r.entry, r.handoff_id, r.free, r.open) for r in ledger.rows[1:]] == [
        ("reserve", "h2", 5_000, 5_000),
        ("reserve", "h3", 5_000, 5_000),
        ("spend", "h3", 5_000, 4_700),
        ("refund", "h3", 5_000, 4_700),
        ("refund", "h2", 9_700, 0),
    ]
    assert check(ledger).adds_up


def test_an_overdraft_is_paid_by_what_is_free():
    log = Log(pool_tokens=2_500).user("Help")
    root = log.root("supervisor")
    log.step(log.call(root, "billing", grant=2_000), tokens=3_000)

    (ledger,) = ledgers(log.events)
    assert [(r.entry, r.tokens, r.free, r.open, r.spent) for r in ledger.rows[2:]] == [
        ("spend", 3_000, -500, 0, 3_000),
        ("overdraft", 1_000, -500, 0, 3_000),
    ]
    assert check(ledger).adds_up
    assert ledger.figures.used_share == 1.2


def test_a_refused_reservation_moves_nothing():
    log = Log(pool_tokens=2_500).user("Help")
    root = log.root("supervisor")
    log.call(root, "billing", refused="pool")
    log.call(root, "fraud", refused="target")

    (ledger,) = ledgers(log.events)
    (refused,) = ledger.refused
    assert (refused.handoff_id, refused.agent, refused.free) == ("h2", "billing", 2_500)


def test_every_request_has_a_pool_of_its_own():
    log = Log(pool_tokens=1_000).user("One")
    log.step(log.root("triage"), tokens=900)
    log.user("Two").step(log.root("triage"), tokens=100)

    assert [ledger.rows[-1].free for ledger in ledgers(log.events)] == [100, 900]
    assert [ledger.turn for ledger in ledgers(log.events)] == [1, 2]


def test_the_ledger_is_given_as_it_was_at_an_event():
    log = two_workers()
    seq = ledgers(log.events)[0].rows[3].seq

    assert len(ledgers(log.events, until_seq=seq)[0].rows) == 4
    assert ledgers(log.events, until_seq=1) == ()


@pytest.mark.parametrize(
    ("kind", "change", "sentence"),
    [
        (BudgetCharged, {"free": 9_999}, "records 9,999 free where 9,500 is right"),
        (BudgetCharged, {"tokens": 501}, "records 9,500 free where 9,499 is right"),
        (BudgetReserved, {"open": 0}, "records 0 reserved where 3,000 is right"),
    ],
)
def test_a_record_that_was_changed_is_named(kind, change, sentence):
    log = two_workers()
    at = next(i for i, e in enumerate(log.events) if isinstance(e.payload, kind))
    changed = log.events[at]._replace(payload=dataclasses.replace(log.events[at].payload, **change))
    log.events[at] = changed

    result = check(ledgers(log.events)[0])

    assert not result.adds_up
    assert result.first_wrong_seq == changed.seq
    assert sentence in result.sentence


def test_a_second_reservation_and_a_wrong_refund_are_named():
    (ledger,) = ledgers(two_workers().events)
    reserve = ledger.rows[2]
    again = dataclasses.replace(ledger, rows=(*ledger.rows[:3], reserve))
    assert "h2 reserves a second time" in check(again).sentence

    at = next(i for i, row in enumerate(ledger.rows) if row.entry is Entry.REFUND)
    less = dataclasses.replace(ledger.rows[at], tokens=1)
    wrong = dataclasses.replace(ledger, rows=(*ledger.rows[:at], less))
    assert "h2 refunds 1 token, but 1,000 are left of it" in check(wrong).sentence


def test_the_rest_of_a_grant_is_known_at_every_event():
    (ledger,) = ledgers(two_workers().events)
    reserved, spent = ledger.rows[2].seq, ledger.rows[4].seq

    assert rest_of_grant(ledger, "h2", reserved - 1) is None
    assert rest_of_grant(ledger, "h2", reserved) == 3_000
    assert rest_of_grant(ledger, "h2", spent) == 1_000
    assert rest_of_grant(ledger, "h2", ledger.rows[-1].seq) is None
    assert rest_of_grant(ledger, "h1", spent) is None


def test_a_refund_of_what_was_never_reserved_is_named():
    log = two_workers()
    log.events[:] = [
        e for e in log.events if not (e.kind == "budget_reserved" and e.handoff_id == "h2")
    ]

    assert "does not add up" in check(ledgers(log.events)[0]).sentence


@given(st.lists(st.integers(0, 10_000), max_size=60))
def test_r26_whatever_happens_the_ledger_adds_up(choices):  # R26
    (ledger,) = ledgers(random_log(choices).events)

    assert check(ledger).adds_up
    assert all(row.free + row.open + row.spent == ledger.total_tokens for row in ledger.rows)


@given(st.lists(st.integers(0, 10_000), min_size=20, max_size=60), st.integers(1, 500), st.data())
def test_no_wrong_figure_goes_unseen(choices, by, chance):
    (ledger,) = ledgers(random_log([0, 4, *choices]).events)
    at = chance.draw(st.integers(1, len(ledger.rows) - 1))
    name = chance.draw(st.sampled_from(["free", "open", "spent"]))
    row = ledger.rows[at]
    wrong = dataclasses.replace(row, **{name: getattr(row, name) + by})

    result = check(
        dataclasses.replace(ledger, rows=(*ledger.rows[:at], wrong, *ledger.rows[at + 1 :]))
    )

    assert result.first_wrong_seq == row.seq


def long_ledger(handoffs: int, refused_every: int = 0):
    log = Log(pool_tokens=10**7).user("Go")
    root = log.root("supervisor")
    for number in range(handoffs):
        if refused_every and number % refused_every == 0:
            log.call(root, "worker", refused="pool")
        worker = log.call(root, "worker")
        for _ in range(8):
            log.step(worker, tokens=100)
        log.close(worker)
    return ledgers(log.events)[0]


def test_a_short_ledger_is_drawn_as_it_is():
    rows = long_ledger(5).rows

    assert downsample(rows) == rows


def test_fewer_points_keep_every_change_of_direction_and_every_refusal():
    rows = long_ledger(150, refused_every=10).rows
    fewer = downsample(rows, points=400)

    assert len(rows) > 1_000
    assert len(fewer) == 400
    assert [r for r in fewer if r.entry is Entry.REFUSED] == [
        r for r in rows if r.entry is Entry.REFUSED
    ]
    assert {r.free for r in fewer} == {r.free for r in rows}
    assert (fewer[0], fewer[-1]) == (rows[0], rows[-1])


def test_even_ten_thousand_turns_fit_and_keep_the_lowest_point():
    rows = long_ledger(2_000, refused_every=2).rows
    fewer = downsample(rows)

    assert len(fewer) <= 800
    assert min(r.free for r in fewer) == min(r.free for r in rows)
