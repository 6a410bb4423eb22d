"""How well offline routers find agents on public data, and what a whole comparison takes.

Run with `HANDOFF_DATA=FOLDER make bench ARGS=tests/benchmarks/test_routing.py`.
"""

import asyncio
import json
import os
import signal
import sqlite3
import subprocess
import time
from contextlib import closing
from pathlib import Path

import pytest
from support.command import PROGRAM
from support.routing_data import bare_flow, clinc, domain_versions

from handoff_console.console.commands.comparing_versions import run as compare
from handoff_console.console.commands.comparison_asked import Asked
from handoff_console.console.commands.datasets import read_dataset
from handoff_console.console.commands.first_decisions import decide
from handoff_console.console.commands.flows import load_flow
from handoff_console.console.commands.routed import Side
from handoff_console.console.commands.routed import side as side_of
from handoff_console.store.analysis.comparison.abstaining import abstention, thresholds
from handoff_console.store.analysis.comparison.compare import comparison, comparisons
from handoff_console.store.analysis.comparison.judging import accuracy, side
from handoff_console.store.analysis.comparison.trials import Experiment
from handoff_console.store.analysis.proportions import Proportion
from handoff_console.store.db import open_reader
from handoff_console.store.experiments import load_experiment

pytestmark = pytest.mark.benchmark

VERSIONS = ("v1", "v2", "v3")
ROUTERS = ("offline:bm25", "offline:wordllama")


def shown(share: Proportion) -> str:
    if share.share is None:
        return "none"
    return f"{100 * share.share:.1f} % [{100 * share.low:.1f}, {100 * share.high:.1f}]"


@pytest.mark.parametrize("router", ROUTERS)
def test_three_versions_on_the_whole_test_part_of_clinc(tmp_path, router):
    if router.startswith("offline:wordllama"):
        pytest.importorskip("wordllama", reason="the extra `embed` is not installed")
    asked = Asked(
        VERSIONS,
        str(clinc(tmp_path)),
        flow=f"{bare_flow(tmp_path)}:flow",
        model=router,
        prompts_folder=domain_versions(tmp_path / "p"),
    )
    store = tmp_path / "handoff.db"
    began, cpu = time.monotonic(), time.process_time()
    done = compare(store, asked)
    took, took_cpu = time.monotonic() - began, time.process_time() - cpu
    with closing(open_reader(store)) as db:
        began = time.monotonic()
        experiment = load_experiment(db, done.experiment_id)
        loaded = time.monotonic() - began
    began = time.monotonic()
    found = comparisons(experiment)
    compared = time.monotonic() - began

    print(f"\n{router}: {done.progress.done:,} decisions in {took:.1f} s ({took_cpu:.1f} s CPU)")
    print(f"  {done.progress.done / took:,.0f} a second; loaded {loaded:.2f} s, "
          f"compared {compared:.2f} s")  # fmt: skip
    for version in VERSIONS:
        report(experiment, version)
    for one in (*found, comparison(experiment, "v2", "v3")):
        print(f"  {one.verdict.sentence}")
    print(f"  {found[0].best.sentence}")
    assert done.progress.errors == 0
    assert done.stopped is None


def report(experiment: Experiment, label: str) -> None:
    cases = side(experiment, label)
    in_scope = [case for case in cases if case.case.wanted]
    held = abstention(cases)
    print(
        f"  {label}: in scope {shown(accuracy(in_scope))}, out-of-scope recall "
        f"{shown(held.recall)}, false abstention {shown(held.false_abstain)}, when routed "
        f"{shown(held.accuracy_when_routed)}, AUROC {held.auroc or 0:.3f}"
    )


@pytest.mark.parametrize("version", VERSIONS)
def test_word_vectors_beside_words(tmp_path, version):
    pytest.importorskip("wordllama", reason="the extra `embed` is not installed")
    asked = Asked(
        (version, f"{version}+triage=offline:wordllama"),
        str(clinc(tmp_path)),
        flow=f"{bare_flow(tmp_path)}:flow",
        prompts_folder=domain_versions(tmp_path / "p"),
    )
    done = compare(tmp_path / "handoff.db", asked)
    with closing(open_reader(tmp_path / "handoff.db")) as db:
        (found,) = comparisons(load_experiment(db, done.experiment_id))
    print(f"\n{found.verdict.sentence}")


