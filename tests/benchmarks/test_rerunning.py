"""What it costs to run one handoff again, beside the session that it is a part of.

Marked `benchmark` and left out of the normal run (`make bench`).
"""

import time

import pytest

from handoff_console.console.commands.rerun_orders import RerunOrder
from handoff_console.console.commands.rerunning import rerun_handoff
from handoff_console.console.commands.running import run_once
from handoff_console.runtime.rerun_player import Mode

pytestmark = pytest.mark.benchmark

WORKERS = 1_000
FLOW = f"""\
from handoff_console.runtime import Agent, Edge, Flow, Limits, Tool, delegate, say, together, use


def look(number: int) -> str:
    return f"payment {{number}}: " + "x" * 200


def root(call):
    done = len(call.results)
    if done >= {WORKERS}:
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
    max_workers={WORKERS},
    max_workers_per_session={WORKERS},
    limits=Limits(max_steps={WORKERS}, max_tokens=1_900_000_000, deadline_seconds=3_600),
)
"""


def cpu_seconds(work) -> float:
    began = time.process_time()
    work()
    return time.process_time() - began


def test_one_handoff_of_a_thousand_costs_a_fraction_of_their_session(tmp_path, monkeypatch):
    from handoff_console.console.commands.flows import load_flow

    monkeypatch.chdir(tmp_path)
    (tmp_path / "wide.py").write_text(FLOW)
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

    print(
        f"\na session of {WORKERS:,} handoffs {whole:.2f} s of CPU; one of them verified "
        f"{one:.3f} s ({one / whole:.1%}), run again {what_if:.3f} s ({what_if / whole:.1%}); all "
        f"of them replayed {replayed:.2f} s ({replayed / whole:.0%})"
    )
    assert one / whole < 0.15
    assert what_if / whole < 0.15
