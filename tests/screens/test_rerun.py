"""The form for running a handoff again: what it starts from, what is wrong, what it starts."""

import os
from contextlib import closing

import pytest
from support import recorded
from support.mailboxes import mailbox
from support.seen import text
from support.threads import joined

from handoff_console.console.commands.flows import load_flow
from handoff_console.console.commands.rerun_orders import RerunOrder
from handoff_console.console.commands.rerunning import rerun_handoff
from handoff_console.console.commands.running import run_once
from handoff_console.console.components.rerun_form import TABS
from handoff_console.runtime.edits import Edits
from handoff_console.runtime.rerun_player import Mode
from handoff_console.store.db import open_reader
from handoff_console.store.lineage import attempt_rows

CUT_OFF = "I am customer 5120. Why was I charged twice last month?"


@pytest.fixture
def cut_off(store) -> str:
    """A session in which billing (h2) hits its step limit."""
    return run_once(store, load_flow("support").flow, CUT_OFF, source="support").session_id


def form(screen, session, handoff="h2"):
    page = screen("rerun", session=session, handoff=handoff)
    assert not page.exception
    return page


def field(page, kind, label):
    return next(one for one in page.get(kind) if one.label.replace("\\", "") == label)


def typed(page, label, value, kind="text_input"):
    field(page, kind, label).set_value(value)
    page.run()
    assert not page.exception
    return page


def test_a_handoff_with_a_result_can_be_kept_as_a_test(screen, samples, monkeypatch):
    session = samples["support-many-payments"]
    page = form(screen, session)

    (button,) = page.get("download_button")
    assert button.proto.label == "Download the test"
    command = f"handoff export {session} --to pytest h2 --db "
    assert any(code.value.startswith(command) for code in page.code)
    assert not form(screen, samples["letters-waiting"], "h1").get("download_button")


@pytest.mark.parametrize(
    ("sample", "handoff", "first"),
    [
        ("support-many-payments", "h2", "Tools and limits"),
        ("disclosure-copy", "h2", "Tools and limits"),
        ("support-many-payments", "h3", "Request"),
    ],
    ids=["a limit was hit", "a tool was denied", "it came out ok"],
)
def test_the_fields_that_have_to_do_with_how_it_ended_come_first(
    screen, samples, sample, handoff, first
):
    tabs = form(screen, samples[sample], handoff).get("tab_container")

    assert tabs[0].proto.tab_container.default_tab_index == TABS.index(first)


@pytest.mark.parametrize(
    ("sample", "refused", "asker", "agent"),
    [
        ("statement-half-a-year", "h5", "h1", "accountant"),
        ("warranty-cracked-lamp", "h5", "h4", "shipping"),
    ],
)
def test_a_refused_handoff_leads_to_the_one_that_asked_for_it(
    screen, samples, sample, refused, asker, agent
):
    session = samples[sample]
    address = f"session={session}&handoff={asker}"

    page = screen("session", session=session, handoff=refused)
    (link,) = [one.proto for one in page.get("page_link") if "Re-run" in one.proto.label]
    assert (link.label, link.query_string) == (
        f"↻ Re-run {agent} ({asker}), which asked for it",
        address,
    )
    page = form(screen, session, refused)
    assert f"run '{asker}' ({agent}), which asked for it." in text(page, "refusal")
    assert address in [one.proto.query_string for one in page.get("page_link")]


def test_signs_that_cannot_be_seen_are_shown_below_their_field(screen, store):
    asked = "Refund \u202eCBA\u202c, please"
    session = run_once(store, load_flow("support").flow, asked, source="support").session_id
    page = form(screen, session, "h1")

    assert text(page, "signs task") == (
        "With the signs that cannot be seen: Refund U+202E CBA U+202C , please"
    )
    typed(page, "Task", "Refund CBA, please", "text_area")
    assert not [one for one in page.get("bidi_component") if one.proto.id.endswith("-signs task")]


def test_reruns_whose_answers_can_be_taken_over_say_what_was_changed_for_them(
    screen, store, cut_off
):
    for edits in (Edits(), Edits(inputs={"customer_id": "4812"})):
        rerun_handoff(
            store, cut_off, RerunOrder(handoff_id="h2", mode=Mode.LIVE_READS, edits=edits)
        )
    page = typed(form(screen, cut_off), "How much is real", "continue", "radio")

    assert field(page, "selectbox", "Take over the answers of").options == [
        "no re-run: it is run anew",
        "attempt 2: Live reads, limit_reached",
        "attempt 3: Live reads, ok · inputs.customer_id = 4812",
    ]


