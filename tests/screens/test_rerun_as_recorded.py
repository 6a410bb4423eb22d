"""The form for running a handoff again, where the flow is not the one that was recorded."""

import pytest
from support.earlier import without_rules
from support.seen import text
from support.shops import shop

from handoff_console.console.commands.flows import chosen_models, load_flow
from handoff_console.console.commands.rerun_orders import RerunOrder
from handoff_console.console.commands.rerunning import rerun_handoff
from handoff_console.console.commands.running import run_once
from handoff_console.runtime.edits import Edits
from handoff_console.runtime.rerun_player import Mode

FLOW = "shop.py:flow"


@pytest.fixture
def recorded(store, tmp_path, monkeypatch):
    """Return a function that runs the flow as it was."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HANDOFF_FLOWS", f'["{FLOW}"]')
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)

    def ran(models=()):
        shop(tmp_path)
        flow = load_flow(FLOW).flow
        chosen = chosen_models(flow, models)
        said = "Why twice? It is about money."
        return run_once(store, flow, said, source=FLOW, models=chosen).session_id

    return ran


@pytest.fixture
def form(recorded, screen, tmp_path):
    """Return a function that runs the flow, changes its file, and opens the form for a handoff."""

    def opened(handoff, *changes, models=(), mode="what-if"):
        session = recorded(models)
        shop(tmp_path, *changes)
        page = screen("rerun", session=session, handoff=handoff)
        next(one for one in page.radio if one.label == "How much is real").set_value(mode)
        page.run()
        assert not page.exception
        return page

    return opened


def start(page):
    return next(one for one in page.button if one.label == "Run it again")


def customer(page):
    fields = [*page.text_input, *page.text_area]
    return next(one for one in fields if one.label == "Input customer")


def test_what_is_other_and_what_is_as_it_was_stands_beside_the_button(form):
    changes = ("About money.", "Money."), ("max_tokens=3_000", "max_tokens=1")
    page = form("h2", *changes, mode="live-reads")
    plan = text(page, "plan")

    assert "the description of the transfer 'triage' → 'billing' is another one" in plan
    assert (
        "It runs as it was recorded, not as the flow says now: the limits of billing → checker."
        in plan
    )


def test_another_model_than_the_flows_own_is_told_before_it_is_asked(form):
    page = form("h1", models=["triage=offline:bm25"])

    assert "triage asks offline:bm25 as when this was recorded" in text(page, "plan")


def test_other_redaction_rules_and_checks_stand_beside_the_button(form):
    changes = (
        ("Limits, Rules", "Limits, Redaction, Rules"),
        ('"shop",', '"shop", redaction=Redaction(patterns=False),'),
        ('Agent("checker", "Check.",', 'Agent("checker", "Check.", ingress=[print],'),
    )
    plan = text(form("h2", *changes), "plan")

    assert "the ingress check 'print' of 'checker' is new" in plan
    assert (
        "the redaction rules differ from the recorded ones: by now they no longer leave out what "
        "has the form of a secret" in plan
    )


def test_a_model_of_the_flow_that_is_tried_more_often_by_now_is_told(form):
    def own(tries):
        terms = "from handoff_console.runtime.models import Terms\n"
        mine = f'mine = Rules(triage, name="mine")\nmine.terms = Terms(max_tries={tries})'
        return 'mine = Rules(triage, name="mine")', terms + mine

    page = form("h1", own(3), ("model=triage", "model=mine"), models=["triage=shop.py:mine"])

    assert (
        "triage asks mine otherwise than when this was recorded: max_tries 3 instead of 1; its "
        "own program sets that." in text(page, "plan")
    )


def test_what_an_earlier_record_does_not_tell_is_said_beside_the_button(recorded, screen, store):
    session = recorded()
    without_rules(store)
    page = screen("rerun", session=session, handoff="h2")
    said = (
        "By which redaction rules, ingress checks and tries of a model it went is not in this "
        "record; those of the flow count."
    )

    shown = {}
    for mode in ("what-if", "verify"):
        next(one for one in page.radio if one.label == "How much is real").set_value(mode)
        page.run()
        shown[mode] = said in text(page, "plan")

    assert shown == {"what-if": True, "verify": False}


def test_a_model_that_only_its_program_can_make_is_told_with_what_to_do(form):
    page = form("h1", models=["triage=shop.py:mine"])

    assert "name it in a shell with --model FILE.py:NAME to ask it again." in text(page, "plan")


@pytest.mark.parametrize(
    ("model", "asked"),
    [
        ("shop.py:mine", "the flow's own: rules"),
        ("offline:bm25", "as recorded: offline:bm25"),
        (None, "as recorded: rules"),
    ],
)
def test_the_field_of_the_model_says_which_is_asked_where_it_is_empty(form, model, asked):
    page = form("h1", models=[f"triage={model}"] if model else ())
    field = next(one for one in page.text_input if one.label == "Model")

    assert field.placeholder == asked


def test_a_model_without_a_key_stops_only_what_would_ask_it(form):
    page = form("h2", ("model=billing", 'model="openai:gpt-4o"'))
    assert "The model 'openai:gpt-4o' has no key: set OPENAI_API_KEY" in text(page, "plan")
    assert start(page).disabled

    page = form("h2", ("model=billing", 'model="openai:gpt-4o"'), mode="verify")
    assert not start(page).disabled


def test_an_input_that_is_removed_again_on_its_way_is_told(form):
    page = form("h2", ("payload=Case", "fields=[]"), mode="continue")
    customer(page).set_value("4812")
    page.run()
    assert "removed again" not in text(page, "plan")

    page = form("h2", mode="continue")
    customer(page).set_value("4111 1111 1111 1111")
    page.run()

    assert (
        "inputs.customer is removed again on the way to billing, as redaction and the edge's "
        "fields say; what-if asks with what was set." in text(page, "plan")
    )


def test_what_is_gone_from_the_flow_can_be_left_out_or_replaced(form):
    page = form("h2", ("tools=[Tool(invoices)], ", ""))
    assert "the tool 'invoices' of 'billing' is gone" in text(page, "plan")
    assert not start(page).disabled

    gone = (', output_schema="Receipt"', ""), ('    schemas={"Receipt": Receipt},\n', "")
    page = form("h3", *gone)
    assert "answer as = Text" in text(page, "plan")
    assert not start(page).disabled


def test_the_estimate_counts_what_lower_limits_let_through(form):
    page = form("h2")
    field = next(one for one in page.number_input if one.label == "Most steps")
    field.set_value(1)
    page.run()

    assert "1 model call, about 308 tokens" in text(page, "plan")


def test_the_search_for_what_flips_it_says_what_is_other_about_the_flow(
    recorded, screen, store, tmp_path
):
    session = recorded()
    limits = Edits(limits={"max_steps": 1})
    order = RerunOrder(handoff_id="h2", mode=Mode.WHAT_IF, edits=limits, named=FLOW)
    failed = rerun_handoff(store, session, order).runs[0].session_id
    shop(tmp_path, ("About money.", "Money."))

    page = screen("side_by_side", left=session, right=failed, handoff="h2")
    next(one for one in page.button if one.label == "Which change flips it?").click()
    page.run()

    assert not page.exception
    assert (
        "This flow is not quite the one that was recorded the description of the transfer "
        "'triage' → 'billing' is another one" in text(page, "flip")
    )
