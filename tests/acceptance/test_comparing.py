"""Comparing prompt versions from the shell, as product staff and a build server do."""

import json
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
from contextlib import closing
from xml.etree import ElementTree

import pytest
from support.command import program

from handoff_console.console.cli import serving
from handoff_console.store.db import open_reader
from handoff_console.store.experiments import experiments, load_experiment

pytestmark = pytest.mark.acceptance

COMPARE = ("compare", "v2", "v4", "--dataset", "servicedesk")
GOLDEN = {"v1": 54, "v2": 114, "v3": 126, "v4": 102}
"""Cases of 240 that `offline:bm25` gets right: a change of its words or rules shows here."""


@pytest.fixture(scope="module")
def compared(tmp_path_factory):
    """Return a store in which all four versions have run."""
    store = tmp_path_factory.mktemp("compared") / "handoff.db"
    words = ("compare", "v1", "v2", "v3", "v4", "--dataset", "servicedesk", "--db", str(store))
    assert program(store.parent, *words).status == 0
    return store


@pytest.fixture
def on_record(compared, folder):
    """Put a store in place in which all four versions have run."""
    shutil.copyfile(compared, folder / "handoff.db")


def right_by_label(store) -> dict[str, int]:
    with closing(open_reader(store)) as db:
        found = load_experiment(db, experiments(db)[0].experiment_id)
    return {label: sum(bool(t.right) for t in trials) for label, trials in found.trials.items()}


def trial_rows(store) -> list[tuple[str, str, str]]:
    """Everything about trials that may not depend on when they ran."""
    with closing(sqlite3.connect(store)) as db:
        rows = db.execute("select trial_key, state, outcome from trials order by trial_key")
        return [
            (key, state, json.dumps({k: v for k, v in json.loads(o).items() if k != "seconds"}))
            for key, state, o in rows
        ]


def test_the_router_gets_exactly_so_many_of_the_bundled_cases_right(compared):
    assert right_by_label(compared) == GOLDEN


@pytest.mark.usefixtures("on_record")
def test_the_worse_version_fails_with_1_and_says_why(handoff):  # R84
    done = handoff(*COMPARE)

    assert done.status == 1
    assert done.out.startswith("▼ Worse\nThe agents are harder to tell apart by v4 than by v2: ")
    assert "exact p = 0.0042" in done.out
    assert "Regressed: 14" in done.out
    assert "Not a language model" in done.out


@pytest.mark.usefixtures("on_record")
def test_a_better_version_passes(handoff):
    done = handoff("compare", "v1", "v3", "--dataset", "servicedesk")

    assert (done.status, done.out.split("\n")[0]) == (0, "▲ Better")


def test_what_is_on_record_does_not_run_again(handoff):
    first, again = handoff(*COMPARE), handoff(*COMPARE)
    wider = handoff("compare", "v2", "v4", "v3", "--dataset", "servicedesk")

    assert "480 trials run" in first.err
    assert "0 trials run; 480 from the record" in again.err
    assert "See it: handoff compare v2 v4 --dataset servicedesk --open" in again.err
    assert again.out == first.out
    assert "240 trials run" in wider.err
    assert "480 from the record" in wider.err


def test_the_same_text_under_another_name_runs_nothing_and_is_invisible(handoff, folder):
    from handoff_console import sample_runs

    source = os.path.join(os.path.dirname(sample_runs.__file__), "prompts", "servicedesk")
    shutil.copytree(os.path.join(source, "v2"), folder / "p" / "one")
    shutil.copytree(os.path.join(source, "v2"), folder / "p" / "two")
    for path in (folder / "p" / "two").glob("*.md"):
        path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))

    done = handoff(
        "compare", "one", "two", "--dataset", "servicedesk", "--prompts-dir", "p", "--strict"
    )

    assert "240 trials run" in done.err
    assert "invisible to the offline model" in " ".join(done.out.split())
    assert done.status == 3


def test_the_plan_spends_nothing(handoff, folder):
    plan = json.loads(handoff(*COMPARE, "--plan", "--format", "json").out)

    assert (plan["calls"], plan["cases"], plan["goes_on"]) == (480, 240, False)
    assert plan["reserved_tokens"] == sum(one["reserved_tokens"] for one in plan["versions"])
    assert not (folder / "handoff.db").exists()


