"""`handoff rerun` with a flow that was changed after the session: said before anything runs."""

import json

import pytest
from support.earlier import without_rules
from support.mailboxes import mailbox, sent
from support.shops import shop
from support.tills import with_till

pytestmark = pytest.mark.acceptance

FLOW = ("--flow", "shop.py:flow")
MESSAGE = "Why twice? It is about money."


@pytest.fixture
def session(handoff, folder) -> str:
    """Run it as it was, and return the session's id."""
    return ran(handoff, folder)


def ran(handoff, folder, *options, message=MESSAGE) -> str:
    shop(folder)
    form = handoff("run", "shop.py:flow", "--message", message, *options, "--json").out
    return str(json.loads(form)["session_id"])


CHANGED = (
    ("About money.", "Money."),
    ('Agent("checker", "Check."', 'Agent("checker", "Check well."'),
    ("max_tokens=3_000", "max_tokens=1"),
)
SAID = [
    "This flow is not quite the one that was recorded:",
    "  the description of the transfer 'triage' → 'billing' is another one",
]


def test_what_is_other_about_an_edge_stands_in_the_plan_and_before_the_run(
    handoff, folder, session
):
    shop(folder, *CHANGED)
    words = ("rerun", session, "h2", *FLOW, "--mode", "live-reads")
    plan, done = handoff(*words, "--plan"), handoff(*words)

    assert plan.out.splitlines()[:2] == SAID
    assert done.err.splitlines()[:2] == SAID
    assert "✓ ok             the same result" in done.out


RULES = (
    ("Limits, Rules", "Limits, Redaction, Rules"),
    ('"shop",', '"shop", redaction=Redaction(patterns=False),'),
)
CHECKED = ('Agent("checker", "Check.",', 'Agent("checker", "Check.", ingress=[print],')


def test_other_redaction_rules_and_checks_stand_in_the_plan_of_every_mode_that_asks(
    handoff, folder, session
):
    shop(folder, *RULES, CHECKED)

    for mode in ("what-if", "live-reads", "live", "continue"):
        plan = handoff("rerun", session, "h2", *FLOW, "--mode", mode, "--plan").out
        assert " ".join(plan.split()).startswith(
            "This flow is not quite the one that was recorded: the ingress check 'print' of "
            "'checker' is new the redaction rules differ from the recorded ones: by now they "
            "no longer leave out what has the form of a secret"
        )


def test_what_an_earlier_record_does_not_tell_is_said_where_somebody_is_asked(
    handoff, folder, session
):
    without_rules(folder / "handoff.db")
    shop(folder, *RULES, CHECKED)
    words = ("rerun", session, "h2", *FLOW, "--mode")
    plan = " ".join(handoff(*words, "what-if", "--plan").out.split())

    assert (
        "By which redaction rules, ingress checks and tries of a model it went is not in this "
        "record; those of the flow count." in plan
    )
    assert "not quite the one" not in plan
    assert "By which redaction" not in handoff(*words, "verify", "--plan").out
    assert "the same result" in handoff(*words, "verify").out


def test_what_is_as_it_was_recorded_is_named_where_somebody_is_asked(handoff, folder, session):
    shop(folder, *CHANGED)
    plan = handoff("rerun", session, "h2", *FLOW, "--mode", "live-reads", "--plan").out
    alone = handoff("rerun", session, "h2", *FLOW, "--mode", "what-if", "--plan").out

    said = "It runs as it was recorded, not as the flow says now: "
    new = "What is new in the flow is tried by running it anew."
    assert f"{said}the limits of billing → checker and the prompt of checker. {new}" in " ".join(
        plan.split()
    )
    assert f"{said}the limits of billing → checker. {new}" in " ".join(alone.split())
    assert "It runs as it was" not in handoff("rerun", session, "h2", *FLOW, "--plan").out


def test_a_prompt_that_is_given_is_not_said_to_be_the_recorded_one(handoff, folder, session):
    shop(folder, ('"Bill."', '"Bill well."'))
    (folder / "new.md").write_text("Bill well.")
    words = ("rerun", session, "h2", *FLOW, "--mode", "what-if", "--plan")

    assert "as the flow says now: the prompt of billing." in " ".join(handoff(*words).out.split())
    assert "It runs as it was" not in handoff(*words, "--prompt", "new.md").out