def test_the_mode_that_is_chosen_says_what_it_does(screen, cut_off):
    page = form(screen, cut_off)
    before = text(page, "mode")
    typed(page, "How much is real", "verify", "radio")

    assert before == "The model is asked. Tools and workers answer as recorded. Nothing is written."
    assert text(page, "mode").startswith("Nobody is asked: every answer is the recorded one")


def start_button(page):
    return next(one for one in page.button if one.label == "Run it again")


def started(page):
    """Press the button, and wait for what it started."""
    start_button(page).click()
    page.run()
    joined("rerun-")
    return page


def runs(store, session):
    with closing(open_reader(store)) as db:
        return [row["session_id"] for row in attempt_rows(db, session)][1:]


def test_the_form_shows_what_was_recorded_and_what_it_will_take(screen, cut_off):
    page = form(screen, cut_off)

    assert text(page, "subject").startswith("Run billing (h2) again recorded as limit_reached")
    assert field(page, "text_input", "Input customer_id").value == "5120"
    assert field(page, "number_input", "Most steps").value == 6
    assert text(page, "plan") == (
        "What it will take 6 model calls, about 5,915 tokens if it goes as it went "
        "6 recorded answers taken over What is changed Nothing: the same question is put again."
    )
    assert not start_button(page).disabled
    assert page.code[-1].value.startswith(f"handoff rerun {cut_off} h2 --mode what-if")


def test_a_change_is_named_counted_and_written_as_a_command_line(screen, cut_off):
    page = typed(form(screen, cut_off), "Input customer_id", "4812")
    page = typed(page, "How much is real", "live-reads", "radio")
    page = typed(page, "How many times", 3, "number_input")

    assert "inputs.customer_id = 4812" in text(page, "plan")
    assert "18 model calls, about 17,745 tokens" in text(page, "plan")
    assert "--mode live-reads" in page.code[-1].value
    assert "--set 'inputs.customer_id=\"4812\"' --db" in page.code[-1].value
    assert page.code[-1].value.endswith("--times 3")


@pytest.mark.parametrize(
    ("kind", "label", "value", "key", "sentence"),
    [
        ("text_area", "Task", "two\nlines", "task", "The task has several lines; say it in one"),
        ("text_area", "Task", "", "task", "The task is empty; say in one sentence what is"),
        (
            "text_area", "Further inputs, a line each: name = value", "month", "more_inputs",
            "'month' is no `name = value`.",
        ),
        ("number_input", "Most steps", 0, "limits.max_steps", "Type a number above 0."),
        ("number_input", "Deadline, seconds", -1.0, "limits.deadline_seconds", "Type a number abo"),
        ("text_input", "Model", "gpt:x", "model", "Agent 'billing' wants the model 'gpt:x'; there"),
        ("text_input", "Model", "openai:m?temprature=1", "model", "unknown setting 'temprature'"),
        ("number_input", "How many times", 0, "", "It runs 1 to 100 times; type such a number."),
    ],
)  # fmt: skip
def test_what_is_wrong_is_said_at_its_field_and_nothing_starts(
    screen, store, cut_off, kind, label, value, key, sentence
):
    page = typed(form(screen, cut_off), label, value, kind)

    if key:
        assert sentence in text(page, f"problem {key}")
    assert sentence in text(page, "plan")
    assert text(page, "plan").startswith("This cannot start yet")
    if label in ("Most steps", "Deadline, seconds"):
        assert f"{label}: Type a number above 0. (Tools and limits)" in text(page, "plan")
    assert start_button(page).disabled
    assert not any(code.value.startswith("handoff rerun") for code in page.code)
    assert runs(store, cut_off) == []


def test_what_is_typed_last_is_checked_too_when_the_button_is_pressed_at_once(
    screen, store, cut_off
):
    page = form(screen, cut_off)
    field(page, "text_area", "Task").set_value("two\nlines")
    started(page)

    assert "The task has several lines" in text(page, "problem task")
    assert runs(store, cut_off) == []


def test_a_pretended_result_has_to_be_json(screen, store, cut_off):
    page = typed(
        form(screen, cut_off), "Pretend that these returned something else", ["2.0"], "multiselect"
    )
    area = next(one for one in page.text_area if one.label.endswith("returned"))
    assert '"payments"' in area.value
    area.set_value('{"payments": []').run()

    assert text(page, "problem tool_results.2.0").startswith("✕ That is no JSON.")
    assert "Result of step 2: That is no JSON." in text(page, "plan")
    assert start_button(page).disabled
    area = next(one for one in page.text_area if one.label.endswith("returned"))
    area.set_value('{"payments": [], "next_page": null}').run()
    assert "pretended result of 2.0 = " in text(page, "plan")
    assert not start_button(page).disabled


