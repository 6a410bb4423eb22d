import pytest
from support.attempts import Desk, desk
from support.logs import Log

from handoff_console.runtime import EventList, Limits
from handoff_console.runtime.events import HandoffClosed, HandoffRejected
from handoff_console.sample_runs.day import RECORDINGS
from handoff_console.sample_runs.recording import SampleSession
from handoff_console.sample_runs.recording import record as recorded
from handoff_console.store.analysis.budget import ledgers
from handoff_console.store.analysis.findings.record import Record
from handoff_console.store.analysis.what_if import (
    Change,
    Fate,
    WhatIf,
    courses,
    pool_marks,
    what_if,
)


def of(log: Log) -> Record:
    return Record(log.events, log.body)


def had(record: Record, **change: object) -> WhatIf:
    return what_if(courses(record), Change(**change))  # type: ignore[arg-type]


def told(found: WhatIf) -> list[tuple[str, str, str]]:
    return [(h.handoff_id, h.fate.value, h.limit) for h in found.changed]


@pytest.fixture(scope="module")
def case() -> Desk:
    case = Desk()
    case.session("Customer 4812 was charged twice.")
    return case


def three_calls() -> Log:
    """A root that calls three workers, one after the other, each with a grant of 3,000."""
    log = Log(pool_tokens=20_000).user("Go")
    root = log.root("supervisor")
    for agent in ("billing", "search", "writer"):
        log.step(root, tokens=500)
        child = log.call(root, agent, grant=3_000, task=f"Ask {agent}")
        log.step(child, tokens=400).step(child, tokens=700).close(child)
    return log.step(root, tokens=500).close(root).end()


def test_without_a_change_everything_is_as_recorded(case):
    found = had(case.record("s1"))

    assert found.changed == ()
    assert found.unknown == ()
    assert found.spent_low_tokens == found.spent_high_tokens == 1_598


@pytest.mark.parametrize("sample", RECORDINGS, ids=lambda sample: sample.name)
def test_without_a_change_every_sample_is_as_recorded_and_its_marks_hold(sample: SampleSession):
    sink = recorded(sample)
    record = Record(sink.events, sink.body)
    found, marks = had(record), pool_marks(courses(record))

    spent = sum(ledger.rows[-1].spent for ledger in ledgers(sink.events))
    assert (found.changed, found.unknown) == ((), ())
    assert found.spent_low_tokens == found.spent_high_tokens == spent
    assert marks is not None
    assert had(record, pool_tokens=marks.as_recorded_tokens - 1).changed
    pools = [ledger.total_tokens for ledger in ledgers(sink.events)]
    assert marks.as_recorded_tokens <= min(pools)


def test_a_smaller_pool_refuses_what_it_cannot_reserve():
    found = had(of(three_calls()), pool_tokens=7_000)

    # 7,000 - 500 - 1,100 - 500 - 1,100 - 500 = 3,300 are free, of which 1,000 stay with the root.
    (handoff,) = found.changed
    assert (handoff.agent, handoff.fate, handoff.limit) == ("writer", Fate.REFUSED, "pool")
    assert (handoff.needed_tokens, handoff.available_tokens) == (3_000, 2_300)
    assert handoff.recorded == "ok"
    assert found.spent_low_tokens == found.spent_high_tokens == 4_200
    assert found.unknown == (
        "What supervisor would have done without a full answer is not recorded; what is shown "
        "takes everybody to have done the same.",
    )


def test_of_whoever_was_refused_nothing_that_followed_is_left():
    log = Log(pool_tokens=20_000).user("Go")
    root = log.root("triage")
    log.step(root, tokens=200)
    billing = log.transfer(root, "billing", grant=6_000, task="Help")
    log.step(billing, tokens=300)
    search = log.call(billing, "search", grant=1_000, task="Search")
    log.step(search, tokens=100).close(search).step(billing).close(billing)

    found = had(of(log.end()), pool_tokens=5_000)

    assert told(found) == [("h2", "refused", "pool"), ("h3", "not asked", "pool")]
    assert found.spent_high_tokens == 200


def test_a_smaller_limit_cuts_a_handoff_where_it_is_used_up():
    record = of(three_calls())

    steps = had(record, limits={"search": {"max_steps": 1}})
    assert told(steps) == [("h3", "cut", "steps")]
    tokens = had(record, limits={"search": {"max_tokens": 1_000}})
    assert told(tokens) == [("h3", "cut", "tokens")]
    (cut,) = tokens.changed
    # 1,000 less the 400 of its first step leave no room for the 700 that the second one takes.
    assert (cut.needed_tokens, cut.available_tokens) == (700, 600)
    assert steps.spent_high_tokens == tokens.spent_high_tokens == 5_300 - 700


