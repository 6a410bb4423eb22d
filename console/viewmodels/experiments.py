"""Experiments as lines of a list, and how far one has come, in words."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from handoff_console.console.commands.comparison_plans import Plan
from handoff_console.console.viewmodels.header import moment
from handoff_console.console.viewmodels.text import amount, count, one_line, seconds
from handoff_console.store.experiments import ExperimentLine, ExperimentProgress


@dataclass(frozen=True, slots=True)
class ProgressView:
    """How far an experiment has come."""

    share: float
    """0 to 1, of its trials."""
    sentence: str
    is_over: bool


def experiment_words(line: ExperimentLine) -> str:
    """Return an experiment as a list says it: `v2, v3 · servicedesk, 240 cases · 2026-11-30 …`."""
    labels = ", ".join(one_line(label, 30) for label in line.labels)
    models = ", ".join(dict.fromkeys(one_line(model, 40) for model in line.models))
    parts = [
        labels,
        f"{one_line(line.dataset.name, 40)}, {count(line.dataset.cases, 'case')}",
        moment(line.created_at)[:16],
        *(["whole sessions"] if line.mode == "full" else []),
        models,
        *([] if line.finished_at else ["not finished"]),
    ]
    return " · ".join(parts)


def choice_words(lines: Sequence[ExperimentLine]) -> dict[str, str]:
    """Return experiments as the choices of a list, by id, no two alike.

    A page learns from its browser what was chosen by how it is written, so of two that are written
    alike the other one would be shown.
    """
    words = {line.experiment_id: experiment_words(line) for line in lines}
    times = Counter(words.values())
    return {
        name: f"{said} · {one_line(name, 60)}" if times[said] > 1 else said
        for name, said in words.items()
    }


def progress_view(found: ExperimentProgress, ran_seconds: float | None = None) -> ProgressView:
    """Return how far an experiment has come.

    Args:
        found: Its trials by what became of them.
        ran_seconds: How long it has been at it, for the time that is left; None leaves that out.
    """
    tried = found.done + found.errors
    share = tried / found.total if found.total else 1.0
    parts = [f"{amount(found.done)} of {count(found.total, 'trial')} done"]
    if found.reused:
        parts.append(f"{amount(found.reused)} of them from earlier")
    if found.errors:
        parts.append(f"{count(found.errors, 'error')}")
    parts.append(f"{count(found.tokens, 'token')}")
    own = tried - found.reused
    if ran_seconds and own > 0 and not found.finished:
        parts.append(f"about {seconds(ran_seconds * found.left / own)} left")
    return ProgressView(share, " · ".join(parts), found.finished)


def elsewhere_words(line: ExperimentLine, now: ExperimentProgress) -> str:
    """Return that there is a new experiment, and how far it is: `New: v2, v3 on servicedesk …`."""
    labels = ", ".join(one_line(label, 30) for label in line.labels)
    said = f"A new comparison: {labels} on {one_line(line.dataset.name, 40)}"
    return f"{said}." if now.finished else f"{said}; {progress_view(now).sentence}."


def plan_words(plan: Plan) -> str:
    """Return what a comparison takes, before anything is spent.

    `240 cases × 2 versions: 480 trials to run, none on record. At most 41,000 tokens …`
    """
    cases, sides = len(plan.experiment.cases), len(plan.by_side)
    reused = sum(one.reused for one in plan.by_side)
    on_record = f"{amount(reused)} on record already" if reused else "none on record yet"
    said = f"{count(cases, 'case')} × {sides} versions: "
    if not plan.calls:
        return f"{said}everything is on record; nothing has to be run."
    said += f"{count(plan.calls, 'trial')} to run, {on_record}."
    if all(version.offline for version in plan.experiment.versions) and (
        plan.experiment.mode == "route"
    ):
        return f"{said} The router is offline: it costs nothing and takes seconds."
    return f"{said} At most {count(plan.reserved_tokens, 'token')} will be used."
