"""The routing pages: what happened, which version does better, drafts, labels."""

import json
import os
from contextlib import closing
from dataclasses import replace

import pytest
from support import recorded
from support.comparisons import A_DECISIONS, experiment, large_experiment, record_experiment
from support.logs import Log
from support.seen import component, text

from handoff_console.console import compare_queries, comparisons
from handoff_console.console import compare_state as where
from handoff_console.console.commands.comparing_versions import run
from handoff_console.console.commands.comparison_asked import Asked
from handoff_console.console.commands.datasets import read_dataset
from handoff_console.console.commands.errors import InputRefused
from handoff_console.console.screens import compare_elsewhere, compare_labels
from handoff_console.console.screens.label_sources import Source
from handoff_console.store.db import open_reader, open_store
from handoff_console.store.experiments import experiments
from handoff_console.store.labels import labels, set_label


def look_once(known, shown):
    """Look once, as the page does every few seconds."""
    compare_elsewhere._look({it.experiment_id: it for it in known}, shown, -1)


@pytest.fixture
def compared(store):
    """A store with one small experiment."""
    record_experiment(store, experiment())
    return store


def shown_cases(page):
    assert not page.exception
    return [row["case_id"] for row in component(page, "compare_cases")["rows"]]


def test_a_comparison_that_was_started_elsewhere_is_offered_and_takes_nobodys_place(
    screen, compared, monkeypatch
):
    page = screen("compare", view="compare")
    known = compare_queries.experiments()
    record_experiment(compared, experiment(experiment_id="01kd-newer", finished_at=None))
    monkeypatch.setattr(compare_elsewhere, "watch", lambda _, shown: look_once(known, shown))

    page = page.run()

    assert not page.exception
    assert text(page, "elsewhere_new") == (
        "A new comparison: v2, v3 on desk; 16 of 16 trials done · 640 tokens."
    )
    assert "3 improved, 2 regressed" in text(page, "comparison_head")
    assert page.query_params["experiment"] == "01kc-desk"

    page = page.button(key="show_new").click().run()

    assert page.query_params["experiment"] == "01kd-newer"


@pytest.mark.usefixtures("store")
def test_nothing_compared_yet_says_what_to_do_with_button_and_command(screen):
    page = screen("compare", view="compare")

    assert not page.exception
    assert "Nothing has been compared yet" in text(page, "compare_empty")
    assert page.button(key="compare_first").label == "Compare v2 and v3"
    assert "handoff compare v2 v3 --dataset servicedesk" in text(page, "compare_command")


@pytest.mark.usefixtures("compared")
def test_the_verdict_three_figures_and_the_regressed_cases_stand_first(screen):  # R84
    page = screen("compare", view="compare")

    head = text(page, "comparison_head")
    assert "How separable are your descriptions" in head
    assert "? Cannot tell" in head
    assert "3 improved, 2 regressed (1 critical)" in head
    assert head.count("→") >= 4
    assert shown_cases(page) == ["c1", "c7"]
    assert text(page, "showing_cases") == "Showing 2 matching cases."


@pytest.mark.usefixtures("compared")
def test_the_first_regressed_case_is_open_with_both_decisions_and_the_texts_that_differ(screen):
    page = screen("compare", view="compare")

    said = text(page, "compare_case")
    assert "Why was I charged twice?" in said
    assert "✓ billing" in said
    assert "✕ orders" in said
    assert "billing: description" in said
    assert "removed is struck out" in said


@pytest.mark.usefixtures("compared")
def test_the_address_names_pair_filter_and_case(screen):
    page = screen("compare", view="compare", a="v3", b="v2", chip="improved", case="c7")

    assert "v3 → v2" in text(page, "comparison_head")
    assert shown_cases(page) == ["c1", "c7"]
    assert "My invoice is wrong" in text(page, "compare_case")