def test_a_shorter_deadline_cuts_what_is_not_back_by_then():
    record = of(three_calls())
    opened = record.tree.by_id["h3"].opened_seconds
    closed = record.tree.by_id["h3"].closed_seconds
    assert opened is not None
    assert closed is not None

    half = had(record, limits={"search": {"deadline_seconds": (closed - opened) / 2}})
    enough = had(record, limits={"search": {"deadline_seconds": closed - opened}})

    assert told(half) == [("h3", "cut", "deadline")]
    assert told(enough) == []


def test_a_limit_for_everyone_leaves_the_users_request_alone():
    found = had(of(three_calls()), everyone={"max_steps": 1})

    assert told(found) == [(h, "cut", "steps") for h in ("h2", "h3", "h4")]


def test_a_caller_that_is_cut_takes_its_open_calls_along():
    log = Log(pool_tokens=20_000).user("Go")
    root = log.root("supervisor")
    log.step(root)
    middle = log.call(root, "middle", grant=6_000, task="Ask on")
    log.step(middle)
    below = log.call(middle, "search", grant=2_000, task="Search")
    log.step(below).step(below).close(below).step(middle).close(middle)
    record = of(log.step(root).close(root).end())

    found = had(record, limits={"middle": {"deadline_seconds": 1.0}})

    assert told(found) == [("h2", "cut", "deadline"), ("h3", "cut", "deadline")]
    assert found.spent_high_tokens == 100 + 100 + 100 + 100  # the second step of search came late


def test_fewer_transfers_or_calls_refuse_the_ones_beyond():
    assert told(had(of(three_calls()), max_workers=2)) == [("h4", "refused", "workers")]

    log = Log().user("Go")
    first = log.root("triage")
    log.step(first)
    second = log.transfer(first, "billing", task="Help")
    log.step(second)
    third = log.transfer(second, "refunds", task="Help")
    record = of(log.step(third).close(third).end())

    assert told(had(record, max_handoffs=1)) == [("h3", "refused", "handoffs")]
    assert told(had(record, max_handoffs=2)) == []


def test_less_depth_refuses_calls_below_calls():
    case = Desk()
    case.session()

    assert told(had(case.record("s1"), depth=0)) == [
        ("h2", "refused", "depth"),
        ("h3", "refused", "depth"),
    ]


def test_a_larger_pool_opens_what_was_refused_and_says_what_it_cannot_know(case):
    case = Desk(desk(pool_tokens=5_000))
    case.session("Customer 4812 was charged twice.")

    found = had(case.record("s1"), pool_tokens=20_000)

    (opened,) = found.changed
    assert (opened.handoff_id, opened.fate, opened.limit) == ("h2", Fate.OPENED, "pool")
    assert (opened.recorded, opened.needed_tokens) == ("refused", 4_000)
    assert found.spent_high_tokens - found.spent_low_tokens == 4_000
    assert found.unknown == (
        "What billing would have done and used is not recorded, nor what would have followed.",
    )
    still = had(case.record("s1"), pool_tokens=5_100)
    assert told(still) == []


def test_what_hangs_on_something_unknown_depends():
    """Two refused calls, and a pool in which the second fits only if the first uses little."""
    flow = {
        "name": "support",
        "agents": [
            {
                "name": "supervisor",
                "edges": [
                    {"target": "billing", "via": "call", "limits": {"max_tokens": 3_000}},
                    {"target": "search", "via": "call", "limits": {"max_tokens": 3_000}},
                ],
            }
        ],
    }
    log = Log(flow=flow, pool_tokens=3_500).user("Go")
    root = log.root("supervisor")
    log.step(root, tokens=100)
    log.call(root, "billing", refused="pool")
    log.call(root, "search", refused="pool")
    record = of(log.close(root).end())

    found = had(record, pool_tokens=5_000)

    assert told(found) == [("h2", "opened", "pool"), ("h3", "depends", "pool")]
    assert found.unknown[-1] == "What becomes of search depends on that."
    assert told(had(record, pool_tokens=7_100)) == [
        ("h2", "opened", "pool"),
        ("h3", "opened", "pool"),
    ]


def test_a_transfer_that_goes_through_leaves_open_what_its_sender_did_instead():
    flow = {
        "name": "support",
        "agents": [
            {
                "name": "triage",
                "edges": [
                    {"target": "billing", "via": "transfer", "limits": {"max_tokens": 9_000}}
                ],
            }
        ],
    }
    log = Log(flow=flow, pool_tokens=8_000).user("Go")
    root = log.root("triage")
    log.step(root, tokens=100)
    log.transfer(root, "billing", refused="pool")
    log.step(root, tokens=50).close(root).end()

    found = had(of(log), pool_tokens=10_000)

    assert told(found) == [("h1", "depends", "pool"), ("h2", "opened", "pool")]
    assert (found.spent_low_tokens, found.spent_high_tokens) == (100, 9_100)


