import dataclasses

import pytest
from support.attempts import Desk, desk
from support.logs import Log

from handoff_console.runtime import EventList
from handoff_console.runtime.canonical import digest
from handoff_console.runtime.edits import Edits
from handoff_console.runtime.rerun_player import Mode
from handoff_console.store.analysis.diff import Comparison, Pair, compare
from handoff_console.store.analysis.differences import ABSENT, Aspect, changed_fields
from handoff_console.store.analysis.findings.record import Record


def of(log: Log) -> Record:
    return Record(log.events, log.body)


def told(pair: Pair | None) -> list[tuple[str, str]]:
    """What differs in a pair, by aspect and name."""
    assert pair is not None
    return [(found.aspect.value, found.name) for found in pair.differences]


def changes(comparison: Comparison) -> list[tuple[str, str, str]]:
    return [(pair.change, pair.node.agent, pair.node.path) for pair in comparison.pairs]


@pytest.fixture(scope="module")
def case() -> Desk:
    """A session in which billing finds nothing, and re-runs of billing."""
    case = Desk()
    case.session()
    case.again("h2", mode=Mode.VERIFY, name="verify")
    case.again("h2", Edits(inputs={"customer": "4812"}), name="fixed")
    case.again("h2", Edits(prompt="You name them."), of="fixed", name="named")
    case.again("h2", Edits(inputs={"customer": "4812"}), mode=Mode.CONTINUE, name="whole")
    case.session("Customer 4812 was charged twice.", name="other")
    case.session("Customer 4812 was charged twice.", name="poor", flow=desk(pool_tokens=5_000))
    return case


def between(case: Desk, left: str, right: str) -> Comparison:
    return compare(case.record(left), case.record(right))


def test_of_a_rerun_of_one_handoff_only_this_one_is_compared(case):
    comparison = between(case, "s1", "verify")

    assert comparison.path == "t1/1.0"
    assert changes(comparison) == [("same", "billing", "t1/1.0")]
    assert comparison.is_same
    assert comparison.first_pair is None
    assert comparison.first_difference is None


def test_a_verified_rerun_took_the_same_and_spent_nothing(case):
    comparison = between(case, "s1", "verify")

    assert comparison.left.tokens_used == comparison.right.tokens_used == 506
    assert (comparison.left.ran, comparison.left.replayed) == (3, 0)
    assert (comparison.right.ran, comparison.right.replayed) == (0, 3)
    assert comparison.right.saved_tokens == 506
    assert comparison.right.spent_tokens == 0


def test_an_edited_rerun_says_what_followed_from_the_edit_in_order(case):
    comparison = between(case, "s1", "fixed")

    assert told(comparison.first_pair) == [
        ("request", "inputs.customer"),
        ("message", "user, step 1"),
        ("tool call", "list_payments, step 1 arguments.customer"),
        ("tool result", "list_payments, step 1"),
        ("reply", "step 2"),
        ("status", "status"),
        ("result", "notes"),
    ]
    first = comparison.first_difference
    assert first is not None
    assert (first.left, first.right) == ("4813", "4812")
    assert (comparison.left.outcome, comparison.right.outcome) == ("not_found", "ok")


def test_two_attempts_of_one_handoff_are_compared_with_each_other(case):
    comparison = between(case, "fixed", "named")

    assert told(comparison.first_pair) == [
        ("prompt", "prompt"),
        ("reply", "step 2"),
        ("result", "notes"),
    ]


def test_an_attempt_and_a_session_that_went_on_with_it_share_that_handoff(case):
    assert between(case, "fixed", "whole").path == "t1/1.0"
    assert between(case, "whole", "fixed").is_same


def test_a_rerun_that_went_on_is_compared_whole_and_parts_at_the_edited_handoff(case):
    comparison = between(case, "s1", "whole")

    assert comparison.path is None
    assert comparison.first_pair is not None
    assert comparison.first_pair.node.agent == "billing"
    assert changes(comparison) == [
        ("changed", "supervisor", "t1"),
        ("changed", "billing", "t1/1.0"),
        ("changed", "writer", "t1/2.0"),
    ]
    assert (comparison.left.outcome, comparison.right.outcome) == ("ok", "ok")


def test_a_run_that_stands_at_an_entry_of_the_pool_parts_where_it_was_changed(case):
    whole = case.record("whole")
    ends = max(
        place
        for place, event in enumerate(whole.events, start=1)
        if event.kind == "budget_charged" and event.handoff_id == "h1"
    )
    so_far = Record(whole.events[:ends], whole.body)

    comparison = compare(case.record("s1"), so_far)

    assert (comparison.first_pair.node.path, told(comparison.first_pair)[0]) == (
        "t1/1.0",
        ("request", "inputs.customer"),
    )
    assert told(comparison.pairs[0])[-1] == ("status", "status")


def test_two_sessions_part_where_the_user_said_something_else(case):
    comparison = between(case, "s1", "other")

    assert comparison.settings == ()
    assert comparison.first_pair is not None
    assert comparison.first_pair.node.path == "t1"
    first = comparison.first_difference
    assert first is not None
    assert (first.aspect, first.name) == (Aspect.REQUEST, "task")


