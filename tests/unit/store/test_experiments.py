"""The ledgers of experiments, trials, baselines and labels."""

import dataclasses
from contextlib import closing

import pytest
from support import event_logs
from support.experiments import case, experiment

from handoff_console.store.analysis.comparison.trials import AgentScore, SessionFigures
from handoff_console.store.baselines import baseline_of, set_baseline
from handoff_console.store.db import open_store
from handoff_console.store.errors import ExperimentUnknown, SessionUnknown
from handoff_console.store.experiment_forms import (
    Outcome,
    case_fields,
    dataset_digest,
    outcome_text,
    read_case,
    read_outcome,
    trial_of,
)
from handoff_console.store.experiment_writing import (
    TrialRef,
    begin_experiment,
    finish_experiment,
    unfinished_like,
)
from handoff_console.store.experiments import (
    experiment_progress,
    experiments,
    last_change_us,
    load_experiment,
    resolve_experiment,
)
from handoff_console.store.labels import (
    Label,
    case_labels,
    labels,
    remove_case_label,
    remove_label,
    set_case_label,
    set_label,
)
from handoff_console.store.maintenance import delete_sessions
from handoff_console.store.trials import begin_trial, end_trial, known_trials
from handoff_console.store.writer import open_sink

WENT = {"v1": ["a", "b", "a"], "v2": ["a", "a", "b"]}


@pytest.fixture
def db(tmp_path):
    with closing(open_store(tmp_path / "handoff.db", create=True)) as db:
        yield db


def begun(db, name="20260101-000000-aaaa", *, keys="k", reused=False):
    """Write an experiment of two versions and three cases down; its trials are k0 to k5."""
    made = dataclasses.replace(experiment(["a", "a", "b"], WENT), experiment_id=name)
    refs = [
        TrialRef(version, place, 1, f"{keys}{version * 3 + place}", reused)
        for version in range(2)
        for place in range(3)
    ]
    begin_experiment(db, made, refs)
    return made


def test_an_experiment_comes_back_as_it_was(db):
    made = begun(db)
    for number, agent in enumerate("abaaab"):
        begin_trial(db, f"k{number}", 100)
        end_trial(db, f"k{number}", Outcome(agents=(agent,), tokens=10))
    finish_experiment(db, made.experiment_id)

    found = load_experiment(db, made.experiment_id)

    assert (found.cases, found.versions, found.mode) == (made.cases, made.versions, "route")
    assert [t.agents for t in found.trials["v1"]] == [("a",), ("b",), ("a",)]
    assert [t.right for t in found.trials["v2"]] == [True, True, True]
    assert found.finished_at is not None


def test_what_did_not_run_is_missing_and_what_failed_is_an_error(db):
    begun(db)
    begin_trial(db, "k0", 100)
    end_trial(db, "k0", Outcome(agents=("a",)))
    begin_trial(db, "k1", 100)
    end_trial(db, "k1", Outcome(problem="the server is down"))
    begin_trial(db, "k2", 100)

    found = load_experiment(db, "20260101-000000-aaaa")

    assert [t.status.value for t in found.trials["v1"]] == ["done", "error", "missing"]
    assert found.trials["v1"][1].problem == "the server is down"
    progress = experiment_progress(db, "20260101-000000-aaaa")
    assert (progress.total, progress.done, progress.errors, progress.running) == (6, 1, 1, 1)
    assert (progress.left, progress.finished) == (4, False)


def test_experiments_share_their_trials(db):
    begun(db)
    begin_trial(db, "k0", 100)
    end_trial(db, "k0", Outcome(agents=("a",), tokens=7))
    begun(db, "20260102-000000-bbbb", reused=True)

    progress = experiment_progress(db, "20260102-000000-bbbb")

    assert (progress.done, progress.reused, progress.tokens) == (1, 1, 0)
    assert load_experiment(db, "20260102-000000-bbbb").trials["v1"][0].reused
    assert [line.experiment_id[-4:] for line in experiments(db)] == ["bbbb", "aaaa"]


def test_a_label_that_is_mended_judges_old_trials_anew():
    of = case(0, "a")

    assert trial_of(of, 1, "done", Outcome(agents=("b",))).right is False
    assert trial_of(case(0, "b"), 1, "done", Outcome(agents=("b",))).right is True
    assert trial_of(of, 1, "done", Outcome(knows=False)).decided == "abstain"