def test_another_model_than_the_flows_own_is_told_before_it_is_asked(handoff, folder):
    session = ran(handoff, folder, "--model", "triage=offline:bm25")
    done = handoff("rerun", session, "h1", *FLOW, "--mode", "what-if")
    verified = handoff("rerun", session, "h1", *FLOW)

    assert (
        "triage asks offline:bm25 as when this was recorded, and not the flow's rules; --model "
        "names another." in " ".join(done.err.split())
    )
    assert "the same result" in verified.out
    assert "bm25" not in verified.err


def test_a_model_that_only_its_program_can_make_is_told_with_what_to_do(handoff, folder):
    session = ran(handoff, folder, "--model", "triage=shop.py:mine")
    words = ("rerun", session, "h1", *FLOW, "--mode", "what-if", "--plan")

    assert (
        "triage asked the model 'mine' when this was recorded, which only its own program can "
        "make, and asks the flow's rules now; name it in a shell with --model FILE.py:NAME to ask "
        "it again." in " ".join(handoff(*words).out.split())
    )
    assert "only its own" not in handoff(*words, "--model", "shop.py:mine").out


def test_a_recorded_session_is_verified_without_the_keys_of_its_models(
    handoff, folder, session, monkeypatch
):
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    shop(folder, ("model=billing", 'model="openai:gpt-4o"'))

    assert "the same result" in handoff("rerun", session, "h1", *FLOW).out
    refused = handoff("rerun", session, "h1", *FLOW, "--mode", "what-if")
    assert "agent 'billing': The model 'openai:gpt-4o' has no key" in refused.err
    assert refused.status == 2


@pytest.mark.parametrize(
    ("limits", "lines"),
    [
        (
            ["max_steps=1"],
            [
                "  1 model call, about 308 tokens if it goes as it went",
                "  at most 1 step and 8,000 tokens each, by its limits",
            ],
        ),
        (
            ["max_tokens=800"],
            [
                "  2 model calls, about 697 tokens if it goes as it went",
                "  at most 6 steps and 800 tokens each, by its limits",
            ],
        ),
        (
            ["max_steps=20", "deadline_seconds=90"],
            [
                "  3 model calls, about 1,152 tokens if it goes as it went",
                "  at most 20 steps, 8,000 tokens and 90.0 s each, by its limits",
            ],
        ),
    ],
)
def test_a_plan_counts_what_lower_limits_let_through(handoff, session, limits, lines):
    options = [word for limit in limits for word in ("--limits", limit)]
    words = ("rerun", session, "h2", *FLOW, "--mode", "what-if", *options)
    plan = handoff(*words, "--plan").out.splitlines()

    assert plan[1:3] == lines
    form = json.loads(handoff(*words, "--json").out)
    assert form["live_model_calls"] == int(lines[0].split()[0])


def test_a_tool_that_acts_by_now_is_not_counted_as_one_that_only_reads(handoff, folder, session):
    words = ("rerun", session, "h2", *FLOW, "--mode", "live", "--plan")
    before = handoff(*words).out
    shop(
        folder,
        ("Tool(invoices)", 'Tool(invoices, effect="write")'),
        ('"Bill.", ', '"Bill.", may_write=True, '),
    )
    acts = handoff(*words).out
    shop(folder, ("tools=[Tool(invoices)], ", ""))

    assert "  1 tool call that only reads\n" in before
    assert "only read" not in acts
    assert "  not done again, answered as recorded: invoices\n" in acts
    assert "only read" not in handoff(*words).out


def test_a_continued_session_counts_what_a_changed_flow_may_ask(handoff, folder, session):
    shop(folder, ("tools=[Tool(invoices)], ", ""))
    plan = handoff("rerun", session, "h1", *FLOW, "--mode", "continue", "--plan").out

    assert plan.splitlines()[2:] == [
        "triage (h1) again, continue; recorded as ok",
        "  no model call",
        "  5 further model calls where the flow now asks otherwise, if it goes as it went",
        "  at most 6 recorded answers taken over",
    ]


