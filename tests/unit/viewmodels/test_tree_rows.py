"""The rows of the outline: at the end, and as they were at any event."""

from hypothesis import given
from hypothesis import strategies as st
from support.logs import Log, random_log

from handoff_console.console.viewmodels.tree import TreeRow, tree_rows
from handoff_console.store.analysis.budget import ledgers
from handoff_console.store.analysis.findings import judgement
from handoff_console.store.analysis.tree import handoff_tree


def rows_of(log: Log) -> tuple[TreeRow, ...]:
    judged = judgement(log.events, log.body)
    return tree_rows(
        judged.tree,
        ledgers=ledgers(log.events),
        findings=judged.findings,
        verdict=judged.verdict,
        total_seconds=log.events[-1].elapsed_seconds,
    )


def outcome_at(row: TreeRow, seq: int, last: int) -> str:
    """Return what the page makes of a row at an event, as `outcomeAt` of tree.js does."""
    if seq >= (row.closed_seq or last):
        return row.outcome
    if seq < row.asked_seq:
        return ""
    if any(since <= seq and (not until or seq < until) for since, until in row.waits):
        return "waiting"
    return "running" if 0 < row.opened_seq <= seq else "asked for"


def tokens_at(row: TreeRow, seq: int) -> int:
    """Return the same of its tokens, as `tokensAt` of tree.js does."""
    return max((total for at, total in row.charges if at <= seq), default=0)


def failed() -> Log:
    log = Log().user("Why was I charged twice?")
    triage = log.root("triage")
    supervisor = log.transfer(triage, "supervisor", grant=9_000)
    billing = log.call(supervisor, "billing", task="Find the payments")
    log.step(billing, tokens=300).step(billing, tokens=200)
    log.call(billing, "ledger", refused="pool")
    log.close(billing, "limit_reached", reason="steps")
    return log.close(supervisor, values={"text": "Charged once."}).end()


def test_every_row_says_who_what_and_how_it_ended():
    rows = rows_of(failed())

    assert [(r.depth, r.agent, r.outcome, r.note, r.end_note, r.mark) for r in rows] == [
        (0, "triage", "transferred", "", "", ""),
        (0, "supervisor", "ok", "transfer 1", "", "problem"),
        (1, "billing", "limit_reached", "", "steps", "cause"),
        (2, "ledger", "refused", "", "too few tokens", "problem"),
    ]
    assert rows[2].task == "Find the payments"
    assert rows[2].tooltip == "h3: supervisor calls billing"
    assert rows[2].end_tooltip.startswith("limit_reached, ")


def test_time_bars_are_shares_of_the_session():
    rows = rows_of(failed())

    assert all(0 <= row.start <= row.end <= 1 for row in rows)
    assert rows[0].start < rows[1].start < rows[2].start


def test_a_row_knows_what_it_was_at_an_event():
    log = failed()
    billing = rows_of(log)[2]
    first_charge, second_charge = (
        e.seq for e in log.events if e.kind == "budget_charged" and e.handoff_id == "h3"
    )

    last = log.events[-1].seq

    assert outcome_at(billing, billing.asked_seq - 1, last) == ""
    assert outcome_at(billing, billing.asked_seq, last) == "asked for"
    assert outcome_at(billing, billing.opened_seq - 1, last) == "asked for"
    assert outcome_at(billing, billing.opened_seq, last) == "running"
    assert outcome_at(billing, billing.closed_seq, last) == "limit_reached"
    assert tokens_at(billing, first_charge - 1) == 0
    assert tokens_at(billing, first_charge) == 300
    assert tokens_at(billing, second_charge) == 500


def test_an_empty_tree_has_no_rows():
    assert tree_rows(handoff_tree([])) == ()


@given(st.lists(st.integers(0, 10_000), max_size=50), st.integers(0, 400))
def test_a_row_at_an_event_is_what_the_tree_was_then(choices, seq):
    log = random_log(choices)
    then = {n.handoff_id: n for n in handoff_tree(log.events, until_seq=seq).nodes}

    for row in rows_of(log):
        outcome = outcome_at(row, seq, log.events[-1].seq)
        assert (outcome != "") == (row.handoff_id in then)
        if outcome:
            assert outcome == then[row.handoff_id].outcome
            assert tokens_at(row, seq) == then[row.handoff_id].tokens_used


def test_a_handoff_that_waits_for_a_person_is_waiting_until_the_answer_is_there():
    log = Log().user("Which order?")
    triage = log.root("triage")
    log.ask_user(triage, "Which order?")
    asked = len(log.events)
    row = rows_of(log)[0]

    assert row.waits == ((asked, 0),)
    assert [outcome_at(row, seq, asked) for seq in (asked - 1, asked)] == ["running", "waiting"]