def test_the_budget_stops_it_and_the_same_command_goes_on(handoff, folder):
    stopped = handoff(*COMPARE, "--max-tokens", "50000")
    with closing(open_reader(folder / "handoff.db")) as db:
        (line,) = experiments(db)
    rest = handoff(*COMPARE)

    assert stopped.status == 4
    assert "The budget holds no further trial" in stopped.err
    assert "handoff compare v2 v4 --dataset servicedesk --max-tokens 50000" in stopped.err
    assert line.finished_at is None
    assert rest.status == 1
    with closing(open_reader(folder / "handoff.db")) as db:
        (gone_on,) = experiments(db)
    assert gone_on.experiment_id == line.experiment_id
    assert gone_on.finished_at is not None
    assert {label: GOLDEN[label] for label in ("v2", "v4")} == right_by_label(folder / "handoff.db")


def test_the_budget_is_never_overrun(handoff, folder):
    handoff(*COMPARE, "--max-tokens", "20000", "--jobs", "8")

    with closing(sqlite3.connect(folder / "handoff.db")) as db:
        (used,) = db.execute("select sum(outcome ->> 'tokens') from trials").fetchone()
    assert 18_000 < used <= 20_000


@pytest.mark.usefixtures("on_record")
def test_json_says_what_the_text_says(handoff):
    text = handoff(*COMPARE)
    done = handoff(*COMPARE, "--format", "json")
    form = json.loads(done.out)

    assert done.status == text.status == 1
    assert form["sentence"] in " ".join(text.out.split())
    assert (form["verdict"], form["direction"]) == ("fail", "worse")
    assert form["difference_points"] == -5.0
    assert [round(bound, 1) for bound in form["interval_points"]] == [-8.3, -1.7]
    assert (form["improved"], form["regressed"], form["critical_regressed"]) == (2, 14, 1)
    assert len(form["regressed_cases"]) == 14
    assert form["is_model_score"] is False
    assert [one["candidate"] for one in form["candidates"]] == ["v4"]


@pytest.mark.usefixtures("on_record")
def test_of_several_versions_it_is_said_which_is_best(handoff):
    words = ("compare", "v2", "v3", "v4", "--dataset", "servicedesk")

    said, plain = (" ".join(handoff(*words, *it).out.split()) for it in (("--format", "md"), ()))
    best = json.loads(handoff(*words, "--format", "json").out)["best"]

    assert (best["version"], best["level"]) == (None, ["v3", "v2"])
    assert plain.startswith(
        "Of 3 versions none is best for sure: v3 gets most right, 52.5 % of 240 cases, but the "
        "data cannot tell it from v2 (47.5 %, p = 0.0501). It is ahead of v4, after Holm"
    )
    assert said.startswith(best["sentence"])
    assert "| Right first time | 47.5 % | 52.5 % | ? +5.0 points [+0.4, +9.6] |" in said
    assert json.loads(handoff(*COMPARE, "--format", "json").out)["best"] is None


@pytest.mark.usefixtures("on_record")
def test_a_build_server_gets_junit(handoff, folder):
    assert handoff(*COMPARE, "--format", "junit", "-o", "report.xml").status == 1

    (suite,) = ElementTree.parse(folder / "report.xml").getroot()
    assert (suite.get("tests"), suite.get("failures")) == ("241", "15")
    assert suite[0].find("failure").get("message").startswith("The agents are harder")


@pytest.mark.usefixtures("on_record")
def test_a_pull_request_gets_markdown(handoff):
    done = handoff(*COMPARE, "--format", "md")

    assert done.out.startswith("### v4 beside v2: ▼ Worse\n\nThe agents are harder to tell apart")
    assert "<details><summary>Regressed: 14</summary>" in done.out


@pytest.mark.parametrize(
    ("gate", "status"),
    [
        ((), 0),
        (("--no-critical-regressions",), 1),
        (("--min-accuracy", "60"), 1),
        (("--min-accuracy", "50"), 0),
        (("--max-drop", "0"), 0),
        (("--alpha", "0.06"), 0),
    ],
)
@pytest.mark.usefixtures("on_record")
def test_the_gate_decides_the_exit_status(handoff, gate, status):
    assert handoff("compare", "v2", "v3", "--dataset", "servicedesk", *gate).status == status