def test_a_limit_that_is_raised_lets_a_stopped_handoff_go_on():
    log = Log().user("Go")
    root = log.root("supervisor")
    log.step(root)
    child = log.call(root, "billing", grant=3_000, task="Look")
    for _ in range(6):
        log.step(child)
    log.close(child, "limit_reached", reason="steps").step(root).close(root)
    record = of(log.end())

    found = had(record, limits={"billing": {"max_steps": 9}})

    assert told(found) == [("h2", "goes on", "steps")]
    assert found.spent_high_tokens - found.spent_low_tokens == 3_000 - 600
    assert found.unknown == (
        "How billing would have gone on is not recorded, nor with which result.",
    )
    assert told(had(record, limits={"billing": {"max_steps": 6}})) == []


def test_a_refusal_that_no_limit_made_stays_whatever_changes():
    log = Log().user("Go")
    root = log.root("triage")
    log.step(root)
    log.transfer(root, "nobody", refused="target")
    log.call(root, "triage", refused="cycle")
    record = of(log.close(root).end())

    assert told(had(record, pool_tokens=10**9, max_handoffs=99, max_edge_repeats=9)) == []


def test_the_marks_are_the_sizes_at_which_something_changes():
    record = of(three_calls())
    marks = pool_marks(courses(record))

    assert marks is not None
    assert marks.as_recorded_tokens == 7_700  # 4,700 free before the third call, less the floor
    assert marks.without_refusals_tokens == 7_700
    assert told(had(record, pool_tokens=7_699)) == [("h4", "refused", "pool")]
    assert told(had(record, pool_tokens=7_700)) == []


def test_the_larger_mark_is_enough_even_if_all_is_used_up():
    case = Desk(desk(pool_tokens=5_000))
    case.session("Customer 4812 was charged twice.")
    played = courses(case.record("s1"))
    marks = pool_marks(played)

    assert marks is not None
    assert marks.without_refusals_tokens == 248 + 4_000 + 1_000
    assert told(had(case.record("s1"), pool_tokens=marks.without_refusals_tokens - 1)) == []


def test_where_the_record_does_not_say_what_was_asked_for_nothing_is_promised():
    log = Log(pool_tokens=3_000).user("Go")
    root = log.root("supervisor")
    log.step(root).call(root, "billing", refused="pool")
    record = of(log.close(root).end())
    marks = pool_marks(courses(record))

    assert marks is not None
    assert marks.without_refusals_tokens is None
    assert told(had(record, pool_tokens=9_000)) == [("h2", "depends", "pool")]


def test_a_session_without_a_message_has_no_pool():
    assert courses(Record([])) == ()
    assert pool_marks(()) is None
    assert what_if((), Change(pool_tokens=1)).handoffs == ()


def test_every_request_of_a_session_has_its_own_pool():
    log = three_calls()
    log.user("Again")
    root = log.root("supervisor")
    log.step(root, tokens=100).close(root).end()

    found = had(of(log), pool_tokens=7_000)

    assert told(found) == [("h4", "refused", "pool")]
    assert len(found.handoffs) == 5


# Against the runtime


def first_stop(sink: EventList) -> str | None:
    """The first handoff that the runtime refused, or that a limit ended."""
    for event in sink.events:
        if isinstance(event.payload, HandoffRejected):
            return event.handoff_id
        if isinstance(event.payload, HandoffClosed) and event.payload.reason:
            return event.handoff_id
    return None


@pytest.mark.parametrize("pool", [1_100, 1_300, 4_500, 5_249, 5_250, 6_000, 7_000, 20_000])
def test_the_first_that_a_pool_stops_is_the_one_that_it_stops_in_a_real_run(case, pool):
    real = Desk(desk(pool_tokens=pool))
    real.session("Customer 4812 was charged twice.")

    changed = had(case.record("s1"), pool_tokens=pool).changed

    first = min(changed, key=lambda handoff: handoff.seq or 0).handoff_id if changed else None
    assert first == first_stop(real.sinks["s1"])


@pytest.mark.parametrize("steps", [1, 2, 3])
@pytest.mark.parametrize("tokens", [200, 300, 500, 600, 4_000])
def test_the_first_that_a_limit_stops_is_the_one_that_it_stops_in_a_real_run(case, steps, tokens):
    flow = desk()
    supervisor, *workers = flow.agents
    limits = Limits(max_steps=steps, max_tokens=tokens)
    edges = [type(edge).call(edge.target, limits=limits) for edge in supervisor.edges]
    lean = type(supervisor)("supervisor", edges=edges, model=supervisor.model)
    real = Desk(flow.changed(agents=[lean, *workers]))
    real.session("Customer 4812 was charged twice.")

    changed = had(case.record("s1"), everyone={"max_steps": steps, "max_tokens": tokens}).changed

    first = min(changed, key=lambda handoff: handoff.seq or 0).handoff_id if changed else None
    assert first == first_stop(real.sinks["s1"])
