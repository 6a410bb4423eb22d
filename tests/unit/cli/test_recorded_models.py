"""Which models a session that is run again asks: those that were recorded, where they are known."""

import io
from contextlib import closing
from dataclasses import replace

import pytest
from support.earlier import without_rules
from support.shops import shop

from handoff_console.console.commands.errors import CannotGoOn
from handoff_console.console.commands.estimates import plan_rerun
from handoff_console.console.commands.flows import Models, chosen_models, load_flow, model_named
from handoff_console.console.commands.recorded_flows import check_models, flow_for
from handoff_console.console.commands.recorded_models import OtherModel
from handoff_console.console.commands.rerun_orders import RerunOrder
from handoff_console.console.commands.rerunning import rerun_handoff
from handoff_console.console.commands.running import run_once
from handoff_console.runtime import FlowError
from handoff_console.runtime.edits import Edits
from handoff_console.runtime.models import as_model, terms_of
from handoff_console.runtime.models.provider import ProviderModel
from handoff_console.runtime.models.provider.specs import read_spec
from handoff_console.runtime.models.wordllama import WordLlama
from handoff_console.runtime.rerun_player import Mode
from handoff_console.store.db import open_reader, open_store
from handoff_console.store.exchange.jsonl import export_lines
from handoff_console.store.exchange.jsonl_import import import_sessions
from handoff_console.store.recordings import recording_of

FLOW = "shop.py:flow"
MESSAGE = "Why twice? It is about money."