@pytest.mark.usefixtures("compared")
@pytest.mark.parametrize(
    "query",
    [
        {"a": "v9", "b": "<b>"},
        {"chip": "nothing", "page": "-3"},
        {"case": "gone"},
        {"cell": "x"},
        {"cell": "b~billing~orders", "chip": "all"},
        {"experiment": "zzz"},
        {"view": "nowhere"},
    ],
)
def test_an_address_that_names_what_is_not_there_shows_the_nearest(screen, query):
    page = screen("compare", **{"view": "compare", **query})

    assert not page.exception


@pytest.mark.usefixtures("compared")
def test_a_cell_of_a_matrix_filters_the_cases_and_can_be_left(screen):
    page = screen("compare", view="compare", cell="b~billing~orders", chip="all")

    assert shown_cases(page) == ["c1"]
    leave = page.button(key="leave_cell")
    assert leave.label == "✕ should go to billing, v3 sent it to orders"
    assert len(shown_cases(leave.click().run())) == 8


@pytest.mark.usefixtures("compared")
def test_a_cell_that_an_address_makes_up_is_no_markdown(screen):
    page = screen("compare", view="compare", cell="b~**x**~![y](http://z)", chip="all")

    assert page.button(key="leave_cell").label == (
        r"✕ should go to \*\*x\*\*, v3 sent it to \!\[y\](http\://z)"
    )


DESK = """
from handoff_console.runtime import Agent, Edge, Flow
from handoff_console.runtime.models.bm25 import Bm25

flow = Flow(
    "desk",
    [
        Agent("triage", "Routes.", edges=[Edge.transfer("billing", "Bills.")]),
        Agent("billing", "Bills."),
    ],
    start="triage",
    model=Bm25(),
)
"""


@pytest.fixture
def own_flow(store, tmp_path, monkeypatch):
    """A flow of the user's own, named when the console was started."""
    file = tmp_path / "desk.py"
    file.write_text(DESK)
    monkeypatch.setenv("HANDOFF_FLOWS", json.dumps([f"{file}:flow"]))
    return file


def data_set(tmp_path, name, flow):
    folder = tmp_path / "datasets"
    folder.mkdir(exist_ok=True)
    case = {"id": "c1", "input": "My bill", "expected": ["billing"]}
    lines = "\n".join(map(json.dumps, [{"flow": flow}, case]))
    (folder / f"{name}.jsonl").write_text(lines)


def form_for(page, name):
    page.session_state["start_fold"] = page.session_state["first_fold"] = True
    page.session_state["start_dataset"] = name
    return page.run()


@pytest.mark.usefixtures("own_flow")
def test_a_data_set_may_name_a_flow_of_ones_own_by_its_name(screen, tmp_path):
    data_set(tmp_path, "desk-cases", "desk")

    page = form_for(screen("compare", view="compare"), "desk-cases")

    assert not page.exception
    assert page.selectbox(key=key_of(page, "start_a-")).options == ["."]
    assert "has no prompt version yet" in text(page, "no_versions")

    page = page.button(key="make_version").click().run()

    assert page.selectbox(key="draft_flow").value.endswith("desk.py:flow")


@pytest.mark.usefixtures("store")
def test_no_code_is_loaded_because_a_data_set_names_it(screen, tmp_path):
    (tmp_path / "evil.py").write_text("raise SystemExit('loaded')")
    data_set(tmp_path, "evil", f"{tmp_path}/evil.py:flow")

    page = form_for(screen("compare", view="compare"), "evil")

    assert not page.exception
    assert "was not started with" in text(page, "start_flow_said")
    assert page.selectbox(key="start_flow").value


@pytest.mark.usefixtures("store")
def test_a_data_set_that_cannot_be_read_is_a_sentence_beside_the_form(screen, tmp_path):
    data_set(tmp_path, "broken", "support")
    (tmp_path / "datasets" / "broken.jsonl").write_text("{")

    page = form_for(screen("compare", view="compare"), "broken")

    assert "it is no JSON" in text(page, "start_flow_said")


