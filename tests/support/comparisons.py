"""A small experiment, case by case known: two versions over the agents of a support desk."""

from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path

from handoff_console.store.analysis.comparison.cases import Expect, RouteCase
from handoff_console.store.analysis.comparison.trials import (
    AgentScore,
    AgentText,
    DatasetRef,
    Decided,
    Experiment,
    SessionFigures,
    Trial,
    TrialStatus,
    Version,
)
from handoff_console.store.db import open_store
from handoff_console.store.experiment_forms import Outcome, outcome_text
from handoff_console.store.experiment_writing import TrialRef, begin_experiment, finish_experiment
from handoff_console.store.transactions import transaction

EVIL = "<script>window.hacked = true</script>![a](http://192.0.2.1/p.png) **b** %{y} \u202egnp"

V2 = {
    "triage": AgentText("", instructions="Hand the request to the right agent.", threshold=0.5),
    "billing": AgentText("Charges, payments and invoices", ("Why was I charged twice?",)),
    "orders": AgentText("Parcels, deliveries and returns"),
    "tech": AgentText("Anything that does not work"),
}
V3 = {
    **V2,
    "billing": AgentText("Charges, refunds and invoices", ("Why was I charged twice?",)),
    "orders": AgentText("Parcels, deliveries and returns of goods, and where they are"),
}

CASES = (
    RouteCase("c1", "Why was I charged twice?", ("billing",), tags=("charges",), critical=True),
    RouteCase("c2", "Where is my parcel?", ("orders",), tags=("delivery",)),
    RouteCase("c3", "The app crashes", ("tech",)),
    RouteCase("c4", "I want my money back for the boots", ("billing", "orders"), tags=("refund",)),
    RouteCase("c5", "What is the capital of France?", expect=Expect.ABSTAIN),
    RouteCase("c6", "My parcel is late and I was charged", expected_all=("orders", "billing")),
    RouteCase("c7", "My invoice is wrong", ("billing",), group="invoice"),
    RouteCase("c8", EVIL, ("tech",), tags=(EVIL,), note=EVIL, source="s-failed"),
)
A_DECISIONS = ("billing", "tech", "tech", "tech", "abstain", "orders", "billing", "orders")
B_DECISIONS = ("orders", "orders", "tech", "orders", "abstain", "orders+billing", "tech", "orders")


def version(label: str, agents: Mapping[str, AgentText], **changes: object) -> Version:
    """Return a version as an experiment keeps it."""
    made = Version(
        label=label,
        version_hash=f"version-of-{label}",
        routing_hash=f"routing-of-{label}",
        agents=agents,
        model="offline:bm25",
        offline=True,
        flow="desk",
    )
    return replace(made, **changes)


def trial(case: RouteCase, decision: str, *, number: int = 1, **changes: object) -> Trial:
    """Return a trial: `billing`, `a+b`, `abstain`, `?` (failed) or `` (did not run)."""
    if not decision or decision == "?":
        status = TrialStatus.ERROR if decision else TrialStatus.MISSING
        return Trial(case.case_id, number, status, problem="The model could not be asked.")
    stayed = {one.value: one for one in Decided if one is not Decided.AGENTS}
    agents = () if decision in stayed else tuple(decision.split("+"))
    decided = stayed.get(decision, Decided.AGENTS)
    right = agents in {tuple(case.expected_all), *((name,) for name in case.expected)} and (
        bool(agents)
    )
    if case.expect is not Expect.ROUTE:
        right = decided.value == case.expect.value
    scores = (AgentScore(agents[0], 2.5, ("charged",)), AgentScore("tech", 1.0)) if agents else ()
    made = Trial(
        case.case_id, number, TrialStatus.DONE, decided, agents, right, scores, tokens=40,
        tokens_estimated=True, seconds=0.002, ran_at=1_796_000_000.0,
    )  # fmt: skip
    return replace(made, **changes)