def test_a_trial_that_is_run_again_forgets_what_it_came_to(db):
    begin_trial(db, "k", 100)
    end_trial(db, "k", Outcome(problem="down"))
    begin_trial(db, "k", 200)

    assert known_trials(db, ["k", "other"]) == {"k": ("started", Outcome())}


@pytest.mark.parametrize(
    "outcome",
    [
        Outcome(),
        Outcome(
            agents=("a", "b"),
            scores=(AgentScore("a", 1.5, ("parcel", "late")), AgentScore("b", 0.0)),
            tokens=12,
            tokens_estimated=True,
            seconds=0.25,
            tries=2,
        ),
        Outcome(invalid=True, agents=("x",), knows=False, announced=True, problem="no"),
        Outcome(
            session_id="s",
            figures=SessionFigures(True, 2, 1, 0, None, 30, (0.5, 1.0), True, "a", "ok"),
        ),
    ],
)
def test_an_outcome_reads_back_as_it_was_written(outcome):
    assert read_outcome(outcome_text(outcome)) == outcome


def test_a_case_reads_back_as_it_was_written():
    whole = dataclasses.replace(
        case(1, "a + b", critical=True, group="g"), tags=("x",), state={"k": [1]}, note="n"
    )

    assert read_case(case_fields(whole)) == whole
    assert case_fields(case(1, "a")) == {"id": "c1", "input": "request 1", "expected": ["a"]}


def test_cases_in_another_order_are_the_same_data_set():
    one, other = case(1, "a"), case(2, "b")

    assert dataset_digest([one, other]) == dataset_digest([other, one])
    assert dataset_digest([one]) != dataset_digest([one, other])


def test_only_a_stopped_experiment_of_the_same_content_is_gone_on_with(db):
    made = begun(db)

    keys = ("k0", "k1", "k2", "k3", "k4", "k5")
    assert [*unfinished_like(db, made)] == [(made.experiment_id, made.created_at, keys)]
    assert not [*unfinished_like(db, dataclasses.replace(made, mode="full"))]
    assert not [*unfinished_like(db, dataclasses.replace(made, cases=made.cases[:2]))]
    assert not [*unfinished_like(db, dataclasses.replace(made, versions=made.versions[::-1]))]
    finish_experiment(db, made.experiment_id)
    assert not [*unfinished_like(db, made)]


def test_a_copy_of_a_data_set_has_its_own_name_and_its_own_baseline(db):
    for name, path in (("e-1", "/cases/desk.jsonl"), ("e-2", "/cases/renamed.jsonl")):
        made = dataclasses.replace(experiment(["a", "a", "b"], WENT), experiment_id=name)
        ref = dataclasses.replace(made.dataset, name=path[7:-6], path=path)
        begin_experiment(db, dataclasses.replace(made, dataset=ref), [])
    set_baseline(db, "e-2", "v1")

    assert [line.dataset.name for line in experiments(db)] == ["renamed", "desk"]
    assert baseline_of(db, "desk", "renamed") == ("e-2", "v1")
    assert baseline_of(db, "desk", "desk") is None


def test_tokens_of_a_trial_that_two_versions_share_count_once(db):
    made = dataclasses.replace(experiment(["a"], {"v1": ["a"], "v2": ["a"]}), experiment_id="e-1")
    begin_experiment(db, made, [TrialRef(version, 0, 1, "k", False) for version in range(2)])
    begin_trial(db, "k", 100)
    end_trial(db, "k", Outcome(agents=("a",), tokens=40))

    assert experiment_progress(db, "e-1").tokens == 40


def test_the_same_cases_in_another_order_keep_their_own_trials(db):
    begun(db)
    backwards = dataclasses.replace(experiment(["a", "a", "b"], WENT), experiment_id="other")
    backwards = dataclasses.replace(backwards, cases=backwards.cases[::-1])
    refs = [TrialRef(0, place, 1, f"t{place}", False) for place in range(3)]
    begin_experiment(db, backwards, refs)
    for place, agent in enumerate("baa"):
        begin_trial(db, f"t{place}", 100)
        end_trial(db, f"t{place}", Outcome(agents=(agent,)))

    found = load_experiment(db, "other")

    assert [(t.case_id, t.agents, t.right) for t in found.trials["v1"]] == [
        ("c0", ("a",), True),
        ("c1", ("a",), True),
        ("c2", ("b",), True),
    ]


