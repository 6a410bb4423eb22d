"""What is kept of a record while a form about it is filled in: read once, and never stale."""

import os
from dataclasses import replace

import pytest

from handoff_console.console import kept_pasts
from handoff_console.console.commands.bisecting import Bisection, plan_bisection
from handoff_console.console.commands.errors import CommandError
from handoff_console.console.commands.flows import load_flow
from handoff_console.console.commands.rerun_orders import RerunOrder
from handoff_console.console.commands.rerunning import rerun_handoff
from handoff_console.console.commands.running import run_once
from handoff_console.console.queries import version
from handoff_console.console.viewmodels.flips import flip_plan
from handoff_console.runtime.edits import Edits
from handoff_console.runtime.errors import RequestError
from handoff_console.runtime.rerun_player import Mode
from handoff_console.store.errors import SessionUnknown

FLOW = """\
from handoff_console.runtime import Agent, Edge, Flow, Tool, delegate, say, use


def look(number: int) -> str:
    return "{returned}"


def root(call):
    return say("done") if call.results else delegate("worker", "Look.", number=1)


def worker(call):
    return say("ok") if call.results else use("look", number=call.inputs["number"])


flow = Flow(
    "desk",
    [
        Agent("root", model=root, edges=[Edge.call("worker", "Looks.")]),
        Agent("worker", model=worker, tools=[Tool(look, inline=True)]),
    ],
)
"""


@pytest.fixture
def desk(tmp_path, monkeypatch):
    """A store with one session of a flow in a file: store, file, and the session."""
    monkeypatch.chdir(tmp_path)
    store, file = tmp_path / "sessions.db", tmp_path / "desk.py"
    monkeypatch.setenv("HANDOFF_DB", str(store))
    file.write_text(FLOW.format(returned="a payment"))
    flow = load_flow("desk.py:flow").flow
    session = run_once(store, flow, "Go.", source="desk.py:flow").session_id
    return store, file, session


@pytest.fixture
def reads(monkeypatch):
    """Every reading of a record."""
    found = []

    def counted(*args, **kwargs):
        found.append((args, kwargs))
        return past_of(*args, **kwargs)

    past_of = kept_pasts.past_of
    monkeypatch.setattr(kept_pasts, "past_of", counted)
    return found


ORDER = RerunOrder(handoff_id="h2", mode=Mode.WHAT_IF, named="desk.py:flow")


def test_a_form_reads_the_record_once_whatever_is_changed_in_it(desk, reads):
    _, _, session = desk
    found = version(session)

    kept_pasts.start_now(found, "h2", "desk.py:flow")
    for edits in (Edits(), Edits(task="Look twice."), Edits(limits={"max_steps": 1})):
        for mode in (Mode.WHAT_IF, Mode.LIVE_READS, Mode.LIVE):
            kept_pasts.plan_now(found, replace(ORDER, edits=edits, mode=mode))

    assert len(reads) == 1


def test_the_whole_record_is_read_once_more_where_the_session_goes_on(desk, reads):
    _, _, session = desk

    for edits in (Edits(), Edits(task="Look twice.")):
        for mode in (Mode.WHAT_IF, Mode.CONTINUE):
            kept_pasts.plan_now(version(session), replace(ORDER, edits=edits, mode=mode))

    assert len(reads) == 2


def test_another_version_of_the_session_is_read_anew(desk, reads):
    _, _, session = desk
    found = version(session)

    for one in (found, found._replace(seq=found.seq + 1), found._replace(generation=7), found):
        kept_pasts.plan_now(one, ORDER)

    assert [args[1] for args, _ in reads] == [session] * 3


def test_a_flow_whose_file_changed_is_the_one_that_the_plan_speaks_of(desk):
    _, file, session = desk
    before = kept_pasts.plan_now(version(session), ORDER)
    file.write_text(FLOW.format(returned="another payment"))
    os.utime(file, ns=(1, 1))

    after = kept_pasts.plan_now(version(session), ORDER)

    assert before.changes == []
    assert after.changes == ["the tool 'look' of 'worker' has another source"]


def test_the_answers_of_a_re_run_are_read_once_and_planned_with(desk, monkeypatch):
    store, _, session = desk
    done = rerun_handoff(store, session, replace(ORDER, edits=Edits(task="Look twice.")))
    order = replace(ORDER, mode=Mode.CONTINUE, graft=done.runs[0].session_id)

    plan = kept_pasts.plan_now(version(session), order)
    monkeypatch.setattr(kept_pasts, "graft_of", None)
    again = kept_pasts.plan_now(version(session), replace(order, edits=Edits(denied=("look",))))

    assert plan.edits == {"task": "Look twice."}
    assert again.edits == {"task": "Look twice.", "denied": ("look",)}


def test_a_handoff_that_never_began_is_refused_as_such_also_without_its_flow(desk):
    _, file, session = desk
    file.unlink()

    with pytest.raises(RequestError, match="has no handoff 'h9'"):
        kept_pasts.plan_now(version(session), replace(ORDER, handoff_id="h9"))


def test_two_attempts_are_compared_once_however_a_search_between_them_is_tried(desk, monkeypatch):
    store, _, session = desk
    changed = replace(ORDER, edits=Edits(task="Look twice."))
    again = rerun_handoff(store, session, changed).runs[0].session_id
    asked = Bisection(failed=f"{session}:h2", good=again, named="desk.py:flow")
    fresh = plan_bisection(store, asked)

    plan = kept_pasts.search_now(asked)
    monkeypatch.setattr(kept_pasts, "between", None)
    often = kept_pasts.search_now(replace(asked, repeats=9, mode=Mode.LIVE_READS))

    assert flip_plan(plan, 3) == flip_plan(fresh, 3)
    assert [change.name for change in plan.changes.changes] == ["task"]
    assert (plan.estimate.most_reruns, often.estimate.most_reruns) == (6, 18)


def test_what_is_wrong_with_a_search_is_said_each_time(desk):
    _, _, session = desk
    asked = Bisection(failed=f"{session}:h2", good="none", named="desk.py:flow")

    for _ in range(2):
        with pytest.raises(SessionUnknown, match="none"):
            kept_pasts.search_now(asked)
        with pytest.raises(CommandError, match="attempts of different agents"):
            kept_pasts.search_now(replace(asked, good=f"{session}:h1"))
