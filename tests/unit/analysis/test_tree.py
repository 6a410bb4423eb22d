"""The handoff tree: every handoff once, where it belongs, as it was at any event."""

import random
import time

from hypothesis import given
from hypothesis import strategies as st
from support.logs import Log, random_log

from handoff_console.runtime.contract import Effect, HandoffKind, State, Status
from handoff_console.runtime.events import ApprovalRequested, HandoffRequested
from handoff_console.store.analysis.tree import handoff_tree


def outline(log: Log, **options: object) -> list[str]:
    tree = handoff_tree(log.events, **options)
    return [f"{'  ' * n.depth}{n.handoff_id} {n.agent} {n.outcome}" for n in tree.nodes]


def test_a_session_without_events_is_an_empty_tree():
    tree = handoff_tree([])

    assert tree.nodes == ()
    assert tree.outcome is State.RUNNING
    assert tree.seq == 0


def test_a_transfer_stands_right_after_its_sender_at_the_same_level():
    log = Log().user("Why was I charged twice?")
    triage = log.root("triage")
    billing = log.transfer(triage, "billing")
    log.close(billing).end()

    assert outline(log) == ["h1 triage transferred", "h2 billing ok"]
    tree = handoff_tree(log.events)
    assert tree.by_id["h2"].hop == 1
    assert tree.by_id["h2"].continues == "h1"
    assert tree.by_id["h2"].via is HandoffKind.TRANSFER
    assert tree.last_of_chain("h1").handoff_id == "h2"


def test_what_a_sender_called_stands_between_it_and_its_successor():
    log = Log().user("Help")
    triage = log.root("triage")
    log.close(log.call(triage, "search"), "not_found")
    log.close(log.transfer(triage, "billing")).end()

    assert outline(log) == ["h1 triage transferred", "  h2 search not_found", "h3 billing ok"]


def test_children_stand_one_level_below_their_caller_in_the_order_of_their_requests():
    log = Log().user("Help")
    supervisor = log.root("supervisor")
    first, second = log.fork(supervisor, ["billing", "account"])
    log.close(second).close(first)
    log.join(supervisor, [first, second])
    log.close(supervisor).end()

    assert outline(log) == ["h1 supervisor ok", "  h2 billing ok", "  h3 account ok"]
    assert {n.fork_id for n in handoff_tree(log.events).nodes[1:]} == {"fh2"}


def test_a_retry_stands_right_after_the_attempt_it_repeats():
    log = Log().user("Help")
    supervisor = log.root("supervisor")
    first, second = log.fork(supervisor, ["billing", "account"])
    log.close(first, "error").close(second)
    log.close(log.retry(first)).close(supervisor).end()

    assert outline(log) == [
        "h1 supervisor ok",
        "  h2 billing error",
        "  h4 billing ok",
        "  h3 account ok",
    ]
    tree = handoff_tree(log.events)
    assert tree.by_id["h4"].attempt == 2
    assert tree.last_of_chain("h2").handoff_id == "h4"


def test_a_refused_handoff_has_its_place_and_the_rule_that_refused_it():
    log = Log().user("Help")
    triage = log.root("triage")
    log.call(triage, "fraud", refused="target")
    log.close(triage).end()

    node = handoff_tree(log.events).by_id["h2"]
    assert (node.outcome, node.rule, node.depth) == (State.REFUSED, "target", 1)
    assert node.closed_seconds is not None
    assert node.opened_seconds is None
    assert node.max_steps is None


def test_each_turn_has_a_root_of_its_own():
    log = Log().user("First")
    log.close(log.root("triage"))
    log.user("Second").close(log.root("billing")).end()

    assert outline(log) == ["h1 triage ok", "h2 billing ok"]
    assert [n.turn for n in handoff_tree(log.events).nodes] == [1, 2]
    assert [n.task for n in handoff_tree(log.events).nodes] == ["First", "Second"]


def test_what_is_open_is_running_waiting_or_interrupted():
    log = Log().user("Help")
    supervisor = log.root("supervisor")
    log.call(supervisor, "billing")
    waiting = log.call(supervisor, "refunds")
    log.ask_user(waiting, "Which order?")

    tree = handoff_tree(log.events)
    assert [n.outcome for n in tree.nodes] == ["running", "running", "waiting"]
    assert tree.outcome is State.WAITING

    # Waiting is a state in the store: it outlives the process.
    gone = handoff_tree(log.events, interrupted=True)
    assert [n.outcome for n in gone.nodes] == ["interrupted", "interrupted", "waiting"]

    # What came from a file goes on nowhere, whatever it waited for.
    imported = handoff_tree(log.events, imported=True)
    assert [n.outcome for n in imported.nodes] == ["incomplete"] * 3
    assert imported.outcome is State.INCOMPLETE