def test_an_experiment_is_named_by_the_beginning_or_end_of_its_id(db):
    with pytest.raises(ExperimentUnknown, match="no experiment in this store yet"):
        resolve_experiment(db, "")
    begun(db)
    begun(db, "20260102-000000-bbbb", keys="n")

    assert resolve_experiment(db, "") == "20260102-000000-bbbb"
    assert resolve_experiment(db, "aaaa") == "20260101-000000-aaaa"
    with pytest.raises(ExperimentUnknown, match="'2026' may be any of"):
        resolve_experiment(db, "2026")
    with pytest.raises(ExperimentUnknown, match="no experiment 'xyz'"):
        load_experiment(db, "xyz")


def test_a_baseline_holds_for_its_flow_and_data_set(db):
    begun(db)

    line = set_baseline(db, "20260101-000000-aaaa", "v2")

    assert baseline_of(db, line.flow, line.dataset.name) == ("20260101-000000-aaaa", "v2")
    assert baseline_of(db, line.flow, "other") is None
    with pytest.raises(ExperimentUnknown, match="v9"):
        set_baseline(db, "20260101-000000-aaaa", "v9")


def test_a_second_word_of_the_same_person_replaces_the_first(tmp_path):
    with open_sink(tmp_path / "handoff.db", create=True) as sink:
        event_logs.write(sink, "s-1", event_logs.charged_twice())
        for who, label in (("ana", "billing"), ("ben", "orders"), ("ana", "account")):
            set_label(sink.db, "s-1", who, label)

        assert [(one.labeller, one.label) for one in labels(sink.db)] == [
            ("ben", "orders"),
            ("ana", "account"),
        ]
        assert isinstance(labels(sink.db)[0], Label)
        remove_label(sink.db, "s-1", "ben")
        assert len(labels(sink.db)) == 1
        with pytest.raises(SessionUnknown):
            set_label(sink.db, "s-2", "ana", "billing")


def test_labels_go_with_their_session(tmp_path):
    with open_sink(tmp_path / "handoff.db", create=True) as sink:
        event_logs.write(sink, "s-1", event_logs.charged_twice())
        set_label(sink.db, "s-1", "ana", "billing")
        delete_sessions(sink.db, ["s-1"])

        assert labels(sink.db) == []
        assert sink.db.execute("select count(*) from labels").fetchone() == (0,)


def test_an_experiment_is_read_anew_only_when_one_of_its_own_trials_ended(db):
    begun(db)
    begun(db, "20260101-000001-bbbb", keys="other")
    begin_trial(db, "k0", 10)
    end_trial(db, "k0", Outcome(agents=("a",)))
    finish_experiment(db, "20260101-000000-aaaa")
    before = last_change_us(db, "20260101-000000-aaaa")

    begin_trial(db, "other0", 10)
    end_trial(db, "other0", Outcome(agents=("a",)))

    assert last_change_us(db, "20260101-000000-aaaa") == before
    assert last_change_us(db, "20260101-000001-bbbb") > before

    begin_trial(db, "k0", 10)
    end_trial(db, "k0", Outcome(agents=("b",)))

    assert last_change_us(db, "20260101-000000-aaaa") > before
    with pytest.raises(ExperimentUnknown):
        last_change_us(db, "none")


def test_a_case_is_labelled_once_by_each_person_and_apart_from_sessions(db):
    set_case_label(db, "mine", "c1", "ada", "billing")
    set_case_label(db, "mine", "c1", "ada", "orders")
    set_case_label(db, "mine", "c1", "bob", "billing")
    set_case_label(db, "other", "c1", "ada", "abstain")
    remove_case_label(db, "mine", "c1", "bob")
    remove_case_label(db, "mine", "c2", "bob")

    assert [it[:3] for it in case_labels(db, "mine")] == [("c1", "ada", "orders")]
    assert [it[:3] for it in case_labels(db, "other")] == [("c1", "ada", "abstain")]
    assert labels(db) == []