@pytest.mark.parametrize("router", ROUTERS)
def test_decisions_alone(tmp_path, router):
    if router.startswith("offline:wordllama"):
        pytest.importorskip("wordllama", reason="the extra `embed` is not installed")
    cases = read_dataset(str(clinc(tmp_path))).cases[:2_000]
    flow, folder = load_flow(f"{bare_flow(tmp_path)}:flow"), domain_versions(tmp_path / "p")

    async def decided(of: Side) -> None:
        for case in cases:
            await decide(of, case)

    for version in VERSIONS:
        of = side_of(flow, version, router, tmp_path / "handoff.db", folder)
        asyncio.run(decided(of))
        began = time.process_time()
        asyncio.run(decided(of))
        took = time.process_time() - began
        print(f"\n{router}, {version}: {len(cases) / took:,.0f} decisions a second of CPU")


@pytest.mark.parametrize("router", ROUTERS)
def test_a_threshold_that_was_chosen_on_training_sentences(tmp_path, router):
    """Held back or handed on: what each threshold costs, chosen on one part, told of another."""
    if router.startswith("offline:wordllama"):
        pytest.importorskip("wordllama", reason="the extra `embed` is not installed")
    folder, flow = domain_versions(tmp_path / "p"), f"{bare_flow(tmp_path)}:flow"
    store = tmp_path / "handoff.db"

    def experiment_of(versions: tuple[str, ...], dataset: Path) -> Experiment:
        asked = Asked(versions, str(dataset), flow=flow, model=router, prompts_folder=folder)
        done = compare(store, asked)
        with closing(open_reader(store)) as db:
            return load_experiment(db, done.experiment_id)

    trained = side(experiment_of(("v2", "v3"), clinc(tmp_path, "train_30_per_intent")), "v3")
    points = thresholds(trained)
    chosen_by = {
        "even": max(points, key=lambda it: it.coverage.share + it.abstain_recall.share),
        "tenth": ([it for it in points if it.coverage.share >= 0.9] or points[:1])[-1],
    }
    for name, point in chosen_by.items():
        (folder / name).mkdir()
        for file in (folder / "v3").glob("*.md"):
            (folder / name / file.name).write_text(file.read_text("utf-8"), "utf-8")
        head = f"---\nthreshold: {point.threshold}\n---\n"
        (folder / name / "triage.md").write_text(head, "utf-8")
    found = experiment_of(("v3", *chosen_by), clinc(tmp_path))

    print(f"\n{router}, v3 with a threshold chosen on the training part")
    for label in ("v3", *chosen_by):
        level = chosen_by[label].threshold if label in chosen_by else 0.0
        print(f"  at least {level:g} ({label})")
        report(found, label)
        print(f"    of all {shown(accuracy(side(found, label)))}")


def test_the_same_killed_four_times_and_gone_on_with(tmp_path):
    words = [
        *PROGRAM, "compare", *VERSIONS, "--dataset", str(clinc(tmp_path)),
        "--flow", f"{bare_flow(tmp_path)}:flow",
        "--prompts-dir", str(domain_versions(tmp_path / "p")), "--format", "json",
    ]  # fmt: skip
    broken, whole = tmp_path / "broken.db", tmp_path / "whole.db"
    subprocess.run([*words, "--db", broken, "--max-tokens", "1"], capture_output=True, check=False)
    whole.write_bytes(broken.read_bytes())
    for share in (0.1, 0.3, 0.5, 0.8):
        killed_at([*words, "--db", broken], broken, round(share * 5_500 * len(VERSIONS)))
    last, once = (
        subprocess.run([*words, "--db", db], capture_output=True, check=False).stdout
        for db in (broken, whole)
    )
    first, second = trial_rows(broken), trial_rows(whole)
    differ = len(set(first) ^ set(second))
    print(f"\nkilled four times: {len(first):,} trials, {differ} rows differ")
    assert differ == 0
    assert without_id(last) == without_id(once)


def killed_at(words: list[str], store: Path, trials: int) -> None:
    process = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    while process.poll() is None:
        with closing(sqlite3.connect(f"{store.as_uri()}?mode=ro", uri=True)) as db:
            (done,) = db.execute("select count(*) from trials where state = 'done'").fetchone()
        if done >= trials:
            os.kill(process.pid, signal.SIGKILL)
            process.wait()
        time.sleep(0.05)


def trial_rows(store: Path) -> list[tuple[str, str, str]]:
    with closing(sqlite3.connect(store)) as db:
        rows = db.execute("select trial_key, state, outcome from trials")
        return [
            (key, state, json.dumps({k: v for k, v in json.loads(text).items() if k != "seconds"}))
            for key, state, text in rows
        ]


def without_id(text: bytes) -> dict[str, object]:
    form = json.loads(text)
    form.pop("experiment_id")
    return form