def test_the_plan_in_the_form_follows_a_version_that_is_edited(own_flow, tmp_path):
    data_set(tmp_path, "desk-cases", "desk")
    for label, says in (("v1", "Bills."), ("v2", "Invoices and charges.")):
        folder = tmp_path / "prompts" / label
        folder.mkdir(parents=True)
        (folder / "billing.md").write_text(f"---\nhandoff_description: {says}\n---\n")
    asked = Asked(("v1", "v2"), str(tmp_path / "datasets" / "desk-cases.jsonl"), f"{own_flow}:flow")
    run(tmp_path / "sessions.db", asked)
    assert compare_queries.plan(asked).calls == 0

    edited = tmp_path / "prompts" / "v2" / "billing.md"
    edited.write_text("---\nexamples:\n  - Refund me\n---\n")
    os.utime(edited, ns=(1, 1))

    assert compare_queries.plan(asked).calls == 1


@pytest.mark.usefixtures("compared")
@pytest.mark.parametrize("view", ["compare", "drafts", "labels"])
def test_a_named_flow_that_is_broken_by_now_is_said_and_the_page_goes_on(screen, own_flow, view):
    own_flow.write_text("flow = (")

    page = screen("compare", view=view)

    assert not page.exception
    assert "desk.py" in text(page, "broken")
    assert page.get("button_group")


def key_of(page, beginning):
    (key,) = [it.key for it in page.selectbox if (it.key or "").startswith(beginning)]
    return key


@pytest.mark.usefixtures("compared")
def test_a_chip_and_words_narrow_the_cases(screen):
    page = screen("compare", view="compare")

    (chips,) = [it for it in page.get("button_group") if it.key == "chip-regressed"]
    page = chips.set_value("all").run()
    assert len(shown_cases(page)) == 8
    page = page.text_input(key="find_cases").set_value("parcel").run()
    assert shown_cases(page) == ["c2", "c6"]


def test_that_nothing_differs_is_said(screen, store):
    record_experiment(store, experiment(b=A_DECISIONS))

    page = screen("compare", view="compare")

    assert "No difference" in text(page, "comparison_head")
    assert text(page, "showing_cases").startswith("No case regressed")


def test_hostile_cases_break_nothing(screen, compared):
    page = screen("compare", view="compare", chip="all", case="c8")

    assert not page.exception
    assert "<script>" in text(page, "compare_case")


def test_of_three_versions_the_best_of_all_is_said_under_every_pair(screen, store):
    record_experiment(store, large_experiment(300))

    said = (
        "Of 3 versions none is best for sure: v3 gets most right, 82.3 % of 300 cases, but the "
        "data cannot tell it from v1 (78.0 %, p = 0.55) or v2 (77.7 %, p = 0.55)"
    )
    assert said in text(screen("compare", view="compare"), "comparison_head")
    assert said in text(screen("compare", view="compare", a="v2", b="v1"), "comparison_head")


def test_thousands_of_cases_come_in_pages(screen, store):
    record_experiment(store, large_experiment(1_000, ("v1", "v2")))

    page = screen("compare", view="compare", chip="all", page="3")

    assert len(shown_cases(page)) == 25
    assert text(page, "showing_cases") == "Showing 51 to 75 of 1,000 cases."


@pytest.mark.usefixtures("compared")
@pytest.mark.parametrize(
    ("fold", "drawn"),
    [
        ("misroutes", "matrix_says_a"),
        ("agents", "agents_legend"),
        ("abstain", "abstention"),
        ("threshold", "threshold_says"),
        ("forks", "forks"),
        ("others", "others"),
        ("stability", "stability"),
        ("changes", "all_changes"),
        ("trend", "cost_says"),
        ("trend", "trend_says"),
    ],
)
def test_what_is_folded_is_drawn_when_it_is_opened(screen, fold, drawn):
    page = screen("compare", view="compare")
    assert not drawn_parts(page, drawn)

    page.session_state[f"fold-{fold}"] = True
    page = page.run()

    assert not page.exception
    assert drawn_parts(page, drawn)


@pytest.mark.usefixtures("compared")
def test_under_the_matrices_it_is_said_which_cases_stand_above(screen):
    page = screen("compare", view="compare", chip="all", cell="b~billing~orders")
    page.session_state["fold-misroutes"] = True
    page = page.run()

    assert not page.exception
    assert len(shown_cases(page)) == 1
    assert text(page, "misroutes_how").endswith(
        "Shown above: 1 case (should go to billing, v3 sent it to orders)."
    )