def test_what_the_data_cannot_tell_is_3_when_asked_to_be_strict(handoff, folder):
    lines = (
        '{"flow": "servicedesk"}\n'
        '{"input": "my invoice is wrong", "expected": ["billing"]}\n'
        '{"input": "send me a return label", "expected": ["returns"]}\n'
    )
    (folder / "few.jsonl").write_text(lines)

    loose = handoff("compare", "v2", "v3", "--dataset", "few.jsonl")
    strict = handoff("compare", "v2", "v3", "--dataset", "few.jsonl", "--strict")

    assert (loose.status, strict.status) == (0, 3)


def test_a_model_that_cannot_be_asked_is_incomplete_and_tried_again(handoff, folder):
    (folder / "broken.py").write_text(
        "from handoff_console.runtime import ModelError, hand_over\n"
        "import pathlib\n"
        "def route(call):\n"
        "    if 'parcel' in call.text and not pathlib.Path('mended').exists():\n"
        "        raise ModelError('the server is down')\n"
        "    return hand_over('orders', 'it is theirs')\n"
    )
    (folder / "two.jsonl").write_text(
        '{"flow": "servicedesk"}\n'
        '{"input": "where is my parcel", "expected": ["orders"]}\n'
        '{"input": "where is my order", "expected": ["orders"]}\n'
    )
    words = ("compare", "v2", "v3", "--dataset", "two.jsonl", "--model", "broken.py:route")

    broken = handoff(*words)
    (folder / "mended").touch()
    mended = handoff(*words)

    assert broken.status == 5
    assert "1 of 2 cases has no decision" in " ".join(broken.out.split())
    assert "2 could not be asked" in broken.err
    assert mended.status == 0
    assert "2 trials run" in mended.err
    assert mended.out.startswith("= No difference")


def test_an_offline_score_is_never_compared_with_a_models(handoff, folder):
    (folder / "own.py").write_text("def route(agent, messages):\n    return 'I do not know'\n")

    done = handoff("compare", "v2", "v3+triage=own.py:route", "--dataset", "servicedesk")

    assert done.status == 2
    assert "an offline score is no model's score" in done.err
    assert not (folder / "handoff.db").exists()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("v2", "v9"), "has no prompt version 'v9'; there are: v1, v2, v3, v4"),
        (("v2", "v2"), "'v2' is named twice"),
        (("v2",), "none is set for flow 'servicedesk'"),
        (("v2", "v3+nobody=offline:bm25"), "has no agent 'nobody'"),
        (("v2", "v3+triage>billing=all"), "no context policy 'all'"),
        (("v2", "v3", "--only", "failed"), "Nothing was compared on 'servicedesk' yet"),
        (("v2", "v3", "--tags", "nothing"), "No case of 'servicedesk' is left"),
        (("v2", "v3", "--alpha", "2"), "'2' is no share between 0 and 1"),
    ],
)
def test_wrong_usage_is_2_and_one_sentence(handoff, words, said):
    done = handoff("compare", *words, "--dataset", "servicedesk")

    assert (done.status, done.err.count("\n")) == (2, 1)
    assert said in done.err


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("not json", "it is no JSON"),
        ('{"input": ""}', "its input is empty"),
        ('{"expected": ["a"]}', "it says nowhere what the user says; give `input`"),
        (
            '{"input": "Hi", "expected": ["a"]}\n{"input": "Hi", "expected": ["b"]}',
            "the request 'Hi' stands in it twice; take one away",
        ),
        (
            "\n".join(json.dumps({"input": it, "expected": ["a"]}) for it in "ABABCC"),
            "an `id` of its own; `handoff dataset check` lists it and 2 more.",
        ),
        ('{"input": "x"}', "it says nobody who is right"),
        ('{"input": "x", "expected": ["a"], "expect": "direct"}', "give one of the two"),
        (
            '{"input": "x", "expectd": ["a"]}',
            "a case has no 'expectd'; it may have: id, input, expected",
        ),
        ('{"input": "x", "expected": ["nobody"]}', "which is no agent of flow 'servicedesk'"),
    ],
)
def test_a_bad_data_set_is_2_and_names_the_line(handoff, folder, line, said):
    (folder / "bad.jsonl").write_text('{"flow": "servicedesk"}\n' + line + "\n")

    done = handoff("compare", "v2", "v3", "--dataset", "bad.jsonl")

    assert (done.status, done.err.count("\n")) == (2, 1)
    assert said in done.err