@pytest.mark.parametrize("changed", [(), (("payload=Case", 'fields=["customer"]'),)])
def test_an_input_that_is_removed_again_on_its_way_is_told(handoff, folder, session, changed):
    shop(folder, *changed)
    words = ("rerun", session, "h2", *FLOW, "--set", "inputs.api_key=abc", "--plan", "--mode")
    said = (
        "inputs.api_key is removed again on the way to billing, as redaction and the edge's fields "
        "say; what-if asks with what was set."
    )

    assert said in " ".join(handoff(*words, "continue").out.split())
    assert "removed again" not in handoff(*words, "what-if").out


def test_a_tool_that_is_gone_is_not_called_and_that_is_said_before(handoff, folder, session):
    shop(folder, ("tools=[Tool(invoices)], ", ""))
    words = ("rerun", session, "h2", *FLOW)
    done, verified = handoff(*words, "--mode", "live-reads"), handoff(*words)

    assert "\n  the tool 'invoices' of 'billing' is gone\n" in done.err
    assert "its request has another allowed_tools" in done.out
    assert (verified.status, "its request has another allowed_tools" in verified.out) == (1, True)
    said = (
        "This flow is not quite the one that was recorded:\n  the tool 'invoices' of 'billing' is"
    )
    assert said in verified.out
    assert "not quite" not in verified.err


def test_a_schema_that_is_gone_has_to_be_replaced(handoff, folder, session):
    changes = (', output_schema="Receipt"', ""), ('    schemas={"Receipt": Receipt},\n', "")
    shop(folder, *changes)
    words = ("rerun", session, "h3", *FLOW, "--mode", "what-if")

    assert handoff(*words).err == (
        "handoff: The schema 'Receipt', which it had to answer with, is gone from the flow; say "
        "another one (--output-schema): Text.\n"
    )
    assert "the schema 'Receipt' is gone" in handoff(*words, "--output-schema", "Text").err


def test_the_figures_of_a_comparison_stand_in_a_column_of_their_own(handoff, session):
    done = handoff("rerun", session, "h2", *FLOW, "--mode", "what-if")

    assert "\n  calls that ran 5 → 3  (−2)\n" in done.out


def test_a_rerun_that_waits_does_not_go_on_with_a_model_that_cannot_be_asked(
    handoff, folder, monkeypatch
):
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    path, flow = mailbox(folder), ("--flow", "mail.py:flow")
    form = handoff("run", "mail.py:flow", "--message", "note it", "--json").out
    words = ("h1", *flow, "--mode", "live", "--arm", "note", "--json")
    done = handoff("rerun", json.loads(form)["session_id"], *words)
    waits = json.loads(done.out)["runs"][0]["session_id"]
    handoff("approve", waits)
    path.write_text(path.read_text().replace("model=clerk", 'model="openai:gpt-4o"'))

    refused = handoff("resume", waits, *flow)

    assert "agent 'clerk': The model 'openai:gpt-4o' has no key" in refused.err
    assert (refused.status, sent(folder)) == (2, ["noted this"])


def test_a_re_run_that_waits_does_not_go_on_without_its_agent(handoff, folder):
    till = with_till(folder)
    flow = ("--flow", "till.py:flow")
    run = handoff(
        "run", "till.py:flow", "--message", "Charge A-1 to 0000 0000 0000 0001.", "--json"
    )
    words = ("rerun", json.loads(run.out)["session_id"], "h1", *flow, "--mode", "live", "--json")
    form = handoff(*words, "--arm", "charge").out
    waiting = json.loads(form)["runs"][0]["session_id"]
    handoff("approve", waiting, "--no")
    till.write_text(till.read_text().replace('"clerk", model', '"teller", model'))

    done = handoff("resume", waiting, *flow)

    assert done.status == 2
    assert done.err == (
        "handoff: The flow 'till' has no agent 'clerk', who did this handoff; it has: teller.\n"
    )
