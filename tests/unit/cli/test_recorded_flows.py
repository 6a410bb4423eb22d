"""Which flow, and which models, a recorded session is gone on with."""

import sqlite3
from contextlib import closing
from copy import deepcopy
from dataclasses import replace

import pytest
from support.mailboxes import mailbox

from handoff_console.console.commands.errors import CannotGoOn, FlowNotNamed
from handoff_console.console.commands.flows import Models, load_flow
from handoff_console.console.commands.recorded_flows import check_models, flow_for
from handoff_console.console.commands.rerun_orders import RerunOrder, prepare
from handoff_console.console.commands.rerun_start import start_of
from handoff_console.console.commands.running import run_once
from handoff_console.runtime.rerun_player import Mode
from handoff_console.store.db import open_reader
from handoff_console.store.recordings import recording_of


@pytest.fixture
def recording(tmp_path, monkeypatch):
    """Return a function that runs a flow once and returns its recording."""
    monkeypatch.chdir(tmp_path)
    opened = []

    def recorded(name, message, **changes):
        loaded = load_flow(name)
        store = tmp_path / "handoff.db"
        result = run_once(store, loaded.flow.changed(**changes), message, source=loaded.source)
        db = open_reader(store)
        opened.append(db)
        return recording_of(db, result.session_id)

    yield recorded
    for db in opened:
        db.close()


def test_a_sample_is_known_by_its_name(recording):
    found = flow_for(recording("support", "Why was I charged twice last month?"))

    assert (found.source, found.flow.name, found.changes) == ("support", "support", [])


def test_the_limits_of_the_recording_hold(recording):
    found = flow_for(recording("frontdesk", "I need a refund", pool_tokens=12_345, max_handoffs=1))

    assert (found.flow.pool_tokens, found.flow.max_handoffs) == (12_345, 1)


def test_a_file_is_not_imported_because_a_record_names_it(recording, tmp_path):
    mailbox(tmp_path)
    so_far = recording("mail.py:flow", "note it")
    (tmp_path / "mail.py").write_text("raise SystemExit('it was imported')")

    with pytest.raises(FlowNotNamed) as refused:
        flow_for(so_far)

    assert str(refused.value).endswith(
        "ran the flow 'mail' of 'mail.py:flow'; name it as path/to/file.py:name (--flow in a "
        "shell) to run that code again, since none is run because a record says so."
    )


def test_another_prompt_in_the_file_is_not_used(recording, tmp_path):
    path = mailbox(tmp_path)
    so_far = recording("mail.py:flow", "note it")
    path.write_text(path.read_text().replace("Write letters.", "Write poems."))

    found = flow_for(so_far, "mail.py:flow")

    assert found.flow.agents_by_name["clerk"].prompt == "Write letters."


@pytest.mark.parametrize(
    "body",
    [
        [1, 2],
        {"agents": [{"name": 3, "tools": 7}], "prices": [1], "content": ""},
        {"agents": "triage", "content": ""},
        None,
    ],
)
def test_a_record_of_another_form_is_a_sentence(recording, body):
    odd = replace(recording("support", "Why was I charged twice?"), body=lambda _: body)

    with pytest.raises(CannotGoOn, match="said has another form than its events say"):
        flow_for(odd)


def test_what_no_edge_lets_through_is_a_sentence_too(recording):
    ran = recording("support", "Why was I charged twice?")
    first = ran.events[0]
    snapshot = deepcopy(ran.body(first.payload.flow_digest))
    snapshot["agents"][0]["edges"][0]["context"] = "everything"
    versioned = first._replace(payload=replace(first.payload, prompt_version="v2"))
    odd = replace(
        ran,
        events=[versioned, *ran.events[1:]],
        body=lambda digest: snapshot if digest == first.payload.flow_digest else ran.body(digest),
    )

    with pytest.raises(CannotGoOn, match=r"has another form than its events say \(ValueError\)"):
        flow_for(odd)


@pytest.mark.parametrize(
    ("part", "value"),
    [
        ("redaction", {"keys": [{}], "patterns": True}),
        ("redaction", {"keys": [1], "patterns": True}),
        ("redaction", {"keys": None, "patterns": True}),
        ("redaction", {"keys": []}),
        ("ingress", 3),
        ("ingress", [{"name": "check"}]),
        ("ingress", ["check"]),
    ],
)
def test_rules_of_another_form_are_a_sentence_too(recording, part, value):
    ran = recording("support", "Why was I charged twice?")
    started = ran.events[0].payload.flow_digest
    snapshot = deepcopy(ran.body(started))
    (snapshot if part in snapshot else snapshot["agents"][0])[part] = value
    odd = replace(ran, body=lambda name: snapshot if name == started else ran.body(name))

    with pytest.raises(CannotGoOn, match="said has another form than its events say"):
        flow_for(odd)


def test_a_request_of_another_form_cannot_be_run_again(recording, tmp_path):
    found = recording("support", "I am customer 5120. Why was I charged twice last month?")
    asked = next(e for e in found.events if e.handoff_id == "h2").payload
    order = RerunOrder(handoff_id="h2", mode=Mode.VERIFY)
    with closing(sqlite3.connect(tmp_path / "handoff.db")) as db, db:
        key = bytes.fromhex(asked.request)
        db.execute("update bodies set content = '[1, 2]' where digest = ?", (key,))

    with closing(open_reader(tmp_path / "handoff.db")) as db:
        for again in (prepare, lambda db, name, order: start_of(db, name, order.handoff_id)):
            with pytest.raises(CannotGoOn, match="said has another form than its events say"):
                again(db, found.session_id, order)


def test_the_same_models_go_on(recording):
    so_far = recording("frontdesk", "I need a refund")
    found = flow_for(so_far)

    check_models(found, so_far, Models())
    with pytest.raises(CannotGoOn) as raised:
        check_models(found, so_far, Models(by_agent={"billing": "offline:bm25"}))
    assert str(raised.value) == (
        f"Agent 'billing' of session {so_far.session_id!r} asked the model 'rules', and would ask "
        "'offline:bm25' from here on; say which one it had with --model billing=SPEC."
    )
