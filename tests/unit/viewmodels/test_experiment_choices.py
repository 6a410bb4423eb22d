"""Experiments as the choices of a list."""

from handoff_console.console.viewmodels.experiments import choice_words
from handoff_console.store.analysis.comparison.trials import DatasetRef
from handoff_console.store.experiments import ExperimentLine

NOON = 1_796_040_000.0
"""2026-11-30, 12:00 UTC."""


def line(name: str, created_at: float, labels: tuple[str, ...] = ("v2", "v3")) -> ExperimentLine:
    dataset = DatasetRef("servicedesk", "a0bacbff", 240, "servicedesk.jsonl")
    models = ("offline:bm25",) * len(labels)
    return ExperimentLine(
        name, "servicedesk", dataset, "route", labels, models, created_at, created_at + 1
    )


def test_two_of_the_same_minute_are_told_apart_and_others_stay_short():
    words = choice_words(
        [line("e-three", NOON + 2), line("e-two", NOON), line("e-one", NOON, ("v1", "v2"))]
    )

    same = "v2, v3 · servicedesk, 240 cases · 2026-11-30 12:00 · offline:bm25"
    assert words == {
        "e-three": f"{same} · e-three",
        "e-two": f"{same} · e-two",
        "e-one": same.replace("v2, v3", "v1, v2"),
    }
