import dataclasses
import shutil
from pathlib import Path

import pytest

from handoff_console import sample_runs
from handoff_console.console.commands.changed_versions import with_changes_marked
from handoff_console.console.commands.comparing_versions import run
from handoff_console.console.commands.comparison_asked import Asked
from handoff_console.console.commands.flows import load_flow
from handoff_console.store.analysis.comparison.compare import comparisons
from handoff_console.store.db import open_reader
from handoff_console.store.experiments import load_experiment

VERSIONS = Path(sample_runs.__file__).parent / "prompts" / "servicedesk"


@pytest.fixture
def compared(tmp_path):
    """Compare v2 with a version that was saved beside the store."""
    saved = tmp_path / "prompts" / "servicedesk" / "mine"
    shutil.copytree(VERSIONS / "v3", saved)
    (tmp_path / "one.jsonl").write_text(
        '{"flow": "servicedesk"}\n{"input": "where is it", "expected": ["orders"]}\n'
    )
    store = tmp_path / "handoff.db"
    done = run(store, Asked(("v2", "mine"), str(tmp_path / "one.jsonl")))
    db = open_reader(store)
    (found,) = comparisons(load_experiment(db, done.experiment_id))
    db.close()
    return store, saved, found


def test_labels_with_the_same_text_are_not_marked(compared):
    store, _, found = compared

    assert with_changes_marked(found, load_flow("servicedesk"), store) == found


def test_a_label_with_another_text_is_marked_and_said(compared):
    store, saved, found = compared
    (saved / "orders.md").write_text("---\nhandoff_description: Parcels.\n---\n")

    marked = with_changes_marked(found, load_flow("servicedesk"), store)

    assert (marked.a.changed_since, marked.b.changed_since) == (False, True)
    assert marked.warnings[-1].startswith("mine has been changed since")
    assert dataclasses.replace(marked.b, changed_since=False) == found.b


def test_a_label_that_is_gone_is_marked_as_well(compared):
    store, saved, found = compared
    shutil.rmtree(saved)

    marked = with_changes_marked(found, load_flow("servicedesk"), store)

    assert marked.b.changed_since
    assert marked.warnings[-1] == (
        "mine is not among the versions of its flow now; what stands here is of the text that ran."
    )


def test_a_label_that_is_there_and_cannot_be_read_is_told_as_that(compared):
    store, saved, found = compared
    (saved / "orders.md").write_text("---\nthreshold: high\n---\n")

    marked = with_changes_marked(found, load_flow("servicedesk"), store)

    assert (marked.a.changed_since, marked.b.changed_since) == (False, True)
    assert marked.warnings[-1] == (
        "mine cannot be loaded now; what stands here is of the text that ran."
    )