def test_what_is_not_read_is_said_before_it_runs(screen, cut_off):
    page = form(screen, cut_off)
    assert text(page, "rules") == "This worker follows rules; it does not read its prompt."

    area = next(one for one in page.text_area if one.label.startswith("Instructions of"))
    area.set_value("Be brief.").run()

    assert "billing follows rules; it does not read its prompt, so this changes nothing." in text(
        page, "plan"
    )
    assert "another prompt: Be brief." in text(page, "plan")


def test_it_starts_what_the_form_says_and_the_original_stays_as_it_was(screen, store, cut_off):
    page = typed(form(screen, cut_off), "Most steps", 20, "number_input")
    page = typed(page, "Most tokens", 40_000, "number_input")
    page = typed(page, "How much is real", "live-reads", "radio")
    assert "at most 20 steps and 40,000 tokens each, by its limits" in text(page, "plan")

    started(page)

    (run,) = runs(store, cut_off)
    with closing(open_reader(store)) as db:
        (_, made) = attempt_rows(db, cut_off)
    assert (made["outcome"], made["rerun_mode"]) == ("ok", "live-reads")
    sides = screen("side_by_side", left=cut_off, right=run, handoff="h2")
    assert "They first part at billing (t1/2.0)" in text(sides, "sides_head")
    line = text(sides, "attempts_line")
    assert line == "Attempts 1 original limit_reached 2 live reads ok"


def test_while_it_runs_the_page_says_so_and_then_shows_the_comparison(screen, cut_off):
    page = started(typed(form(screen, cut_off), "How much is real", "verify", "radio"))
    if "left" not in page.query_params:  # it was still under way, and the page said so
        assert "runs again …" in text(page, "running")
        page.run()

    assert not page.exception
    assert text(page, "sides_head").startswith("attempt 1 original limit_reached")
    assert "Nothing differs but what the runs took." in text(page, "sides_head")


GATED = """
import pathlib
from handoff_console.runtime import Agent, Flow, say

first = pathlib.Path(__file__).with_name("first")

def waits(call):
    if first.exists():
        return say(pathlib.Path(__file__).with_name("gate").read_text())
    first.touch()
    return say("at once")

flow = Flow("gated", [Agent("porter", model=waits)])
"""


def test_while_it_runs_the_page_says_which_handoff_runs_again_and_with_what_change(
    screen, store, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "gated.py").write_text(GATED)
    os.mkfifo(tmp_path / "gate")  # whoever reads it waits until somebody writes
    monkeypatch.setenv("HANDOFF_FLOWS", '["gated.py:flow"]')
    flow = load_flow("gated.py:flow").flow
    session = run_once(store, flow, "Open it", source="gated.py:flow").session_id
    page = typed(form(screen, session, "h1"), "Most steps", 5, "number_input")

    start_button(page).click()
    page.run()
    said = text(page, "running")
    (tmp_path / "gate").write_text("later")
    joined("rerun-")
    page.run()

    assert said.startswith("porter (h1) runs again … ")
    assert said.endswith(
        "What if: The model is asked. Tools and workers answer as recorded. "
        "Nothing is written. Changed: limits.max_steps = 5."
    )
    assert "attempt 2 what if ok" in text(page, "sides_head")


def test_a_run_that_was_over_before_somebody_came_leads_to_its_comparison(screen, store, cut_off):
    order = RerunOrder(handoff_id="h2", mode=Mode.VERIFY)
    run = rerun_handoff(store, cut_off, order).runs[0].session_id

    page = screen("rerun", session=cut_off, handoff="h2", run=run)

    assert start_button(page)
    (link,) = [one.proto for one in page.get("page_link") if "compare it" in one.proto.label]
    assert link.label == "⇄ What was started here is over: compare it"
    assert link.query_string == f"left={cut_off}&right={run}&handoff=h2"


