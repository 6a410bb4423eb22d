"""What is said of a flow that is not the one that was recorded any more."""

from contextlib import closing, contextmanager

import pytest
from support.earlier import without_rules
from support.shops import shop

from handoff_console.console.commands.flows import adjusted, load_flow
from handoff_console.console.commands.recorded_flows import flow_for
from handoff_console.console.commands.rerun_orders import RerunOrder
from handoff_console.console.commands.rerunning import rerun_handoff
from handoff_console.console.commands.running import run_once
from handoff_console.runtime.rerun_player import Mode
from handoff_console.store.db import open_reader
from handoff_console.store.recordings import recording_of

FLOW = "shop.py:flow"


@pytest.fixture
def recording(tmp_path, monkeypatch):
    """A session of the flow as it was."""
    monkeypatch.chdir(tmp_path)
    shop(tmp_path)
    store = tmp_path / "handoff.db"
    result = run_once(store, load_flow(FLOW).flow, "Why twice?", source=FLOW)
    db = open_reader(store)
    yield recording_of(db, result.session_id)
    db.close()


def changed(tmp_path, recording, *changes):
    path = shop(tmp_path, *changes)
    return flow_for(recording, f"{path.rename(tmp_path / 'changed.py')}:flow")


@pytest.mark.parametrize(
    ("was", "now", "said"),
    [
        (
            'return [{"id": "i1"',
            'return [{"id": "i3"',
            ["the tool 'invoices' of 'billing' has another source"],
        ),
        ("tools=[Tool(invoices)], ", "", ["the tool 'invoices' of 'billing' is gone"]),
        (
            "Tool(invoices)",
            "Tool(invoices, approval=True)",
            ["the tool 'invoices' of 'billing' has another need of a yes"],
        ),
        (
            "Tool(invoices)",
            'Tool(invoices, description="All.", remembers="id", approval_seconds=9)',
            [
                "the tool 'invoices' of 'billing' has another time for a yes, list of what is "
                "remembered and description"
            ],
        ),
        (
            "About money.",
            "Money.",
            ["the description of the transfer 'triage' → 'billing' is another one"],
        ),
        (
            "customer: str\n",
            'customer: str = ""\n',
            ["the payload of the transfer 'triage' → 'billing' is another one"],
        ),
        ("total: int", "total: float", ["the schema 'Receipt' is another one"]),
        ('"Check.", ', '"Check.", examples=["i2?"], ', ["the examples of 'checker' are others"]),
        ('"Check.", ', '"Check.", may_write=True, ', ["'checker' may write now"]),
        ('"Check.", ', '"Check.", trust=3, ', ["the trust of 'checker' is another one"]),
        ('"shop",', '"store",', ["the flow is called 'store', and was called 'shop'"]),
        (
            '"Check.", model=checker, output_schema="Receipt"),',
            '"Check.", model=checker, output_schema="Receipt"), Agent("more", model=checker),',
            ["agent 'more' is new"],
        ),
        (
            'Edge.call("checker", "To be sure.", limits=Limits(max_tokens=3_000)),',
            "",
            ["the call 'billing' → 'checker' is gone"],
        ),
        (
            'edges=[\n            Edge.transfer("billing"',
            'edges=[\n            Edge.call("checker"), Edge.transfer("billing"',
            ["the call 'triage' → 'checker' is new, and not offered here"],
        ),
        (
            '"checker"',
            '"tester"',
            [
                "the call 'billing' → 'checker' is gone",
                "the call 'billing' → 'tester' is new, and not offered here",
                "agent 'tester' is new",
                "agent 'checker' is gone",
            ],
        ),
    ],
)
def test_what_a_flow_cannot_have_as_it_was_is_told(tmp_path, recording, was, now, said):
    found = changed(tmp_path, recording, (was, now))

    assert (found.changes, list(found.kept)) == (said, [])


@pytest.mark.parametrize(
    ("was", "now", "kept"),
    [
        ('"Bill."', '"Bill well."', "the prompt of billing"),
        ("max_tokens=3_000", "max_tokens=2_000", "the limits of billing → checker"),
        (
            "payload=Case",
            'payload=Case, context="full_history"',
            "the context policy of triage → billing",
        ),
        ("payload=Case", 'payload=Case, return_to="triage"', "the return_to of triage → billing"),
        ("payload=Case", 'payload=Case, fields=["customer"]', "the fields of triage → billing"),
        ("payload=Case", "payload=Case, allowed_tools=()", "the allowed tools of triage → billing"),
        ('Edge.call("checker"', 'Edge.transfer("checker"', "the kind of billing → checker"),
        (', output_schema="Receipt"', "", "the output schema of checker"),
        ('"shop",', '"shop", pool_tokens=20_000,', "its pool"),
        ('"shop",', '"shop", limits=Limits(max_steps=1),', "its limits"),
        ('"shop",', '"shop", max_result_bytes=10,', "its max_result_bytes"),
        ('"shop",', '"shop", start="billing",', "its start"),
        ('"shop",', '"shop", aggregator="checker",', "its aggregator"),
    ],
)
def test_what_a_record_holds_as_data_is_as_it_was(tmp_path, recording, was, now, kept):
    found = changed(tmp_path, recording, (was, now))

    assert ([one.what for one in found.kept], found.changes) == ([kept], [])
    assert found.flow.snapshot == load_flow(f"{shop(tmp_path)}:flow").flow.snapshot