def drawn_parts(page, name):
    ids = [it.proto.id for it in page.get("bidi_component")]
    return [it for it in ids if it.endswith(f"-{name}")]


@pytest.mark.usefixtures("store")
def test_comparing_from_the_page_runs_and_shows_the_verdict(screen, store):
    page = screen("compare", view="compare")

    page = page.button(key="compare_first").click().run()

    assert not page.exception
    with closing(open_reader(store)) as db:
        (line,) = experiments(db)
    assert (line.labels, line.dataset.cases) == (("v2", "v3"), 240)
    job = comparisons.comparison_job(line.experiment_id)
    while not job.is_over:
        page.run()
    page = page.run()
    assert not page.exception
    assert "v2 → v3" in text(page, "comparison_head")


def test_what_happened_is_shown_for_recorded_sessions(screen, sessions):
    page = screen("compare")

    assert not page.exception
    said = text(page, "routing_groups")
    assert "right first time" in said
    assert "the flow's own prompts" in said
    assert text(page, "happened_of").startswith("From 3 closed sessions")
    assert not drawn_parts(page, "missed_sessions")

    page.session_state["fold-missed"] = True
    page = page.run()

    assert not page.exception
    said = text(page, "missed_sessions")
    assert said.startswith("what was asked first with and then flow <script>window.hacked")
    assert said.endswith("failed there support")


@pytest.mark.usefixtures("store")
def test_without_a_session_what_happened_says_what_to_do(screen):
    page = screen("compare")

    assert not page.exception
    assert "No session has been recorded yet" in text(page, "happened_empty")


@pytest.mark.usefixtures("store")
def test_a_draft_is_saved_as_a_new_version_and_can_be_compared(screen, store):
    page = screen("compare", view="drafts")
    assert not page.exception
    assert "Nothing differs from" in text(page, "draft_changes")
    page = page.selectbox(key="draft-agent-servicedesk").set_value("billing").run()

    area = next(it for it in page.text_area if it.label.startswith("Description"))
    page = area.set_value("Everything about money").run()
    assert "1 text of billing differs from v4." in text(page, "draft_changes")
    page = page.button(key="save_draft").click().run()

    saved = store.parent / "prompts" / "servicedesk" / "v5" / "billing.md"
    assert "Everything about money" in saved.read_text("utf-8")
    assert text(page, "draft_said").startswith("Saved as v5")
    # What stands in the boxes is the version that was saved, and is gone on from.
    assert page.selectbox(key="base-servicedesk").value == "v5"
    assert "Nothing differs from v5 yet" in text(page, "draft_changes")
    area = next(it for it in page.text_area if it.label.startswith("Description"))
    assert area.value == "Everything about money"
    (name,) = [it for it in page.text_input if it.label == "Save as a new version"]
    assert name.value == "v6"
    page = page.button(key="compare_it").click().run()
    assert not page.exception
    (chosen,) = [it for it in page.multiselect if it.label.startswith("B,")]
    assert chosen.value == ["v5"]


@pytest.mark.usefixtures("own_flow")
def test_the_first_version_of_a_flow_leads_on_to_a_comparison_with_its_own_prompts(
    screen, tmp_path
):
    page = saved_first_version(screen)
    assert "no data set here is for desk" in text(page, "no_data_set")

    data_set(tmp_path, "desk-cases", "desk")
    page = saved_first_version(screen)
    page = page.button(key="compare_it").click().run()

    assert not page.exception
    assert page.selectbox(key="start_dataset").value == "desk-cases"
    assert page.selectbox(key=key_of(page, "start_a-")).value == "."
    (chosen,) = [it for it in page.multiselect if it.label.startswith("B,")]
    assert chosen.value == ["v2"]


def saved_first_version(screen, flow="desk (desk.py)"):
    page = screen("compare", view="drafts")
    flows = page.selectbox(key="draft_flow")
    page = flows.select_index(flows.options.index(flow)).run()
    base = page.selectbox(key=key_of(page, "base-"))
    page = base.select_index(len(base.options) - 1).run()
    area = next(it for it in page.text_area if it.label.startswith("Description"))
    page = area.set_value("Everything about money").run()
    return page.button(key="save_draft").click().run()


