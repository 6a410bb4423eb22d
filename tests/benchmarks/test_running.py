"""What it costs to run a session with everything recorded, beside the least that could do it.

Our side is `peer_handoff.py`, which the peers' benchmark runs as well; the yardstick is
`plain_sessions.py`. Both sides are measured in turn, in one process, so that a busy machine
disturbs both, and the best of each counts. Marked `benchmark` and left out of the normal run (`make
bench`).
"""

import asyncio
import importlib.util
import subprocess
import sys
import time
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

pytestmark = pytest.mark.benchmark

HERE = Path(__file__).parent
QUESTION = "Why was customer 4812 charged twice last month? Please find the invoices."
ROUNDS = 15


@dataclass
class Workload:
    """A session that can be measured, as the peers' benchmark wants it."""

    run: Any
    model_calls: int
    tool_calls: int
    close: Any = None
    stored: Any = None


def loaded(name: str, **modules: ModuleType) -> ModuleType:
    """Return a script beside this one as a module, with stand-ins for what it imports."""
    spec = importlib.util.spec_from_file_location(name, HERE / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules.update(modules)
    try:
        spec.loader.exec_module(module)
    finally:
        for stand_in in modules:
            del sys.modules[stand_in]
    return module


plain = loaded("plain_sessions")


def ours() -> ModuleType:
    bench = ModuleType("bench")
    bench.__dict__.update(
        ANSWER=plain.ANSWER, CALLS=Counter(), INVOICES=plain.INVOICES, QUESTION=QUESTION,
        RESULT_JSON='{"status": "ok", "data": {"invoices": [1, 2], "total": 8703}, "notes": ""}',
        Workload=Workload, main=None,
    )  # fmt: skip
    return loaded("peer_handoff", bench=bench)


def cpu_ms(runner: asyncio.Runner, run: Any, times: int) -> float:
    async def many() -> None:
        for _ in range(times):
            assert await run() == plain.ANSWER

    started = time.process_time()
    runner.run(many())
    return (time.process_time() - started) / times * 1_000


WORKLOADS = {
    "a transfer": ("w1", 0, plain.transfer, "triage", 40),
    "a transfer and a tool": ("w1_tool", 0, plain.transfer_and_tool, "triage", 30),
    "two parallel workers": ("fan_out", 2, lambda: plain.fan_out(2), "supervisor", 15),
    "a chain of 10": ("chain", 10, lambda: plain.chain(10), "one", 10),
    "a chain of 200": ("chain", 200, lambda: plain.chain(200), "one", 1),
}


@pytest.mark.parametrize("name", WORKLOADS)
def test_a_session_beside_the_least_python_that_does_the_same(tmp_path, name):
    workload, size, models, first, times = WORKLOADS[name]
    (tmp_path / "ours").mkdir()
    journal = plain.Journal(tmp_path / "plain.db")
    session = getattr(ours(), workload)(size, tmp_path / "ours")

    async def plainly() -> str:
        return str(await plain.PlainSession(models(), journal).run(first, QUESTION))

    with asyncio.Runner() as runner:
        pairs = [
            (cpu_ms(runner, session.run, times), cpu_ms(runner, plainly, times))
            for _ in range(ROUNDS)
        ]
    session.close()
    journal.db.close()
    mine, least = (min(side) for side in zip(*pairs, strict=True))
    print(
        f"\n{name}: {mine:.2f} ms of CPU, the least Python {least:.2f} ms; {mine / least:.1f} times"
    )

    assert mine / least < 9


def test_importing_the_runtime_beside_what_it_needs():
    def seconds(code: str) -> float:
        timed = (
            f"import time; start = time.process_time()\n{code}\nprint(time.process_time() - start)"
        )
        done = subprocess.run(
            [sys.executable, "-c", timed], capture_output=True, text=True, check=True
        )
        return float(done.stdout)

    needed = "import asyncio, json, sqlite3\nfrom pydantic import BaseModel"
    pairs = [
        (seconds("import handoff_console.runtime"), seconds(needed)) for _ in range(ROUNDS // 2)
    ]
    mine, least = (min(side) for side in zip(*pairs, strict=True))
    print(
        f"\nimport of the runtime: {mine:.2f} s of CPU, {mine / least:.1f} times asyncio, sqlite3"
        " and pydantic's BaseModel"
    )

    assert mine / least < 3