@pytest.fixture
def store(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    shop(tmp_path)
    return tmp_path / "handoff.db"


@pytest.fixture
def with_key(store, monkeypatch):
    """A key, and a model of OpenAI that would answer; nobody may ask it here."""
    monkeypatch.setenv("OPENAI_API_KEY", "none")

    async def asked(self, call):
        raise AssertionError("a model was asked by finding out")

    monkeypatch.setattr(ProviderModel, "reply", asked)


def ran(store, *models: str) -> str:
    flow = load_flow(FLOW).flow
    chosen = chosen_models(flow, models)
    result = run_once(store, flow, MESSAGE, source=FLOW, models=chosen)
    return result.session_id


def ran_live(store, monkeypatch, spec: str) -> str:
    """Run it with a model of OpenAI for triage, which answers here as the flow's own does."""

    async def reply(self, call):
        return model_named("shop.py:mine").rule(call)

    with monkeypatch.context() as patched:
        patched.setenv("OPENAI_API_KEY", "none")
        patched.setattr(ProviderModel, "reply", reply)
        return ran(store, f"triage={spec}")


def recorded_flow(store, session, handoff="", flow=FLOW):
    with closing(open_reader(store)) as db:
        return flow_for(recording_of(db, session), flow, handoff)


def notes(store, session, handoff, mode, edits=None, flow=FLOW):
    order = RerunOrder(handoff_id=handoff, mode=mode, edits=edits or Edits(), named=flow)
    return list(plan_rerun(store, session, order).estimate.notes)


def test_a_model_that_its_name_tells_is_asked_again_and_that_is_said_before(store):
    session = ran(store, "triage=offline:bm25")
    said = (
        "triage asks offline:bm25 as when this was recorded, and not the flow's rules; --model "
        "names another."
    )

    assert notes(store, session, "h1", Mode.WHAT_IF) == [said]
    assert notes(store, session, "h1", Mode.VERIFY) == []
    done = rerun_handoff(store, session, RerunOrder(handoff_id="h1", mode=Mode.WHAT_IF, named=FLOW))

    with closing(open_reader(store)) as db:
        again = recording_of(db, done.runs[0].session_id)
    assert again.events[0].payload.models["triage"] == "offline:bm25"


@pytest.mark.usefixtures("with_key")
def test_a_live_model_has_the_settings_that_were_recorded(store, monkeypatch):
    session = ran_live(
        store, monkeypatch, "openai:gpt-4o?temperature=0.5&parallel_tool_calls=false"
    )

    found = recorded_flow(store, session)

    assert found.other_models == [
        OtherModel(
            "triage",
            "openai:gpt-4o?parallel_tool_calls=false&temperature=0.5",
            "rules",
            is_asked=True,
        )
    ]
    assert terms_of(found.flow.agent("triage").model).settings == {
        "parallel_tool_calls": False,
        "temperature": 0.5,
        "stream": True,
    }


@pytest.mark.usefixtures("with_key")
def test_the_flows_own_model_with_other_settings_is_asked_with_the_recorded_ones(
    store, tmp_path, monkeypatch
):
    shop(tmp_path, ("model=triage", 'model="openai:gpt-4o?temperature=0&max_tries=1"'))
    session = ran_live(store, monkeypatch, "openai:gpt-4o?temperature=0&max_tries=1")
    assert list(recorded_flow(store, session).other_models) == []
    shop(tmp_path, ("model=triage", 'model="openai:gpt-4o?temperature=1&max_tries=1"'))

    assert notes(store, session, "h1", Mode.WHAT_IF) == [
        "triage asks openai:gpt-4o?max_tries=1&temperature=0.0 as when this was recorded, and not "
        "the flow's openai:gpt-4o?temperature=1&max_tries=1; --model names another."
    ]


@pytest.mark.usefixtures("with_key")
def test_a_live_model_is_tried_as_often_and_answers_as_long_as_when_it_was_recorded(
    store, tmp_path, monkeypatch
):
    spec = "openai:gpt-4o?max_tries=1&max_output_tokens=500&backoff_seconds=2.0"
    session = ran_live(store, monkeypatch, spec)
    shop(tmp_path, ("model=triage", 'model="openai:gpt-4o"'))

    assert notes(store, session, "h1", Mode.WHAT_IF) == [
        f"triage asks {spec} as when this was recorded, and not the flow's openai:gpt-4o; --model "
        "names another."
    ]
    found = recorded_flow(store, session)
    assert found.other_models == [OtherModel("triage", spec, "openai:gpt-4o", is_asked=True)]
    assert terms_of(found.flow.agent("triage").model) == read_spec(spec).terms


@pytest.mark.usefixtures("with_key")
def test_a_live_model_that_was_asked_as_every_one_is_so_again(store, tmp_path, monkeypatch):
    session = ran_live(store, monkeypatch, "openai:gpt-4o")
    shop(tmp_path, ("model=triage", 'model="openai:gpt-4o?max_tries=1"'))

    found = recorded_flow(store, session)

    assert terms_of(found.flow.agent("triage").model) == read_spec("openai:gpt-4o").terms
    assert [one.recorded for one in found.other_models] == ["openai:gpt-4o"]


@pytest.mark.usefixtures("with_key")
def test_of_an_earlier_record_the_flow_says_how_often_a_model_is_tried(
    store, tmp_path, monkeypatch
):
    session = ran_live(store, monkeypatch, "openai:gpt-4o?temperature=0&max_tries=2")
    shop(tmp_path, ("model=triage", 'model="openai:gpt-4o?temperature=0&max_tries=1"'))
    without_rules(store)

    found = recorded_flow(store, session)

    assert (list(found.other_models), list(found.changes)) == ([], [])
    assert found.flow.agent("triage").model == "openai:gpt-4o?temperature=0&max_tries=1"
    assert notes(store, session, "h1", Mode.WHAT_IF) == [
        "By which redaction rules, ingress checks and tries of a model it went is not in this "
        "record; those of the flow count."
    ]
    assert notes(store, session, "h1", Mode.VERIFY) == []


@pytest.mark.usefixtures("with_key")
def test_each_agent_has_the_settings_that_it_asked_its_model_with(store, monkeypatch):
    def spec(temperature: float) -> str:
        return f"openai:gpt-4o?temperature={temperature}"

    async def reply(self, call):
        return flow.agent(call.agent.name).model(call)

    flow = load_flow(FLOW).flow
    monkeypatch.setattr(ProviderModel, "reply", reply)
    session = ran(store, f"triage={spec(0.0)}", f"billing={spec(1.0)}")

    assert [(one.agent, one.recorded) for one in recorded_flow(store, session).other_models] == [
        ("triage", spec(0.0)),
        ("billing", spec(1.0)),
    ]


def test_a_model_of_somebodys_own_that_is_asked_otherwise_by_now_is_told(store, tmp_path):
    own = (
        'mine = Rules(triage, name="mine")\n',
        (
            "from handoff_console.runtime.models import Terms\n"
            'mine = Rules(triage, name="mine")\n'
            'mine.terms = Terms(max_tries=2, settings={"stop": ("END",)})\n'
        ),
    )
    shop(tmp_path, own, ("model=triage", "model=mine"))
    session = ran(store)
    assert notes(store, session, "h1", Mode.WHAT_IF) == []

    other = own[0], own[1].replace("max_tries=2, settings", "backoff_seconds=1.5, settings")
    shop(tmp_path, other, ("model=triage", "model=mine"))

    assert notes(store, session, "h1", Mode.WHAT_IF) == [
        "triage asks mine otherwise than when this was recorded: backoff_seconds 1.5 instead of "
        "0.5 and max_tries 1 instead of 2; its own program sets that."
    ]
    assert notes(store, session, "h2", Mode.WHAT_IF) == []
    assert notes(store, session, "h1", Mode.VERIFY) == []


def test_a_model_that_only_its_program_can_make_is_told_with_what_to_do(store):
    session = ran(store, "triage=shop.py:mine")
    asked = "triage asked the model 'mine' when this was recorded, which only its own program can "

    assert notes(store, session, "h1", Mode.WHAT_IF) == [
        f"{asked}make, and asks the flow's rules now; name it in a shell with --model FILE.py:NAME "
        "to ask it again."
    ]
    named = Edits(model=model_named("shop.py:mine"))
    assert notes(store, session, "h1", Mode.WHAT_IF, named) == [
        "triage asked the model mine already when this was recorded."
    ]


def test_of_another_agent_it_is_told_where_that_agent_may_be_asked(store):
    session = ran(store, "checker=shop.py:mine")
    said = (
        "checker asked the model 'mine' when this was recorded, which only its own program can "
        "make, and asks the flow's rules now; put it into the flow to ask it again."
    )

    assert notes(store, session, "h2", Mode.LIVE_READS) == [said]
    assert notes(store, session, "h2", Mode.WHAT_IF) == []
    assert notes(store, session, "h1", Mode.LIVE) == [said]
    assert notes(store, session, "h2", Mode.CONTINUE) == []
    assert notes(store, session, "h2", Mode.CONTINUE, Edits(inputs={"customer": "1"})) == [said]


def test_who_had_answered_before_a_session_is_continued_from_is_not_asked(store):
    session = ran(store, "triage=shop.py:mine")

    assert notes(store, session, "h2", Mode.CONTINUE, Edits(inputs={"customer": "1"})) == []


def test_who_had_not_answered_yet_is_asked_where_a_session_is_continued_and_that_is_said(
    store, tmp_path, monkeypatch
):
    session = ran(store, "billing=shop.py:mine")
    with closing(open_store(store)) as db:
        db.execute("delete from events where seq > 14")  # its process died
    (other,) = (one for one in notes(store, session, "h1", Mode.CONTINUE) if "billing" in one)
    monkeypatch.setenv("OPENAI_API_KEY", "")
    shop(tmp_path, ("model=billing", 'model="openai:gpt-4o"'))

    assert other.startswith("billing asked the model 'mine' when this was recorded")
    with pytest.raises(FlowError, match="agent 'billing': The model 'openai:gpt-4o' has no key"):
        notes(store, session, "h1", Mode.CONTINUE)


def test_a_live_model_without_a_key_leaves_the_flows_own_and_says_so(store, monkeypatch):
    session = ran_live(store, monkeypatch, "openai:gpt-4o")

    assert notes(store, session, "h1", Mode.WHAT_IF) == [
        "triage asked openai:gpt-4o when this was recorded, and asks the flow's rules now, since: "
        "The model 'openai:gpt-4o' has no key: set OPENAI_API_KEY, or use a model that needs none, "
        "such as offline:bm25."
    ]


def test_a_model_that_cannot_be_asked_here_matters_only_to_who_would_ask_it(
    store, tmp_path, monkeypatch
):
    shop(tmp_path, ("model=triage", 'model="openai:gpt-4o"'))
    session = ran_live(store, monkeypatch, "openai:gpt-4o")

    def run_again(handoff, mode, edits=None):
        order = RerunOrder(handoff_id=handoff, mode=mode, named=FLOW, edits=edits or Edits())
        return rerun_handoff(store, session, order)

    assert run_again("h1", Mode.VERIFY).same_result
    assert run_again("h1", Mode.CONTINUE).same_result
    assert run_again("h2", Mode.LIVE).same_result
    assert run_again("h1", Mode.WHAT_IF, Edits(model="offline:bm25")).live_model_calls == 2
    with pytest.raises(FlowError, match="agent 'triage': The model 'openai:gpt-4o' has no key"):
        run_again("h1", Mode.WHAT_IF)
    with pytest.raises(FlowError, match="set OPENAI_API_KEY"):
        notes(store, session, "h1", Mode.LIVE_READS)


def test_a_flow_that_has_no_model_is_verified_too(store, tmp_path):
    session = ran(store)
    shop(tmp_path, ("model=triage, ", ""), ("model=billing, ", ""), (" model=checker,", ""))
    order = RerunOrder(handoff_id="h1", mode=Mode.VERIFY, named=FLOW)

    assert rerun_handoff(store, session, order).same_result


def test_of_a_flow_that_leaves_the_model_to_its_caller_nothing_is_said(store, tmp_path):
    none = ("model=triage, ", ""), ("model=billing, ", ""), (" model=checker,", "")
    shop(tmp_path, *none)
    session = ran(store, "offline:bm25")
    assert notes(store, session, "h1", Mode.LIVE) == []

    shop(tmp_path)
    session = ran(store)
    shop(tmp_path, *none)
    with pytest.raises(FlowError) as refused:
        notes(store, session, "h2", Mode.WHAT_IF)
    assert str(refused.value) == (
        "Flow 'shop' cannot run: agent 'billing' asked the model 'rules' when this was recorded, "
        "and the flow has none for it; give it one there, or name it with --model."
    )


@pytest.mark.usefixtures("with_key")
def test_a_provider_is_named_before_it_is_asked_also_where_the_flow_names_no_model(
    store, tmp_path, monkeypatch
):
    session = ran_live(store, monkeypatch, "openai:gpt-4o")
    shop(tmp_path, ("model=triage, ", ""))

    assert notes(store, session, "h1", Mode.WHAT_IF) == [
        "triage asks openai:gpt-4o as when this was recorded: the flow names no model."
    ]
    assert notes(store, session, "h2", Mode.WHAT_IF) == []


def test_where_neither_model_can_be_asked_it_is_said_what_the_recorded_one_lacks(
    store, tmp_path, monkeypatch
):
    session = ran_live(store, monkeypatch, "openai:gpt-4o")
    shop(tmp_path, ("model=triage, ", ""))

    with pytest.raises(FlowError, match="agent 'triage': The model 'openai:gpt-4o' has no key"):
        notes(store, session, "h1", Mode.WHAT_IF)


def test_a_rerun_with_another_model_is_run_again_with_that_one(store):
    session = ran(store)
    edits = Edits(model="offline:bm25")
    order = RerunOrder(handoff_id="h1", mode=Mode.WHAT_IF, edits=edits, named=FLOW)
    rerun = rerun_handoff(store, session, order).runs[0].session_id

    assert [one.recorded for one in recorded_flow(store, rerun, "h1").other_models] == [
        "offline:bm25"
    ]


def test_a_session_goes_on_with_the_models_that_it_had(store, monkeypatch):
    session = ran(store, "triage=offline:bm25")
    with closing(open_reader(store)) as db:
        recording = recording_of(db, session)
    found = recorded_flow(store, session)

    check_models(found, recording, Models())


def test_a_session_does_not_go_on_with_a_model_that_cannot_be_asked(store, tmp_path, monkeypatch):
    shop(tmp_path, ("model=triage", 'model="openai:gpt-4o"'))
    session = ran_live(store, monkeypatch, "openai:gpt-4o")
    with closing(open_reader(store)) as db:
        recording = recording_of(db, session)
    found = recorded_flow(store, session)

    with pytest.raises(FlowError, match="has no key: set OPENAI_API_KEY"):
        check_models(found, recording, Models())
    with pytest.raises(CannotGoOn, match="asked the model 'openai:gpt-4o', and would ask 'offline"):
        check_models(found, recording, Models(by_agent={"triage": "offline:bm25"}))


@pytest.mark.parametrize("split", ["", "-split"])
def test_word_vectors_are_asked_again_where_their_weights_are_the_recorded_ones(
    store, monkeypatch, split
):
    pytest.importorskip("wordllama")
    session = ran(store, f"triage=offline:wordllama{split}")
    (other,) = recorded_flow(store, session).other_models

    assert (other.is_asked, other.recorded) == (True, f"{WordLlama().name}{split}")

    monkeypatch.setattr(WordLlama, "__init__", lambda self: setattr(self, "name", "others"))
    (other,) = recorded_flow(store, session).other_models
    assert (other.is_asked, other.problem) == (False, f"what is installed here is others{split}")


@pytest.mark.usefixtures("with_key")
def test_no_provider_is_asked_because_a_file_from_elsewhere_names_one(store, monkeypatch):
    session = ran_live(store, monkeypatch, "openai:gpt-4o")
    elsewhere = store.with_name("elsewhere.db")
    with closing(open_reader(store)) as db:
        file = "".join(export_lines(db, [session])).encode()
    with closing(open_store(elsewhere, create=True)) as db:
        import_sessions(db, io.BytesIO(file), source="file.jsonl")

    found = recorded_flow(elsewhere, session)

    assert found.flow.agent("triage").model is load_flow(FLOW).flow.agent("triage").model
    assert notes(elsewhere, session, "h1", Mode.WHAT_IF) == [
        "triage asked openai:gpt-4o when this was recorded, and asks the flow's rules now, since: "
        "the session came from a file, and no provider is asked because a file says so."
    ]
    assert recorded_flow(store, session).other_models[0].is_asked


def test_answers_of_a_live_model_are_taken_over_without_its_key(store, monkeypatch):
    session = ran(store)

    async def reply(self, call):
        return await as_model(load_flow(FLOW).flow.agent("triage").model, "", "").reply(call)

    edits = Edits(model="openai:gpt-4o")
    with monkeypatch.context() as patched:
        patched.setenv("OPENAI_API_KEY", "none")
        patched.setattr(ProviderModel, "reply", reply)
        order = RerunOrder(handoff_id="h1", mode=Mode.WHAT_IF, edits=edits, named=FLOW)
        again = rerun_handoff(store, session, order).runs[0].session_id

    order = RerunOrder(handoff_id="h1", mode=Mode.CONTINUE, graft=again, named=FLOW)
    done = rerun_handoff(store, session, order)

    assert (done.runs[0].outcome, done.live_model_calls) == ("ok", 0)
    with pytest.raises(FlowError):
        rerun_handoff(store, session, replace(order, edits=edits))