def test_a_handoff_that_was_refused_once_differs_in_its_status_alone(case):
    comparison = between(case, "other", "poor")

    assert [(found.name, found.left, found.right) for found in comparison.settings] == [
        ("pool_tokens", 20_000, 5_000)
    ]
    assert changes(comparison) == [
        ("changed", "supervisor", "t1"),
        ("changed", "billing", "t1/1.0"),
        ("removed", "writer", "t1/2.0"),
    ]
    assert told(comparison.first_pair) == [("status", "status")]
    first = comparison.first_difference
    assert first is not None
    assert (first.left, first.right) == ("ok", "refused (pool)")
    assert comparison.counts == {"same": 0, "changed": 2, "added": 0, "removed": 1}


def test_what_only_one_side_has_is_one_difference_with_its_task(case):
    removed = between(case, "other", "poor").pairs[2]

    assert [(d.aspect, d.name, d.left, d.right) for d in removed.differences] == [
        (Aspect.HANDOFF, "writer", "Write the answer.", ABSENT)
    ]
    assert removed.right_figures is None


def test_neither_record_is_changed_by_comparing(case):
    before = [repr(event) for event in case.sinks["s1"].events]
    between(case, "s1", "fixed")

    assert [repr(event) for event in case.sinks["s1"].events] == before


# Which handoffs belong together


def called(*tasks: str) -> Log:
    log = Log(pool_tokens=200_000).user("Go")
    root = log.root("supervisor")
    for task in tasks:
        log.step(root)
        agent, _, what = task.partition(" ")
        child = log.call(root, agent, task=what, inputs={"about": what})
        log.step(child).close(child)
    return log.close(root).end()


def test_handoffs_are_aligned_by_task_and_not_by_number():
    left = called("billing May", "billing June", "writer all")
    right = called("search May", "billing May", "billing June", "writer all")
    comparison = compare(of(left), of(right))

    assert changes(comparison) == [
        ("changed", "supervisor", "t1"),
        ("added", "search", "t1/1.0"),
        ("same", "billing", "t1/1.0"),
        ("same", "billing", "t1/2.0"),
        ("same", "writer", "t1/3.0"),
    ]
    assert [(p.left.handoff_id, p.right.handoff_id) for p in comparison.pairs if p.left] == [
        ("h1", "h1"),
        ("h2", "h3"),
        ("h3", "h4"),
        ("h4", "h5"),
    ]


def test_handoffs_in_another_order_are_still_found():
    left = called("billing May", "writer all")
    right = called("writer all", "billing May")

    comparison = compare(of(left), of(right))

    assert comparison.counts["added"] == comparison.counts["removed"] == 0


def test_a_place_with_another_task_is_the_same_handoff_changed():
    comparison = compare(of(called("billing May")), of(called("billing June")))

    assert changes(comparison)[1] == ("changed", "billing", "t1/1.0")
    assert ("request", "task") in told(comparison.pairs[1])


def test_a_retry_is_no_other_handoff_than_the_one_it_repeats():
    def log(retries: bool) -> Record:
        log = Log().user("Go")
        root = log.root("supervisor")
        log.step(root)
        child = log.call(root, "billing", task="May")
        log.step(child).close(child, "error" if retries else "ok")
        if retries:
            again = log.retry(child, task="May")
            log.step(again).close(again)
        return of(log.close(root).end())

    comparison = compare(log(retries=False), log(retries=True))

    assert [pair.change for pair in comparison.pairs] == ["same", "changed", "added"]
    assert comparison.pairs[2].right is not None
    assert comparison.pairs[2].right.attempt == 2


# What is said of a pair


def test_a_packet_is_compared_fact_by_fact():
    def log(facts: dict[str, str]) -> Record:
        log = Log().user("Go")
        triage = log.root("triage")
        log.step(triage)
        billing = log.transfer(triage, "billing", packet={"goal": "help", "facts": facts})
        return of(log.step(billing).close(billing).end())

    comparison = compare(log({"order": "A-1", "city": "Ulm"}), log({"order": "A-2"}))

    assert [(d.name, d.left, d.right) for d in comparison.pairs[1].differences] == [
        ("facts.city", "Ulm", ABSENT),
        ("facts.order", "A-1", "A-2"),
    ]
    assert {d.aspect for d in comparison.pairs[1].differences} == {Aspect.PACKET}


def test_a_tool_that_failed_or_was_denied_is_told_apart_from_one_that_worked():
    def log(kind: str) -> Record:
        log = Log().user("Go")
        root = log.root("billing")
        log.step(root)
        if kind == "denied":
            log.deny(root, "refund")
        else:
            log.tool(root, "refund", "done", error="no line" if kind == "failed" else "")
        return of(log.close(root).end())

    worked, failed, denied = (log(kind) for kind in ("worked", "failed", "denied"))

    assert told(compare(worked, failed).pairs[0]) == [("tool result", "refund, step 1 error")]
    assert ("tool result", "refund, step 1 error") in told(compare(worked, denied).pairs[0])