@pytest.mark.usefixtures("on_record")
def test_what_regressed_can_be_run_alone(handoff):
    handoff(*COMPARE)

    again = handoff(*COMPARE, "--only", "regressed", "--fresh")

    assert "28 trials run" in again.err
    assert "14 paired cases" in again.out
    assert (
        "Note: Only cases that regressed the last time were run. They were chosen by how they came "
        "out, so neither the shares nor p say anything about all cases."
        in " ".join(again.out.split())
    )
    assert "Note: Only" not in handoff(*COMPARE).out


def test_a_long_name_of_a_version_stands_whole_above_its_figures(handoff):
    done = handoff("compare", "v2", "v2+triage>billing=full_history", "--dataset", "servicedesk")

    assert "  v2        v2+triage>billing=full_history  difference\n" in done.out
    assert "Right first time                  47.5 %    47.5 %                          ±0" in (
        done.out
    )


@pytest.mark.usefixtures("on_record")
def test_a_baseline_is_set_by_hand(handoff):
    handoff("compare", "v1", "v2", "--dataset", "servicedesk")
    said = handoff("baseline", "set")
    done = handoff("compare", "v4", "--dataset", "servicedesk")

    assert said.out == "v2 is the baseline of flow servicedesk on servicedesk.\n"
    assert "by v4 than by v2" in done.out


def test_whole_sessions_show_their_detours_and_are_recorded(handoff, folder):
    lines = (
        '{"flow": "servicedesk"}\n'
        '{"id": "a", "input": "Can my wife and I share one login?", "expected": ["account"]}\n'
        '{"id": "b", "input": "I need a return label", "expected": ["returns"]}\n'
    )
    (folder / "few.jsonl").write_text(lines)

    done = handoff(
        "compare", "v2", "v4", "--dataset", "few.jsonl", "--mode", "full", "--format", "json"
    )
    sessions = json.loads(handoff("list", "--trials", "--label", "version=v2", "--json").out)

    figures = json.loads(done.out)["figures"]
    assert {"observed", "handoffs", "churn", "misroute_tokens"} <= figures.keys()
    assert len(sessions) == 2


def test_a_session_of_a_comparison_is_run_again_with_what_its_version_said(handoff, folder):
    """By the examples of v3 two agents fit alike; the flow's own descriptions name one."""
    asked = {"input": "Cancel my subscription before the next payment goes out"}
    (folder / "one.jsonl").write_text(json.dumps({**asked, "expected": ["billing"]}))
    words = ("--dataset", "one.jsonl", "--flow", "servicedesk", "--mode", "full")
    handoff("compare", "v2", "v3", *words)
    (session,) = json.loads(handoff("list", "--trials", "--label", "version=v3", "--json").out)

    again = handoff("rerun", session["session_id"], "h1", "--mode", "live-reads", "--json")

    assert (again.status, json.loads(again.out)["live_model_calls"]) == (0, 1)
    assert json.loads(again.out)["same_result"] is True


def test_with_open_the_console_shows_the_comparison_that_was_made(handoff, folder, monkeypatch):
    served = {}
    monkeypatch.setattr(serving, "serve", lambda path, **asked: served.update(asked, path=path))
    (folder / "few.jsonl").write_text(
        '{"flow": "servicedesk"}\n{"id": "b", "input": "A return label", "expected": ["returns"]}\n'
    )

    done = handoff("compare", "v2", "v3", "--dataset", "few.jsonl", "--open")

    assert served["path"] == folder / "handoff.db"
    assert f"Experiment {served['experiment_id']}." in done.err
    assert (served["session_id"], served["flows"]) == (None, [])