@pytest.mark.usefixtures("own_flow")
def test_a_data_set_that_names_no_flow_is_compared_with_the_flow_that_was_edited(screen, tmp_path):
    data_set(tmp_path, "any-cases", "")
    saved_first_version(screen)

    page = saved_first_version(screen, "parcels")
    page = page.button(key="compare_it").click().run()

    assert not page.exception
    assert page.selectbox(key="start_dataset").value == "any-cases"
    assert page.selectbox(key="start_flow").value == "parcels"
    assert page.selectbox(key=key_of(page, "start_a-")).value == "."
    (chosen,) = [it for it in page.multiselect if it.label.startswith("B,")]
    assert chosen.value == ["v1"]


@pytest.mark.usefixtures("own_flow")
def test_sessions_are_offered_for_labels_only_where_there_are_some(screen, store):
    page = saved_first_version(screen)

    assert text(page, "no_data_set").endswith(
        "no data set here is for desk. Bring a file with requests under Compare versions."
    )
    assert "label_its" not in [it.key for it in page.button]

    log = Log().user("My bill")
    log.step(log.root("triage"), tokens=40)
    log.close(log.transfer("h1", "billing", grant=1_000)).end("ok")
    started = log.events[0]
    log.events[0] = started._replace(payload=replace(started.payload, flow="desk"))
    recorded.record(store, [("s-desk", log)])
    page = saved_first_version(screen)

    assert text(page, "no_data_set").endswith(
        "no data set here is for desk. Label its recorded sessions, or bring a file with requests "
        "under Compare versions."
    )
    assert page.button(key="label_its").label == "Label its sessions"


@pytest.mark.usefixtures("store")
def test_a_version_that_is_broken_is_said_and_another_one_can_be_chosen(screen, tmp_path):
    broken = tmp_path / "prompts" / "servicedesk" / "v9"
    broken.mkdir(parents=True)
    (broken / "nobody.md").write_text("---\nhandoff_description: Nothing.\n---\n")

    page = screen("compare", view="drafts")

    assert "nobody" in text(page, "draft_broken")
    page = page.selectbox(key="base-servicedesk").set_value("v4").run()
    assert "Nothing differs from" in text(page, "draft_changes")


def test_a_label_that_cannot_be_kept_is_said_on_the_page(screen, sessions, monkeypatch):
    page = screen("compare", view="labels", by="Ana")
    monkeypatch.setattr(compare_labels, "given_labels", lambda: [("gone", "billing")])

    compare_labels._keep(Source("sessions", "support"), "Ana")
    told = where.told()

    assert not page.exception
    assert told.failed
    assert told.text.startswith("Not every label was kept: ")


@pytest.mark.usefixtures("sessions")
def test_labelling_begins_with_who_labels(screen):
    page = screen("compare", view="labels")

    assert not page.exception
    assert text(page, "who").startswith("Say who you are")


def test_the_queue_holds_the_requests_of_a_flow_and_numbers_its_agents(screen, sessions):
    page = screen("compare", view="labels", by="ada")

    assert not page.exception
    queue = component(page, "labelling")
    assert [it["text"] for it in queue["queue"]][:2] == [
        "How long does a refund take?",
        "Why was I charged twice last month?",
    ]
    assert [(it["key"], it["value"]) for it in queue["choices"]] == [
        ("1", "billing"),
        ("2", "account"),
        ("0", "abstain"),
        ("d", "direct"),
    ]


def test_two_labellers_see_how_far_they_agree(screen, sessions):
    with closing(open_store(sessions)) as db:
        set_label(db, recorded.FAILED, "ada", "billing")
        set_label(db, recorded.FAILED, "bob", "account")
        set_label(db, recorded.HEALTHY, "ada", "direct")

    page = screen("compare", view="labels", by="ada")

    assert "ada and bob agree on 0 of 1 case" in text(page, "agreement")
    assert text(page, "labelled_cases").startswith("As a data set 1 labelled request")
    with closing(open_reader(sessions)) as db:
        assert len(labels(db)) == 3