def test_a_pending_approval_is_waiting():
    log = Log().user("Help")
    root = log.root("refunds")
    log.emit(
        root,
        ApprovalRequested(
            approval_id="a1",
            step=1,
            index=0,
            tool="refund",
            effect=Effect.EXTERNAL,
            shown=log.keep({}),
            expires_seconds=60.0,
        ),
    )

    assert handoff_tree(log.events).by_id["h1"].outcome is State.WAITING


def test_a_cancelled_session_leaves_no_handoff_running():
    log = Log().user("Help")
    log.root("triage")
    log.end(None, cancelled=True)

    tree = handoff_tree(log.events)
    assert tree.outcome is State.CANCELLED
    assert tree.nodes[0].outcome is State.CANCELLED


def test_the_tree_is_given_as_it_was_at_an_event():
    log = Log().user("Help")
    triage = log.root("triage")
    log.step(triage, tokens=100)
    seq = len(log.events)
    log.step(triage, tokens=50).close(triage).end()

    then = handoff_tree(log.events, until_seq=seq)
    assert then.seq == seq
    assert (then.nodes[0].outcome, then.nodes[0].tokens_used, then.nodes[0].steps_used) == (
        State.RUNNING,
        100,
        1,
    )
    now = handoff_tree(log.events)
    assert (now.nodes[0].outcome, now.nodes[0].tokens_used) == (Status.OK, 150)
    assert now.outcome is Status.OK


def test_a_stop_names_its_limit():
    log = Log().user("Help")
    log.close(log.root("triage"), "limit_reached", reason="steps").end("limit_reached", "steps")

    tree = handoff_tree(log.events)
    assert (tree.outcome, tree.limit, tree.nodes[0].limit) == ("limit_reached", "steps", "steps")


def test_r35_without_bodies_only_the_words_are_missing():  # R35
    log = Log().user("Help")
    triage = log.root("triage")
    log.close(log.call(triage, "billing", task="Find the invoice", reason="money"))
    log.close(triage).end()

    with_words = handoff_tree(log.events, body=log.body)
    log.sink.bodies.clear()
    without = handoff_tree(log.events, body=log.body)
    assert with_words.by_id["h2"].task == "Find the invoice"
    assert without.by_id["h2"].task == "money"
    assert [(n.handoff_id, n.depth, n.outcome) for n in with_words.nodes] == [
        (n.handoff_id, n.depth, n.outcome) for n in without.nodes
    ]


@given(st.lists(st.integers(0, 10_000), max_size=60), st.integers(0, 10_000))
def test_every_request_appears_exactly_once_and_after_what_it_hangs_on(choices, cut):
    log = random_log(choices)
    until_seq = cut % (len(log.events) + 1)
    asked = [
        e.handoff_id
        for e in log.events
        if e.seq <= until_seq and isinstance(e.payload, HandoffRequested)
    ]

    nodes = handoff_tree(log.events, until_seq=until_seq).nodes

    assert sorted(n.handoff_id for n in nodes) == sorted(asked)
    place = {n.handoff_id: i for i, n in enumerate(nodes)}
    depth = {n.handoff_id: n.depth for n in nodes}
    for node in nodes:
        if node.continues:
            assert place[node.continues] < place[node.handoff_id]
            assert depth[node.continues] == node.depth
        elif node.parent_id:
            assert place[node.parent_id] < place[node.handoff_id]
            assert depth[node.parent_id] + 1 == node.depth


@given(st.lists(st.integers(0, 10_000), max_size=40), st.randoms(use_true_random=False))
def test_links_that_lead_nowhere_lose_no_handoff(choices, chance: random.Random):
    log = random_log(choices)
    events = [
        e._replace(parent_id=chance.choice([e.parent_id, e.handoff_id, "h999"])) for e in log.events
    ]

    nodes = handoff_tree(events).nodes

    assert len(nodes) == len({n.handoff_id for n in nodes}) == len(log.handoffs)


def test_ten_thousand_handoffs_take_well_under_a_second():
    log = Log(pool_tokens=10**9).user("Go")
    supervisor = log.root("supervisor")
    last = supervisor
    for number in range(10_000):
        last = log.call(supervisor if number % 2 else last, "worker")
        log.close(last) if number % 2 else None

    started = time.process_time()
    tree = handoff_tree(log.events)
    took = time.process_time() - started

    assert len(tree.nodes) == 10_001
    assert took < 1.0, f"{took:.2f} s for {len(log.events)} events"


def test_a_try_and_what_it_repeats_are_told_from_all_others():
    log = Log().user("Help")
    triage = log.root("triage")
    first = log.call(triage, "billing")
    log.close(first, "error")
    second = log.retry(first)
    log.close(second).close(log.call(triage, "search")).close(triage).end()

    assert handoff_tree(log.events).retried == {first, second}
