"""`handoff bench`: figures of this machine, in seconds, and nothing left behind."""

import json

import pytest
from support.command import started

from handoff_console.console.commands import bench

pytestmark = pytest.mark.acceptance

NAMES = ["event", "one_transfer", "with_a_tool", "two_workers", "chain", "size", "list", "open"]


@pytest.fixture
def short(monkeypatch):
    """Do each thing once, and little of it."""
    monkeypatch.setattr(bench.bench, "__defaults__", (0.0,))
    monkeypatch.setattr(bench, "LARGE_HANDOFFS", 20)
    monkeypatch.setattr(bench, "SLICES", 1)


@pytest.mark.usefixtures("short")
def test_every_figure_is_a_line_with_its_unit_and_nothing_is_left_behind(handoff, folder):
    done = handoff("bench")

    assert done.status == 0
    assert len(done.out.splitlines()) == len(NAMES)
    assert "a session: triage hands over to billing" in done.out
    assert " × without a store" in done.out
    assert max(map(len, done.out.splitlines())) <= 80
    assert list(folder.iterdir()) == []


@pytest.mark.usefixtures("short")
def test_json_has_every_figure_and_what_it_was_measured_with(handoff):
    form = json.loads(handoff("bench", "--json").out)

    assert list(form) == ["figures", "python", "sqlite", "seconds"]
    assert [figure["name"] for figure in form["figures"]] == NAMES
    assert all(figure["value"] > 0 for figure in form["figures"])
    assert {figure["name"] for figure in form["figures"] if figure["ratio"]} == {
        "one_transfer", "with_a_tool", "two_workers", "chain",
    }  # fmt: skip


@pytest.mark.usefixtures("short")
def test_every_session_that_is_measured_comes_out_well(monkeypatch):
    import asyncio

    from handoff_console.console.commands import bench_flows
    from handoff_console.runtime import run

    flows = (
        bench_flows.one_transfer(),
        bench_flows.with_a_tool(),
        bench_flows.two_workers(),
        bench_flows.chain(12),
    )

    for flow in flows:
        assert asyncio.run(run(flow, bench_flows.QUESTION)).status == "ok"


def test_ctrl_c_leaves_nothing_behind(folder):
    import signal
    import time

    process = started(folder, "bench")
    give_up = time.monotonic() + 60
    while not list(folder.glob(".handoff-bench-*/bench.db")):
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < give_up
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=60)

    assert process.returncode == 130
    assert list(folder.iterdir()) == []