def test_the_limit_that_ended_a_handoff_belongs_to_its_status():
    def log(reason: str) -> Record:
        log = Log().user("Go")
        root = log.root("billing")
        log.step(root).close(root, "limit_reached", reason=reason)
        return of(log.end("limit_reached", reason=reason))

    (found,) = compare(log("steps"), log("deadline")).pairs[0].differences

    assert (found.left, found.right) == ("limit_reached (steps)", "limit_reached (deadline)")


def test_tokens_and_time_alone_are_no_difference_but_stand_in_the_figures():
    def log(tokens: int) -> Record:
        log = Log().user("Go")
        root = log.root("billing")
        return of(log.step(root, tokens=tokens).close(root).end())

    comparison = compare(log(100), log(140))

    assert comparison.is_same
    assert (comparison.left.tokens_used, comparison.right.tokens_used) == (100, 140)
    assert (comparison.left.steps, comparison.left.model_calls, comparison.left.handoffs) == (
        1,
        1,
        1,
    )


def test_the_same_session_in_two_stores_is_the_same():
    """Digests are keyed with each store's own secret, so that only what was said can agree."""
    case = Desk()
    case.session()
    sink = case.sinks["s1"]
    elsewhere = EventList(b"another key")
    renamed = {name: digest(body, b"another key") for name, body in sink.bodies.items()}
    for _ in range(8):  # chains name chains
        for name, body in sink.bodies.items():
            text = body.decode()
            for old, new in renamed.items():
                text = text.replace(old, new)
            renamed[name] = digest(text.encode(), b"another key")
            elsewhere.bodies[renamed[name]] = text.encode()
    elsewhere.events += [
        event._replace(payload=dataclasses.replace(event.payload, **{
            field: renamed.get(value, value)
            for field in event.payload.digests
            if isinstance(value := getattr(event.payload, field), str)
        }))
        for event in sink.events
    ]  # fmt: skip
    there = Record(elsewhere.events, elsewhere.body)

    assert elsewhere.events[-1].payload != sink.events[-1].payload
    assert compare(case.record("s1"), there).is_same


def test_without_bodies_the_events_still_say_what_they_know(case):
    bare = [Record(case.sinks[name].events) for name in ("s1", "other")]
    comparison = compare(*bare)

    assert [pair.change for pair in comparison.pairs] == ["changed"] * 3
    assert ("status", "status") in told(comparison.pairs[1])


def test_a_session_without_events_is_compared_as_nothing():
    comparison = compare(Record([]), of(called("billing May")))

    assert comparison.counts == {"same": 0, "changed": 0, "added": 2, "removed": 0}
    assert comparison.left.handoffs == 0


# Values


def test_fields_are_told_by_their_path_and_nothing_else_is():
    left = {"a": {"b": 1, "c": [1, 2]}, "d": None, "e": "x"}
    right = {"a": {"b": 2, "c": [1, 3]}, "e": "x"}

    assert [tuple(field) for field in changed_fields(left, right)] == [
        ("a.b", 1, 2),
        ("a.c.1", 2, 3),
        ("d", None, ABSENT),
    ]


def test_lists_of_different_length_and_values_that_lie_deep_are_compared_as_a_whole():
    assert [field.name for field in changed_fields([1], [1, 2])] == [""]
    deep: object = 1
    other: object = 2
    for _ in range(200):
        deep, other = {"in": deep}, {"in": other}

    (field,) = changed_fields(deep, other)
    assert field.name == ".".join(["in"] * 6)


def test_true_is_not_one():
    assert [field.name for field in changed_fields({"a": True}, {"a": 1})] == ["a"]
    assert list(changed_fields({"a": 1.0}, {"a": 1})) == []


# Handoffs that are named


def retried() -> Log:
    log = Log().user("Go")
    root = log.root("supervisor")
    log.step(root)
    child = log.call(root, "billing", task="May")
    log.step(child).close(child, "error")
    again = log.retry(child, task="May")
    log.step(again).step(again).close(again)
    return log.close(root).end()


def test_a_retry_is_compared_with_what_it_tried_again():
    record = of(retried())

    comparison = compare(record, record, handoffs=("h2", "h3"))

    assert changes(comparison) == [("changed", "billing", "t1/1.0")]
    assert (comparison.left.outcome, comparison.right.outcome) == ("error", "ok")
    assert (comparison.left.steps, comparison.right.steps) == (1, 2)
    assert compare(record, record, handoffs=("h3", "h2")).left.outcome == "ok"


def test_two_named_handoffs_are_the_same_one_wherever_they_stand():
    left, right = of(called("billing May")), of(called("writer all", "billing June"))

    comparison = compare(left, right, handoffs=("h2", "h3"))

    assert [pair.change for pair in comparison.pairs] == ["changed"]
    assert ("request", "task") in told(comparison.pairs[0])
    assert (comparison.left.handoffs, comparison.right.handoffs) == (1, 1)


def test_of_a_handoff_that_is_not_there_nothing_is_compared():
    record = of(called("billing May"))

    assert compare(record, record, handoffs=("h2", "h9")).pairs == ()
