"""After how many steps a transfer has paid off, beside a run that kept the task."""

from collections.abc import Iterator, Sequence

import pytest
from support.logs import Log
from support.samples import shipped

from handoff_console.console.viewmodels.comparison import comparison_view
from handoff_console.runtime.events import Event
from handoff_console.store.analysis.diff import compare
from handoff_console.store.analysis.findings.record import Record
from handoff_console.store.analysis.payoff import Payoff, payoffs


def found(left: Record, right: Record) -> tuple[Payoff, ...]:
    return payoffs(compare(left, right), left, right)


def sample(name: str) -> Record:
    sink = shipped(name)
    return Record(sink.events, sink.body)


def transferred(
    asked: str = "Go", *receivers: str, steps: Sequence[int] = (100, 100, 100)
) -> Record:
    """A run in which triage hands over at once, and the last receiver takes some short steps."""
    log = Log().user(asked)
    at = log.root("triage")
    log.step(at, tokens=300)
    for agent in receivers or ("engineer",):
        at = log.transfer(at, agent)
    return ended(log, at, steps)


def kept(
    asked: str = "Go", *, steps: Sequence[int] = (50, 200), calls: str = "", status: str = "ok"
) -> Record:
    """A run in which triage takes two longer steps itself, or calls a worker after the first."""
    log = Log().user(asked)
    return ended(log, log.root("triage"), steps, calls=calls, status=status)


def ended(
    log: Log, at: str, steps: Sequence[int], *, calls: str = "", status: str = "ok"
) -> Record:
    """Take the steps of a handoff and close it, and the session after it."""
    for number, tokens in enumerate(steps):
        log.step(at, tokens=tokens)
        if calls and not number:
            called = log.call(at, calls, grant=1_700)
            log.step(called, tokens=1_500).close(called)
    log.close(at, status).end(status)
    return Record(log.events, log.body)


def received(
    *, before: Sequence[int] = (), calls: str = "", status: str = "ok", fork_id: str | None = None
) -> Record:
    """A run in which triage hands over after some steps of its own."""
    log = Log().user("Go")
    root = log.root("triage")
    for tokens in (*before, 300):
        log.step(root, tokens=tokens)
    engineer = log.transfer(root, "engineer", fork_id=fork_id)
    return ended(log, engineer, (100, 100), calls=calls, status=status)


def test_two_sessions_say_after_how_many_steps_the_transfer_of_one_has_paid_off():  # R82
    alone = sample("diagnosis-one-agent")
    sliced, full = sample("diagnosis-sliced"), sample("diagnosis-full-history")

    assert found(sliced, alone) == (Payoff("left", "h5", "engineer", "triage", 5, 8, 3_048, 3_147),)
    assert found(alone, full) == (
        Payoff("right", "h5", "engineer", "triage", None, 8, 6_359, 6_011),
    )
    assert found(sliced, full) == ()


def test_what_the_sentence_says_is_what_was_found():
    mine, its = sample("diagnosis-sliced"), sample("diagnosis-one-agent")

    assert comparison_view(compare(mine, its), mine, its).payoffs == (
        "The transfer to engineer has paid off after 5 steps: 3,048 tokens by then, against 3,147 "
        "where triage did it itself.",
    )
    never = sample("diagnosis-full-history")
    assert comparison_view(compare(never, its), never, its).payoffs == (
        "The transfer to engineer has not paid off in 8 steps: 6,359 tokens by then, against 6,011 "
        "where triage did it itself.",
    )


def test_steps_that_only_one_of_them_took_do_not_count():
    (one,) = found(transferred(), kept())

    assert (one.after_steps, one.steps, one.tokens, one.kept_tokens) == (None, 2, 500, 250)


def test_a_transfer_has_paid_off_from_the_step_on_after_which_it_stays_cheaper():
    (late,) = found(transferred(steps=(100, 100, 100)), kept(steps=(450, 30, 400)))
    (never,) = found(transferred(steps=(20, 900)), kept(steps=(400, 100)))

    assert (late.after_steps, late.tokens, late.kept_tokens) == (3, 600, 880)
    assert (never.after_steps, never.tokens, never.kept_tokens) == (None, 1_220, 500)


@pytest.mark.parametrize(
    "its",
    [kept(calls="clerk"), kept(status="limit_reached"), kept(status="error")],
    ids=["it called a worker", "it was stopped", "it failed"],
)
def test_who_did_not_do_it_itself_or_not_to_the_end_is_compared_with_nobody(its):
    assert found(transferred(), its) == ()
    assert found(its, transferred()) == ()


@pytest.mark.parametrize(
    "mine",
    [
        received(calls="clerk"),
        received(status="limit_reached"),
        received(status="error"),
        received(fork_id="h1.1"),
        received(before=(700,)),
    ],
    ids=[
        "it called a worker",
        "it was stopped",
        "it failed",
        "it shared the task",
        "the sender had worked before",
    ],
)
def test_a_receiver_whose_steps_are_not_the_whole_work_is_compared_with_nobody(mine):
    assert len(found(received(), kept())) == 1
    assert found(mine, kept()) == ()


def test_nothing_found_counts_as_done():
    (one,) = found(transferred(), kept(status="not_found"))

    assert (one.kept_by, one.kept_tokens) == ("triage", 250)


class Walked(list[Event]):
    """Events that count how often somebody walks through all of them."""

    times = 0

    def __iter__(self) -> Iterator[Event]:
        self.times += 1
        return super().__iter__()


@pytest.mark.parametrize("handed_over", [True, False])
def test_a_record_is_walked_as_often_for_many_handoffs_as_for_few(handed_over):
    def times(handoffs: int) -> int:
        sides = [calling(handoffs, handed_over), calling(handoffs, False)]
        left, right = (Record(Walked(log.events), log.body) for log in sides)
        compared = compare(left, right)
        left.events.times = right.events.times = 0
        assert len(payoffs(compared, left, right)) == (handoffs if handed_over else 0)
        return left.events.times + right.events.times

    assert times(40) == times(2)


def calling(handoffs: int, handed_over: bool) -> Log:
    """A run in which a supervisor calls many workers, who may hand over what they are to do."""
    log = Log(pool_tokens=1_000_000).user("Go")
    root = log.root("supervisor")
    for number in range(handoffs):
        at = log.step(root).call(root, "clerk", task=f"Do {number}", grant=5_000)
        log.step(at)
        if handed_over:
            at = log.transfer(at, "engineer")
            log.step(at)
        log.close(at)
    return log.close(root).end()


@pytest.mark.parametrize(
    ("left", "right"),
    [
        (transferred("Go"), kept("Stay")),
        (transferred("Go", "billing", "engineer"), kept("Go")),
        (transferred("Go"), transferred("Go")),
        (kept("Go"), kept("Go")),
    ],
    ids=["another task", "handed on once more", "both transfer", "neither does"],
)
def test_where_the_work_is_not_the_same_nothing_is_said(left, right):
    assert found(left, right) == ()


def test_a_part_of_two_sessions_says_nothing_of_their_transfers():
    left, right = transferred(), kept()

    assert payoffs(compare(left, right, handoffs=("h1", "h1")), left, right) == ()