def test_what_was_labelled_is_kept_to_be_compared_on(screen, sessions):
    with closing(open_store(sessions)) as db:
        set_label(db, recorded.FAILED, "ada", "billing")
    page = screen("compare", view="labels", by="ada")

    page = page.button(key="keep_data_set").click().run()
    assert text(page, "label_said").startswith("Kept as data set support-labelled;")
    page = page.button(key="keep_data_set").click().run()
    assert text(page, "label_said").startswith("Kept as data set support-labelled-2;")

    (path,) = sessions.parent.glob("datasets/support-labelled.jsonl")
    found = read_dataset(str(path))
    assert found.flow == "support"
    assert [(it.source, it.expected) for it in found.cases] == [(recorded.FAILED, ("billing",))]
    assert compare_queries.data_set_for("support") == "support-labelled-2"


def test_the_cases_of_a_data_set_are_labelled_with_the_agents_of_its_own_flow(screen, sessions):
    page = screen("compare", view="labels", by="ada", of="cases:servicedesk")

    assert not page.exception
    queue = component(page, "labelling")
    assert (queue["done"], queue["total"]) == (0, 240)
    assert [it["value"] for it in queue["choices"]][:2] == ["billing", "orders"]
    assert queue["queue"][0]["why"].startswith("The versions disagree: ")
    first = queue["queue"][0]["id"]

    compare_labels.sources.keep(Source("cases", "servicedesk"), "bob", [(first, "billing")])
    compare_labels.sources.keep(Source("cases", "servicedesk"), "ada", [(first, "orders")])
    page = screen("compare", view="labels", by="ada", of="cases:servicedesk")

    assert component(page, "labelling")["done"] == 1
    assert "ada and bob agree on 0 of 1 case" in text(page, "agreement")
    assert text(page, "labelled_cases").startswith(
        "As a data set 239 labelled requests, with the labels that people agree on"
    )
    with closing(open_reader(sessions)) as db:
        assert labels(db) == []  # of sessions nobody said anything

    compare_labels.sources.keep(Source("cases", "servicedesk"), "bob", [(first, "")])
    page = screen("compare", view="labels", by="ada", of="cases:servicedesk")

    assert "ada and the data set agree on " in text(page, "agreement")


@pytest.mark.usefixtures("sessions")
def test_requests_without_a_label_are_kept_and_labelled(screen, sessions):
    comparisons.save_data_set(
        "mine.jsonl",
        b'{"flow": "servicedesk"}\n{"id": "c1", "input": "My bill"}\n'
        b'{"id": "c2", "input": "My parcel"}\n',
    )
    compare_labels.sources.keep(Source("cases", "mine"), "ada", [("c1", "billing")])

    page = screen("compare", view="labels", by="ada", of="cases:mine")

    assert not page.exception
    assert [it["text"] for it in component(page, "labelling")["queue"]] == ["My parcel"]
    assert text(page, "labelled_cases").startswith("As a data set 1 labelled request")
    with pytest.raises(InputRefused, match="label it on the page Label cases"):
        comparisons.planned(Asked(("v2", "v3"), comparisons.data_sets()["mine"]))


def test_a_session_is_added_to_a_data_set_from_its_page(screen, sessions):
    page = screen("session", session=recorded.HEALTHY)
    page.session_state["label_fold"] = True
    page = page.run()
    assert not page.exception

    page = page.selectbox(key="label_choice").set_value("supervisor").run()
    page = page.text_input(key="label_who").set_value("ada").run()
    page = page.button(key="label_add").click().run()

    assert text(page, "label_said") == "Labelled supervisor, and added to support-cases."
    kept = (sessions.parent / "datasets" / "support-cases.jsonl").read_text("utf-8")
    assert '"How long does a refund take?"' in kept
    with closing(open_reader(sessions)) as db:
        assert [(it.session_id, it.labeller, it.label) for it in labels(db)] == [
            (recorded.HEALTHY, "ada", "supervisor")
        ]
