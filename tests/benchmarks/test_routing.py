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
from pydantic import create_model
from support.command import PROGRAM
from support.routing_data import bare_flow, clinc, domain_versions, rows

from handoff_console.console.commands.comparing_versions import run as compare
from handoff_console.console.commands.comparison_asked import Asked
from handoff_console.runtime import Agent, Edge, EventList, Flow, hand_over, run, say
from handoff_console.store.analysis.comparison.abstaining import abstention, thresholds
from handoff_console.store.analysis.comparison.compare import comparison, comparisons
from handoff_console.store.analysis.comparison.judging import accuracy, side
from handoff_console.store.analysis.comparison.trials import Experiment
from handoff_console.store.analysis.proportions import Proportion
from handoff_console.store.analysis.routing import routing_of
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


def chosen(flow: Flow, text: str) -> set[str]:
    """Return whom the first agent hands a message to."""
    sink = EventList()
    asyncio.run(run(flow, text, sink=sink))
    return {e.payload.target for e in sink.events if e.kind == "handoff_opened"} - {"triage"}


def desk(descriptions: dict[str, str], router: str) -> Flow:
    edges = [Edge.transfer(name, said) for name, said in descriptions.items()]
    answers = [Agent(name, model=lambda call: say("done")) for name in descriptions]
    triage = Agent("triage", edges=edges, model=router)
    return Flow("desk", [triage, *answers], pool_tokens=500_000, max_handoffs=20)


def coverage(found: list[tuple[set[str], set[str]]]) -> str:
    """Return what share of the wanted agents was reached, and how often exactly these."""
    reached = sum(len(went & wanted) / len(wanted) for went, wanted in found) / len(found)
    exact = sum(went == wanted for went, wanted in found) / len(found)
    more = sum(bool(went - wanted) for went, wanted in found) / len(found)
    return f"{100 * reached:.1f} % reached, {100 * exact:.1f} % exactly, {100 * more:.1f} % others"


@pytest.mark.parametrize("router", ROUTERS)
def test_messages_with_two_requests_of_multidogo(router):
    turns: dict[str, list[tuple[str, set[str]]]] = {}
    names: dict[str, set[str]] = {}
    for row in rows("multidogo", "conversations.jsonl"):
        for turn in row["customer_turns"]:
            tasks = set(turn["task_intents"])
            names.setdefault(row["department"], set()).update(tasks)
            if len(tasks) > 1:
                turns.setdefault(row["department"], []).append((turn["text"], tasks))
    for name in (router, f"{router}-split"):
        found = []
        for department, asked in turns.items():
            flow = desk({task: spoken(task) for task in sorted(names[department])}, name)
            found += [(chosen(flow, text), wanted) for text, wanted in asked]
        print(f"\nmultidogo, {name}: {len(found)} messages, {coverage(found)}")


_WORDS = (
    "get seat info order pizza burger drink check balance bill change claim status report lost "
    "card stolen book ticket flight cancel view boarding pass dispute charge update address "
    "transfer money "
    "view replace service start stop expense software phone account open close file new policy "
    "proof insurance information quote internet tv reset password checking saving sign up number "
    "deal salad breakfast dinner side ice cream upgrade seat"
).split()


def spoken(task: str) -> str:
    """Return the name of a task, which is words written together, as words."""
    found, rest = [], task
    while rest:
        word = next((w for w in sorted(_WORDS, key=len, reverse=True) if rest.startswith(w)), "")
        found.append(word or rest)
        rest = rest[len(word) :] if word else ""
    return " ".join(found)


@pytest.mark.parametrize("router", ROUTERS)
def test_messages_with_two_modules_of_nlupp(router):
    root = Path(os.environ.get("HANDOFF_DATA", ""), "nlupp", "ontology.json")
    examples = [row for row in rows("nlupp", "examples.jsonl") if len(row["intents"]) == 2]
    intents = json.loads(root.read_text("utf-8"))["intents"]
    descriptions = {name: intents[name]["description"] for name in sorted(intents)}
    for name in (router, f"{router}-split"):
        flow = desk(descriptions, name)
        found = [(chosen(flow, row["text"]), set(row["intents"])) for row in examples]
        print(f"\nnlupp, {name}: {len(found)} messages, {coverage(found)}")


def test_payload_completeness_on_the_service_switches_of_sgd():
    """What goes along when a service is switched: the message's own values, or all known ones."""
    switches = [row for row in rows("sgd", "handoffs.jsonl") if row["required_slots"]]
    here = {"user_at_handoff"}
    known = here | {"carried_from_other_service", "carried_same_service", "possibly_carried"}
    for name, sources in (("the message alone", here), ("the message and what is known", known)):
        required = present = complete = 0
        for row in switches:
            events, body = switched(row, sources)
            found = routing_of(events, body=body)
            required, present = required + found.required, present + found.present
            complete += found.required == found.present
        print(
            f"\nsgd, {name}: {len(switches)} handoffs, {100 * present / required:.1f} % of "
            f"{required} required values, {100 * complete / len(switches):.1f} % complete"
        )


def switched(row, sources):
    """Run the handoff of one switch with the values of these sources; the others are empty."""
    names = row["required_slots"]
    values = {
        name: row["parameters"][name]["value"]
        if row["parameters"].get(name, {}).get("source") in sources
        else ""
        for name in names
    }
    payload = create_model("Values", **dict.fromkeys(names, (str, ...)))
    target = row["to_service"]
    flow = Flow(
        "switch",
        [
            Agent(
                "triage",
                edges=[Edge.transfer(target, "A service.", payload=payload)],
                model=lambda call: hand_over(target, "it is theirs", **values),
            ),
            Agent(target, model=lambda call: say("done")),
        ],
    )
    sink = EventList()
    asyncio.run(run(flow, row["utterance"] or "go on", sink=sink))
    return sink.events, sink.body