CHECKED = (
    "mine = Rules(",
    "MOST = 500\n\n\ndef sensible(request):\n    return None\n\n\n"
    "def below(most):\n    return lambda request: None if most else 'no'\n\n\nmine = Rules(",
)
ENTRANCE = (
    'Agent("checker", "Check.",',
    'Agent("checker", "Check.", ingress=[sensible, below(3)],',
)


@contextmanager
def recorded_with(folder, checks):
    """Give the record of a session whose checker has checks at its entrance."""
    shop(folder, checks, ENTRANCE)
    store = folder / "handoff.db"
    ran = run_once(store, load_flow(FLOW).flow, "Why twice?", source=FLOW)
    with closing(open_reader(store)) as db:
        yield recording_of(db, ran.session_id)


@pytest.mark.parametrize(
    ("was", "now", "said"),
    [
        ("    return None\n", "    return ''\n", ["sensible", "has another source"]),
        ("    return None\n", "    return MOST > 1\n", ["sensible", "has another source"]),
        ("below(3)", "below(4)", ["<lambda>", "has another source"]),
        ("sensible, below(3)", "below(3)", ["sensible", "is gone"]),
        (
            "sensible, below",
            "sensible, lambda request: '', below",
            ["<lambda>", "has another source"],
        ),
        ("[sensible, below(3)]", "[below(3), sensible]", []),
        ("[sensible, below(3)]", "[below(3), sensible, print]", ["print", "is new"]),
    ],
)
def test_another_check_of_what_comes_in_is_told(tmp_path, monkeypatch, was, now, said):
    monkeypatch.chdir(tmp_path)

    with recorded_with(tmp_path, CHECKED) as recording:
        same = changed(tmp_path, recording, CHECKED, ENTRANCE)
        found = changed(tmp_path, recording, CHECKED, ENTRANCE, (was, now))

    assert same.changes == []
    expected = [f"the ingress check {said[0]!r} of 'checker' {said[1]}"] if said else []
    assert (found.changes, list(found.kept)) == (expected, [])


def test_a_constant_that_a_check_reads_is_told_when_it_changes(tmp_path, monkeypatch):
    reads = CHECKED[0], CHECKED[1].replace("return None\n", "return None if MOST else 'no'\n")
    monkeypatch.chdir(tmp_path)

    with recorded_with(tmp_path, reads) as recording:
        found = changed(tmp_path, recording, reads, ENTRANCE, ("MOST = 500", "MOST = 300"))

    assert found.changes == ["the ingress check 'sensible' of 'checker' has another source"]


def test_other_redaction_rules_are_told(tmp_path, recording):
    found = changed(
        tmp_path,
        recording,
        ("Limits, Rules", "Limits, Redaction, Rules"),
        ('"shop",', '"shop", redaction=Redaction(keys=frozenset({"customer"})),'),
    )

    assert found.changes == [
        "the redaction rules differ from the recorded ones: by now they leave out 'customer' too, "
        "and no longer 'access_key', 'access_token' and 40 more names"
    ]
    assert list(found.kept) == []


def test_what_an_earlier_record_does_not_tell_is_not_told_to_have_changed(tmp_path, recording):
    without_rules(tmp_path / "handoff.db")
    with closing(open_reader(tmp_path / "handoff.db")) as db:
        earlier = recording_of(db, recording.session_id)
        found = changed(
            tmp_path,
            earlier,
            CHECKED,
            ENTRANCE,
            ("Limits, Rules", "Limits, Redaction, Rules"),
            ('"shop",', '"shop", redaction=Redaction.off(),'),
            ("Tool(invoices)", 'Tool(invoices, remembers="id")'),
        )

    assert (found.changes, found.tells_rules) == ([], False)
    assert flow_for(recording, f"{shop(tmp_path)}:flow").tells_rules is False


def test_nothing_is_said_of_a_flow_that_is_the_same(tmp_path, recording):
    found = changed(tmp_path, recording)

    assert (list(found.changes), list(found.kept), list(found.other_models)) == ([], [], [])


def test_the_pool_that_a_rerun_had_of_its_own_is_no_change_of_the_flow(tmp_path, recording):
    store = tmp_path / "handoff.db"
    order = RerunOrder(handoff_id="h2", mode=Mode.WHAT_IF, named=FLOW)
    alone = rerun_handoff(store, recording.session_id, order).runs[0].session_id

    with closing(open_reader(store)) as db:
        found = flow_for(recording_of(db, alone), FLOW)

    assert (list(found.changes), list(found.kept)) == ([], [])


def test_what_a_prompt_version_said_is_no_change_of_the_flow(tmp_path, recording):
    folder = tmp_path / "prompts" / "v2"
    folder.mkdir(parents=True)
    (folder / "billing.md").write_text("---\nhandoff_description: Charges.\n---\nBill well.\n")
    store = tmp_path / "handoff.db"
    loaded = load_flow(FLOW)

    ran = run_once(store, adjusted(loaded, prompts="v2"), "Why twice?", source=FLOW)
    db = open_reader(store)

    found = flow_for(recording_of(db, ran.session_id), FLOW)
    db.close()

    assert found.flow.agent("billing").prompt == "Bill well."
    assert (list(found.changes), list(found.kept)) == ([], [])
