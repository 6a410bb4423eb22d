"""What the routing pages can start, and the data sets that are here."""

import asyncio
import dataclasses
from contextlib import closing

import pytest

from handoff_console.console import comparisons
from handoff_console.console.commands import trial_running
from handoff_console.console.commands.comparing_versions import run
from handoff_console.console.commands.comparison_asked import Asked
from handoff_console.console.commands.datasets import read_dataset
from handoff_console.console.commands.errors import CommandError, InputRefused
from handoff_console.console.commands.trial_running import Stop
from handoff_console.store.analysis.comparison.cases import RouteCase
from handoff_console.store.analysis.comparison.trials import TrialStatus
from handoff_console.store.db import open_reader, open_store
from handoff_console.store.experiment_forms import Outcome
from handoff_console.store.experiments import experiment_progress, load_experiment

LINES = b'{"flow": "servicedesk"}\n{"id": "c1", "input": "My bill", "expected": ["billing"]}\n'


@pytest.fixture(autouse=True)
def store(tmp_path, monkeypatch):
    path = tmp_path / "handoff.db"
    open_store(path, create=True).close()
    monkeypatch.setenv("HANDOFF_DB", str(path))
    return path


def test_a_file_that_somebody_brings_becomes_a_data_set_beside_the_store(tmp_path):
    assert comparisons.save_data_set("mine.jsonl", LINES) == "mine"

    assert comparisons.data_sets()["mine"] == str(tmp_path / "datasets" / "mine.jsonl")
    assert comparisons.data_sets()["servicedesk"] == "servicedesk"
    assert read_dataset(comparisons.data_sets()["mine"]).flow == "servicedesk"


@pytest.mark.parametrize(
    ("name", "content", "error", "says"),
    [
        ("../evil.jsonl", b"nothing", InputRefused, "evil"),
        ("a b.jsonl", LINES, CommandError, "cannot be the name of a data set"),
        ("mine.exe", LINES, CommandError, "is no data set"),
        ("servicedesk.jsonl", LINES, CommandError, "There is a data set 'servicedesk' already"),
        ("mine.csv", b"\xff\xfe", InputRefused, "UTF-8"),
    ],
)
def test_what_cannot_be_a_data_set_is_not_kept(tmp_path, name, content, error, says):
    with pytest.raises(error, match=says):
        comparisons.save_data_set(name, content)

    assert not list(tmp_path.rglob("*.jsonl"))
    assert not list(tmp_path.rglob("*.csv"))


def test_a_case_is_added_once_to_a_data_set_that_names_its_flow():
    case = RouteCase("s-1", "My bill", ("billing",), source="s-1")

    assert comparisons.add_case("mine", "servicedesk", case)
    assert not comparisons.add_case("mine", "servicedesk", case)
    assert comparisons.add_case("mine", "servicedesk", RouteCase("s-2", "Hi", ("orders",)))

    kept = read_dataset(comparisons.data_sets()["mine"])
    assert (kept.flow, [case.case_id for case in kept.cases]) == ("servicedesk", ["s-1", "s-2"])


def test_a_case_is_added_on_a_line_of_its_own_to_a_file_that_ends_without_one():
    comparisons.save_data_set("mine.jsonl", LINES.removesuffix(b"\n"))

    assert comparisons.add_case("mine", "servicedesk", RouteCase("s-1", "Hi", ("orders",)))

    kept = read_dataset(comparisons.data_sets()["mine"])
    assert [case.case_id for case in kept.cases] == ["c1", "s-1"]


def test_a_folder_that_takes_no_files_is_a_sentence(tmp_path):
    (tmp_path / "datasets").write_text("in the way")

    with pytest.raises(CommandError, match=r"'mine' cannot be written to .*datasets"):
        comparisons.add_case("mine", "servicedesk", RouteCase("s-1", "Hi", ("orders",)))
    with pytest.raises(CommandError, match=r"'mine' cannot be written to .*datasets"):
        comparisons.save_data_set("mine.jsonl", LINES)


def test_a_data_set_that_came_with_the_product_is_not_added_to():
    with pytest.raises(CommandError, match="is not added to"):
        comparisons.add_case("servicedesk", "servicedesk", RouteCase("s-1", "Hi", ("orders",)))


def test_a_comparison_runs_in_the_background_and_says_how_far_it_is_in_the_store(store):
    comparisons.save_data_set("mine.jsonl", LINES)
    asked = Asked(("v2", "v3"), comparisons.data_sets()["mine"])
    assert comparisons.planned(asked).calls == 2

    experiment_id = comparisons.start(asked)

    job = comparisons.comparison_job(experiment_id)
    while not job.is_over:
        pass
    assert job.problem == ""
    with closing(open_reader(store)) as db:
        assert experiment_progress(db, experiment_id)[:2] == (2, 2)
    assert comparisons.planned(asked).calls == 0


@pytest.mark.parametrize("fresh", [True, False])
def test_a_stopped_comparison_goes_on_with_its_own_trials(store, fresh):
    asked = Asked(("v2", "v3"), "servicedesk", jobs=1)
    run(store, asked)
    stop = Stop()
    stopped = run(
        store,
        dataclasses.replace(asked, fresh=fresh, sides=("v2", "v4")),
        tell=lambda done: stop.stop() if done.done == 3 else None,
        stop=stop,
    )

    went_on = run(store, dataclasses.replace(asked, sides=("v2", "v4")))

    assert went_on.experiment_id == stopped.experiment_id
    assert went_on.progress.done == (480 if fresh else 240) - 3
    with closing(open_reader(store)) as db:
        found = load_experiment(db, stopped.experiment_id)
    trials = [trial.status for own in found.trials.values() for trial in own]
    assert trials == [TrialStatus.DONE] * 480


def test_a_stopped_comparison_of_another_flow_is_not_gone_on_with(store, tmp_path):
    comparisons.save_data_set("mine.jsonl", LINES)
    asked = Asked(("v2", "v3"), str(tmp_path / "datasets" / "mine.jsonl"), mode="full", jobs=1)
    stop = Stop()
    stop.stop()
    stopped = run(store, asked, stop=stop)
    with closing(open_store(store)) as db, db:
        db.execute("update experiment_trials set trial_key = 'of another pool ' || version")

    again = run(store, asked)

    assert again.experiment_id != stopped.experiment_id
    with closing(open_reader(store)) as db:
        assert experiment_progress(db, again.experiment_id)[:2] == (2, 2)
        assert not experiment_progress(db, stopped.experiment_id).finished


def test_trials_side_by_side_wait_for_the_part_of_the_budget_that_others_give_back(
    store, monkeypatch
):
    async def decide(*_):
        await asyncio.sleep(0)
        return Outcome(agents=("billing",), tokens=10)

    monkeypatch.setattr(trial_running, "decide", decide)
    monkeypatch.setattr(trial_running, "worst_case_tokens", lambda *_: 600)
    asked = Asked(("v2", "v3"), "servicedesk", jobs=4, max_tokens=1_000)

    done = run(store, asked)

    assert (done.stopped.why, done.progress.done, done.progress.tokens) == ("cap", 41, 410)


def test_what_cannot_be_compared_is_said_before_anything_is_written():
    with pytest.raises(CommandError, match="has no prompt version 'v9'"):
        comparisons.start(Asked(("v2", "v9"), "servicedesk"))

    assert comparisons.comparison_job("nothing") is None
