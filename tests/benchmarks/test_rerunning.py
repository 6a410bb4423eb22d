"""What it costs to run one handoff again, beside the session that it is a part of.

Marked `benchmark` and left out of the normal run (`make bench`).
"""

import asyncio
import time
from contextlib import closing
from pathlib import Path

import pytest

from handoff_console.console.commands.estimates import plan_rerun
from handoff_console.console.commands.flows import load_flow
from handoff_console.console.commands.recorded_flows import flow_for
from handoff_console.console.commands.rerun_orders import RerunOrder
from handoff_console.console.commands.rerunning import rerun_handoff
from handoff_console.console.commands.running import run_once
from handoff_console.console.kept_pasts import plan_now
from handoff_console.console.reading import Version
from handoff_console.runtime import EventList, Recording, run
from handoff_console.runtime.contract import HUMAN
from handoff_console.runtime.edits import Edits
from handoff_console.runtime.rerun import rerun
from handoff_console.runtime.rerun_player import Mode
from handoff_console.sample_runs.shipped import unpack
from handoff_console.store import reader
from handoff_console.store.db import open_reader
from handoff_console.store.recordings import recording_of

pytestmark = pytest.mark.benchmark

WORKERS = 1_000
MOST_WORKERS = 6_890
"""So many make 100,000 events."""


def flow_of(workers: int) -> str:
    """Return the text of a flow whose root calls so many workers."""
    return f"""\
from handoff_console.runtime import Agent, Edge, Flow, Limits, Tool, delegate, say, together, use


def look(number: int) -> str:
    return f"payment {{number}}: " + "x" * 200


def root(call):
    done = len(call.results)
    if done >= {workers}:
        return say("done")
    numbers = range(done, done + 10)
    return together(*(delegate("worker", f"Look into {{n}}", number=n) for n in numbers))


def worker(call):
    return say("ok") if call.results else use("look", number=call.inputs["number"])


limits = Limits(max_steps=3, max_tokens=3_000)
flow = Flow(
    "wide",
    [
        Agent("root", model=root, edges=[Edge.call("worker", "Looks.", limits=limits)]),
        Agent("worker", model=worker, tools=[Tool(look, inline=True)]),
    ],
    pool_tokens=2_000_000_000,
    max_workers={workers},
    max_workers_per_session={workers},
    limits=Limits(max_steps={workers}, max_tokens=1_900_000_000, deadline_seconds=3_600),
)
"""


ORDER = RerunOrder(handoff_id="h1", mode=Mode.WHAT_IF, named="wide.py:flow")


def version_of(store: Path, session_id: str) -> Version:
    """Return a session as the pages ask for it."""
    with closing(open_reader(store)) as db:
        return Version(
            str(store), session_id, reader.last_seq(db, session_id), reader.generation(db)
        )


def cpu_seconds(work) -> float:
    began = time.process_time()
    work()
    return time.process_time() - began


def test_one_handoff_of_a_thousand_costs_a_fraction_of_their_session(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "wide.py").write_text(flow_of(WORKERS))
    store = tmp_path / "wide.db"
    flow = load_flow("wide.py:flow").flow
    sessions = []
    whole = cpu_seconds(
        lambda: sessions.append(run_once(store, flow, "Go.", source="wide.py:flow"))
    )
    session_id = sessions[0].session_id

    def again(handoff_id: str, mode: Mode):
        order = RerunOrder(handoff_id=handoff_id, mode=mode, named="wide.py:flow")
        done = rerun_handoff(store, session_id, order)
        assert done.same_result

    one = min(cpu_seconds(lambda: again("h500", Mode.VERIFY)) for _ in range(3))
    what_if = min(cpu_seconds(lambda: again("h500", Mode.WHAT_IF)) for _ in range(3))
    replayed = cpu_seconds(lambda: again("h1", Mode.VERIFY))
    root = cpu_seconds(lambda: again("h1", Mode.WHAT_IF))

    print(
        f"\na session of {WORKERS:,} handoffs {whole:.2f} s of CPU; one of them verified "
        f"{one:.3f} s ({one / whole:.1%}), run again {what_if:.3f} s ({what_if / whole:.1%}); all "
        f"of them replayed {replayed:.2f} s ({replayed / whole:.0%}), their root run again over "
        f"their recorded answers {root:.2f} s ({root / whole:.0%})"
    )
    assert one / whole < 0.15
    assert what_if / whole < 0.15
    assert root / whole < 0.9