def test_what_hindered_a_start_is_said_once_and_not_when_it_is_mended(
    screen, store, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "gated.py"
    path.write_text(GATED)
    monkeypatch.setenv("HANDOFF_FLOWS", '["gated.py:flow"]')
    flow = load_flow("gated.py:flow").flow
    session = run_once(store, flow, "Open it", source="gated.py:flow").session_id
    page = form(screen, session, "h1")

    path.write_text(f"{GATED}\ndef broken(:")
    start_button(page).click()
    page.run()
    assert "could not be imported (SyntaxError: invalid syntax)" in text(page, "plan")
    shown = [one.proto.id for one in page.get("bidi_component")]
    assert not [one for one in shown if one.endswith("-problem")]
    path.write_text(f"{GATED}\n# mended")
    page.run()

    assert text(page, "plan").startswith("What it will take")
    shown = [one.proto.id for one in page.get("bidi_component")]
    assert not [one for one in shown if one.endswith("-problem")]


def test_a_flow_that_nobody_named_is_not_loaded(screen, store, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    mailbox(tmp_path)
    flow = load_flow("mail.py:flow").flow
    session = run_once(store, flow, "note it", source="mail.py:flow").session_id

    said = text(screen("rerun", session=session, handoff="h1"), "refusal")
    assert said.startswith("h1 cannot be run again here")
    assert '--flow "mail.py:flow"' in said
    monkeypatch.setenv("HANDOFF_FLOWS", '["mail.py:flow"]')

    page = form(screen, session, "h1")
    here = tmp_path / "mail.py"
    line = f"handoff rerun {session} h1 --mode what-if --flow {here}:flow --db {store}"
    assert page.code[-1].value == line
    assert [one.label for one in page.multiselect][-3:] == [
        "Let these act again (mode Live; each asks you first)",
        "Pretend that a person said no to these",
        "Pretend that these returned something else",
    ]


def test_what_was_left_out_of_the_record_is_asked_for(screen, store, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    mailbox(tmp_path)
    monkeypatch.setenv("HANDOFF_FLOWS", '["mail.py:flow"]')
    flow = load_flow("mail.py:flow").flow
    said = "note card number 4111 1111 1111 1111"
    session = run_once(store, flow, said, source="mail.py:flow").session_id

    page = form(screen, session, "h1")

    assert "The task holds a value that was left out of the record" in text(page, "problem task")
    assert start_button(page).disabled
    page = typed(page, "Task", "note nothing", "text_area")
    assert not start_button(page).disabled
    page = form(screen, session, "h1")
    marks = "Let the marks be read where values were left out of the record"
    next(one for one in page.checkbox if one.label == marks).check()
    page.run()
    assert not start_button(page).disabled
    assert " --leave-marks " in page.code[-1].value
    page = typed(form(screen, session, "h1"), "How much is real", "verify", "radio")
    assert not start_button(page).disabled


@pytest.fixture
def noting(screen, store, tmp_path, monkeypatch):
    """The form for a handoff that wrote a note."""
    monkeypatch.chdir(tmp_path)
    mailbox(tmp_path)
    monkeypatch.setenv("HANDOFF_FLOWS", '["mail.py:flow"]')
    flow = load_flow("mail.py:flow").flow
    session = run_once(store, flow, "note it", source="mail.py:flow").session_id
    return form(screen, session, "h1")


def test_an_armed_act_is_announced(noting):
    page = noting
    label = "Let these act again (mode Live; each asks you first)"
    page = typed(page, label, ["note"], "multiselect")
    assert text(page, "problem armed").startswith("✕ Only the mode `live` acts again")

    page = typed(page, "How much is real", "live", "radio")
    assert "Done again, each after your yes: note" in text(page, "plan")


def test_a_pretended_no_stands_in_the_command_and_in_what_is_changed(noting):
    page = noting

    page = typed(page, "Pretend that a person said no to these", ["note"], "multiselect")

    assert "--deny note" in page.code[-1].value
    assert "a person says no to: note" in text(page, "plan")


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ({"session": "nobody", "handoff": "h1"}, "There is no session 'nobody' in this store."),
        ({"session": recorded.FAILED}, "No handoff is selected."),
    ],
)
@pytest.mark.usefixtures("sessions")
def test_without_a_handoff_the_page_leads_back(screen, query, said):
    page = screen("rerun", **query)

    assert not page.exception
    assert text(page, "missing") == said


@pytest.mark.parametrize("handoff", ["h5", "h99", "<b>"])
@pytest.mark.usefixtures("sessions")
def test_what_cannot_be_run_again_says_why(screen, handoff):
    page = screen("rerun", session=recorded.FAILED, handoff=handoff)

    assert not page.exception
    assert "cannot be run again here" in text(page, "refusal")


def test_a_rerun_of_a_session_says_what_it_repeats(screen, store, cut_off):
    edits = Edits(inputs={"customer_id": "4812"})
    order = RerunOrder(handoff_id="h2", mode=Mode.LIVE_READS, edits=edits)
    (run,) = rerun_handoff(store, cut_off, order).runs

    page = screen("session", session=run.session_id)

    assert not page.exception
    assert text(page, "rerun_banner") == (
        f"Live reads: h2 of session {cut_off} again. Changed: inputs.customer_id = 4812. "
        "compare with it open the original"
    )
    assert text(page, "attempts_line").startswith("Attempts 1 original limit_reached 2 live reads")
    original = screen("session", session=cut_off, handoff="h2")
    assert text(original, "attempts_line").startswith("Attempts 1 original limit_reached 2 live")
    other = screen("session", session=cut_off, handoff="h3")
    assert "attempts_line" not in str([e.proto.id for e in other.get("bidi_component")])