def test_a_flow_that_only_a_store_names_is_not_loaded_by_the_console(handoff, folder, monkeypatch):
    served = {}
    monkeypatch.setattr(serving, "serve", lambda path, **asked: served.update(asked))
    (folder / "few.jsonl").write_text(
        '{"flow": "servicedesk"}\n{"id": "b", "input": "A return label", "expected": ["returns"]}\n'
    )
    words = ("compare", "v2", "v3", "--dataset", "few.jsonl")
    handoff(*words)
    with closing(sqlite3.connect(folder / "handoff.db")) as db, db:
        db.execute("update experiments set flow_source = 'theirs.py:flow', finished_at_us = null")

    done = handoff(*words, "--open")

    assert f"Experiment {served['experiment_id']}." in done.err
    assert served["flows"] == []
    with closing(sqlite3.connect(folder / "handoff.db")) as db:
        assert db.execute("select count(*) from experiments").fetchone() == (1,)


def killed(folder, trials: int) -> None:
    """Run the comparison in a process of its own, and kill it once so many trials are done."""
    process = subprocess.Popen(
        [sys.executable, "-m", "handoff_console.console.cli", *COMPARE, "--jobs", "4"],
        cwd=folder,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    store = folder / "handoff.db"
    while process.poll() is None:
        try:
            with closing(sqlite3.connect(f"{store.as_uri()}?mode=ro", uri=True)) as db:
                (done,) = db.execute("select count(*) from trials where state = 'done'").fetchone()
        except sqlite3.OperationalError:  # it is not there yet
            continue
        if done >= trials:
            os.kill(process.pid, signal.SIGKILL)
            process.wait()


def test_killed_four_times_it_comes_to_the_same_as_run_once(handoff, tmp_path_factory):  # R84
    broken, whole = tmp_path_factory.mktemp("broken"), tmp_path_factory.mktemp("whole")
    assert handoff(*COMPARE, "--max-tokens", "1", "--db", broken / "handoff.db").status == 4
    # One store began, so that both have the same secret key and with it the same trial keys.
    shutil.copy(broken / "handoff.db", whole / "handoff.db")
    for trials in (60, 150, 240, 330):
        killed(broken, trials)
    last = handoff(*COMPARE, "--db", broken / "handoff.db")
    once = handoff(*COMPARE, "--db", whole / "handoff.db")

    assert last.out == once.out
    assert trial_rows(broken / "handoff.db") == trial_rows(whole / "handoff.db")
    with closing(sqlite3.connect(broken / "handoff.db")) as db:
        assert db.execute("pragma integrity_check").fetchone() == ("ok",)
        assert db.execute("select count(*) from experiments").fetchone() == (1,)


def test_one_message_can_be_routed_with_scores_and_words(handoff, folder):
    done = json.loads(
        handoff("route", "My parcel has not arrived", "--prompts", "v3", "--json").out
    )

    assert done["agents"] == ["orders"]
    assert done["scores"][0]["matched"] == ["parcel", "not"]
    assert done["is_model_score"] is False
    assert "nobody" in handoff("route", "xyzzy").out
    assert not (folder / "handoff.db").exists()


def test_a_data_set_is_checked(handoff, folder):
    (folder / "bad.jsonl").write_text(
        '{"flow": "servicedesk"}\n'
        '{"id": "1", "input": "where is my parcel", "expected": ["orders"]}\n'
        '{"id": "2", "input": "Where is my  parcel", "expected": ["billing"]}\n'
        '{"id": "3", "input": "I want a table", "expected": ["sales"]}\n'
    )

    bundled, bad = (
        handoff("dataset", "check", "servicedesk"),
        handoff("dataset", "check", "bad.jsonl"),
    )

    assert bundled.status == 0
    assert "differences under about 6 to 8 points cannot be told from noise" in " ".join(
        bundled.out.split()
    )
    said = " ".join(bad.out.split())
    assert bad.status == 1
    assert "stands there as 1, 2, with different labels" in said
    assert "'sales' is expected by 3, and 'triage' may not hand off to it" in said
    assert "2 of 3 cases stand word for word in version v3" in said
    assert "No case is for 'fraud'" in said


def test_a_check_goes_on_behind_the_first_request_that_stands_there_twice(handoff, folder):
    lines = [json.dumps({"input": it, "expected": ["orders"]}) for it in "ABAB"]
    (folder / "twice.jsonl").write_text("\n".join(lines))

    done = handoff("dataset", "check", "twice.jsonl", "--flow", "servicedesk")

    assert done.status == 1
    assert "The text 'A' stands there twice, so it counts twice." in done.out
    assert "The text 'B' stands there twice, so it counts twice." in done.out
    assert "No case is for 'billing'" in " ".join(done.out.split())


def test_a_check_names_every_line_that_is_no_case(handoff, folder):
    good = json.dumps({"input": "A", "expected": ["orders"]})
    lines = [good, "{", good.replace("A", "B"), '{"input": ""}', '{"text": "C"}', "[1]"]
    (folder / "bad.jsonl").write_text("\n".join(lines + ["{"] * 20))

    done = handoff("dataset", "check", "bad.jsonl", "--flow", "servicedesk")
    form = handoff("dataset", "check", "bad.jsonl", "--json")

    said = done.err.splitlines()
    assert (done.status, done.out, form.status) == (2, "", 2)
    assert said[0] == "handoff: bad.jsonl: 24 lines are no cases; correct them."
    assert said[1].startswith("  line 2: it is no JSON (")
    assert said[2] == "  line 4: its input is empty."
    assert said[3].startswith("  line 5: a case has no 'text'; it may have: ")
    assert said[4] == "  line 6: it is no JSON object; write one a line."
    assert said[5].startswith("  line 7: it is no JSON (")
    assert (len(said), said[-1]) == (22, "  and 4 more")
    assert len(json.loads(form.out)["problems"]) == 24


def test_a_check_of_cells_names_every_line_that_is_no_case(handoff, folder):
    (folder / "bad.csv").write_text("input,expected\na,orders\nb\n,orders\nc,orders\n")

    done = handoff("dataset", "check", "bad.csv", "--flow", "servicedesk")

    assert done.status == 2
    assert done.err.splitlines() == [
        "handoff: bad.csv: 2 lines are no cases; correct them.",
        "  line 3: it has not as many cells as the first line.",
        "  line 4: it says nowhere what the user says; give `input`.",
    ]


def test_data_sets_of_others_are_read(handoff, folder):
    (folder / "theirs.csv").write_text(
        "text,category\nmy card is lost,card_lost\nhow tall is it,oos\n"
    )
    (folder / "clinc.json").write_text(
        json.dumps({"test": [["pay my bill", "pay_bill"]], "oos_test": [["hello moon", "oos"]]})
    )
    (folder / "map.json").write_text(json.dumps({"fraud": ["card_lost"], "billing": ["pay_bill"]}))

    csv = handoff("dataset", "import", "theirs.csv", "--map", "map.json")
    clinc = handoff("dataset", "import", "clinc.json", "--from", "clinc", "--map", "map.json")

    first, second = map(json.loads, csv.out.splitlines())
    assert (first["input"], first["expected"], first["tags"]) == (
        "my card is lost",
        ["fraud"],
        ["card_lost"],
    )
    assert second["expect"] == "abstain"
    assert [json.loads(line).get("expected") for line in clinc.out.splitlines()] == [
        ["billing"],
        None,
    ]
    (folder / "map.json").write_text("{}")
    assert (
        "its label 'card_lost' is for no agent"
        in handoff("dataset", "import", "theirs.csv", "--map", "map.json").err
    )


def test_a_split_marks_a_share_of_each_label_and_csv_reads_back_the_same(handoff, folder):
    handoff("dataset", "split", "servicedesk", "--share", "30", "-o", "split.jsonl")
    again = handoff("dataset", "split", "split.jsonl", "--share", "30", "-o", "split.csv")
    from handoff_console.console.commands.datasets import read_dataset

    one, other = read_dataset("split.jsonl"), read_dataset("split.csv")

    assert again.status == 0
    assert one.cases == other.cases
    assert one.digest == other.digest
    dev = [case for case in one.cases if case.split == "dev"]
    assert sum(case.label == "billing" for case in dev) == 8
    assert sum(case.label == "abstain" for case in dev) == 9


def test_two_versions_are_told_apart_in_words(handoff):
    done = handoff("prompts", "diff", "v2", "v4")

    assert done.out.startswith("billing: description\n")
    assert "+ Everything about customers and their money" in done.out
    assert handoff("prompts", "diff", "v2", ".").out.count("description") == 0