def experiment(
    a: Sequence[str] = A_DECISIONS,
    b: Sequence[str] = B_DECISIONS,
    *,
    cases: Sequence[RouteCase] = CASES,
    mode: str = "route",
    **changes: object,
) -> Experiment:
    """Return the experiment: a decision a case on each side."""
    versions = (version("v2", V2), version("v3", V3))
    trials = {
        label: tuple(trial(case, said) for case, said in zip(cases, decisions, strict=True))
        for label, decisions in (("v2", a), ("v3", b))
    }
    if mode == "full":
        trials = {
            label: tuple(
                replace(it, session_id=f"s-{label}-{it.case_id}", figures=figures(it)) for it in of
            )
            for label, of in trials.items()
        }
    made = Experiment(
        experiment_id="01kc-desk",
        flow="desk",
        flow_source="desk",
        dataset=DatasetRef("desk", "0123456789abcdef", len(cases)),
        mode=mode,
        trials_each=1,
        versions=versions,
        cases=tuple(cases),
        trials=trials,
        created_at=1_796_000_000.0,
        finished_at=1_796_000_009.0,
    )
    return replace(made, **changes)


def figures(it: Trial) -> SessionFigures:
    """Return what a whole session of a trial came to."""
    right = bool(it.right)
    return SessionFigures(
        first_pass=right,
        handoffs=1 if right else 2,
        depth=1,
        corrective=0 if right else 1,
        completeness=1.0 if right else 0.5,
        misroute_tokens=0 if right else 30,
        transition_seconds=(0.5,) if right else (0.5, 0.7),
        final_agent=it.agents[0] if it.agents else "",
        outcome="ok",
    )


def record_experiment(path: Path, made: Experiment) -> str:
    """Write an experiment with its trials into a store, and return its id."""
    refs, outcomes = [], {}
    places = {case.case_id: place for place, case in enumerate(made.cases)}
    for number, version_of in enumerate(made.versions):
        for it in made.trials[version_of.label]:
            key = f"{made.experiment_id}/{version_of.label}/{it.case_id}/{it.number}"
            refs.append(TrialRef(number, places[it.case_id], it.number, key, it.reused))
            if it.status is not TrialStatus.MISSING:
                outcomes[key] = outcome_of(it)
    with closing(open_store(path, create=True)) as db:
        begin_experiment(db, made, refs)
        with transaction(db):
            db.executemany(
                "insert into trials values (?, ?, 0, ?, 0, 0)",
                (
                    (key, "error" if it.problem else "done", outcome_text(it))
                    for key, it in outcomes.items()
                ),
            )
        if made.finished_at is not None:
            finish_experiment(db, made.experiment_id)
    return made.experiment_id


def outcome_of(it: Trial) -> Outcome:
    """Return what a trial came to, as the store keeps it."""
    return Outcome(
        agents=it.agents,
        invalid=it.decided is Decided.INVALID,
        knows=it.decided is not Decided.ABSTAIN,
        announced=it.decided is Decided.VERBAL,
        scores=it.scores,
        tokens=it.tokens,
        tokens_estimated=it.tokens_estimated,
        seconds=it.seconds,
        tries=it.tries,
        session_id=it.session_id,
        problem=it.problem if it.status is TrialStatus.ERROR else "",
        figures=it.figures,
    )


def large_experiment(cases: int, labels: Sequence[str] = ("v1", "v2", "v3")) -> Experiment:
    """Return an experiment of many cases over ten agents; every version is right more often."""
    agents = [f"agent{number}" for number in range(10)]
    texts = {
        name: AgentText(f"What {name} is for: subject {place}") for place, name in enumerate(agents)
    }
    made = tuple(
        RouteCase(
            f"case-{n}",
            f"Request {n} about subject {n % 10}, in some more words",
            (agents[n % 10],),
        )
        for n in range(cases)
    )
    trials = {}
    for place, label in enumerate(labels):
        wrong = 3 + place  # one in three, in four, in five is wrong
        trials[label] = tuple(
            trial(case, agents[(n + (n * 7 + place) % 9 * (n % wrong == 0)) % 10])
            for n, case in enumerate(made)
        )
    versions = tuple(version(label, texts, routing_hash=f"r-{label}") for label in labels)
    return Experiment(
        experiment_id="01kc-large",
        flow="desk",
        flow_source="desk",
        dataset=DatasetRef("large", "fedcba9876543210", cases),
        mode="route",
        trials_each=1,
        versions=versions,
        cases=made,
        trials=trials,
        created_at=1_796_000_100.0,
        finished_at=1_796_000_200.0,
    )