def test_a_change_in_the_form_costs_a_fraction_of_the_first_look(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "wide.py").write_text(flow_of(MOST_WORKERS))
    store = tmp_path / "wide.db"
    flow = load_flow("wide.py:flow").flow
    session = version_of(store, run_once(store, flow, "Go.", source="wide.py:flow").session_id)

    def plan(mode: Mode, **edits):
        order = RerunOrder(handoff_id="h1", mode=mode, named="wide.py:flow", edits=Edits(**edits))
        return plan_now(session, order)

    whole = cpu_seconds(lambda: plan_rerun(store, session.session_id, ORDER))
    first = cpu_seconds(lambda: plan(Mode.WHAT_IF))
    task = cpu_seconds(lambda: plan(Mode.WHAT_IF, task="Look twice."))
    limit = cpu_seconds(lambda: plan(Mode.LIVE, limits={"max_steps": 400}))
    on = cpu_seconds(lambda: plan(Mode.CONTINUE))
    later = cpu_seconds(lambda: plan(Mode.CONTINUE, limits={"max_steps": 400}))

    print(
        f"\nthe root of a session of {session.seq:,} events: a plan in a shell {whole:.2f} s of "
        f"CPU, the first in a form {first:.2f} s, with another task {task:.3f} s, another limit "
        f"{limit:.3f} s; the first that goes on {on:.2f} s, with another limit {later:.3f} s"
    )
    assert max(task, limit, later) / first < 0.1


def test_every_recorded_sample_verifies_without_asking_anybody(tmp_path, capsys):
    """Prints handoffs verified, models really asked, and results that differ: both nought."""
    handoffs = asked = differ = 0
    unpack(tmp_path / "samples.db")
    with closing(open_reader(tmp_path / "samples.db")) as db:
        sessions = [
            row[0] for row in db.execute("select session_id from session_keys order by session")
        ]
        opened = {
            session: [
                event.handoff_id
                for event in reader.load_events(db, session, kinds={"handoff_opened"})
                if event.payload.target != HUMAN
            ]
            for session in sessions
        }
        key = reader.digest_key(db)
        began = time.process_time()
        for session, ids in opened.items():
            whole = recording_of(db, session)
            flow = flow_for(whole).flow
            for handoff_id in ids:
                recording = recording_of(db, session, handoff_id)
                came = asyncio.run(rerun(flow, recording, handoff_id, sink=EventList(key)))
                handoffs += 1
                asked += came.live_model_calls
                differ += not came.same_result
        took = time.process_time() - began
    with capsys.disabled():
        print(
            f"\n{handoffs} handoffs of {len(sessions)} recorded samples verified in {took:.2f} s"
            f" of CPU: {asked} models asked, {differ} results that differ"
        )
    assert (asked, differ) == (0, 0)
    assert handoffs > 90


def test_what_the_tape_adds_to_a_step(capsys):
    """Prints the CPU of a step that is replayed beside the same step when it ran."""
    flow = load_flow("support").flow
    message = "I am customer 5120. Why was I charged twice last month?"
    sink = EventList(b"key")

    def ran(into: EventList) -> None:
        asyncio.run(run(flow, message, sink=into, session_id="s"))

    ran(sink)
    recording = Recording("s", list(sink.events), sink.body)
    steps = sum(event.kind == "model_replied" for event in sink.events)

    def replayed():
        came = asyncio.run(rerun(flow, recording, "h1", sink=EventList(b"key")))
        assert came.same_result

    both = [(cpu_seconds(lambda: ran(EventList(b"key"))), cpu_seconds(replayed)) for _ in range(15)]
    first, again = (min(took) / steps for took in zip(*both, strict=True))
    with capsys.disabled():
        print(
            f"\na step {1e6 * first:.0f} us of CPU when it ran, {1e6 * again:.0f} us when it is "
            "replayed, the reading of the tape included"
        )
    assert again < first * 1.5
