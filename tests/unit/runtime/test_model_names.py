"""What the name of a live model says, where it is served, and what tools are called there."""

import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from handoff_console.runtime import Agent, Flow, FlowError, ModelError
from handoff_console.runtime.canonical import canonical_text
from handoff_console.runtime.models import Terms, as_model
from handoff_console.runtime.models.provider.specs import endpoint, read_spec, spec_text
from handoff_console.runtime.models.provider.wire_names import WireNames, fitted


def test_a_name_says_provider_and_model():
    spec = read_spec("server:qwen3:8b")

    assert (spec.provider, spec.model, spec.name) == ("server", "qwen3:8b", "server:qwen3:8b")
    assert (spec.stream, spec.max_tries, spec.max_output_tokens) == (True, 3, 4_096)
    assert spec.settings == {}


def test_settings_follow_the_name_and_are_no_part_of_it():
    spec = read_spec(
        "openai:gpt-4o-mini?temperature=0&seed=7&thinking=low&parallel_tool_calls=false"
        "&stream=false&max_tries=1&max_output_tokens=500&backoff_seconds=0.25"
    )

    assert spec.name == "openai:gpt-4o-mini"
    assert spec.settings == {
        "temperature": 0.0,
        "seed": 7,
        "thinking": "low",
        "parallel_tool_calls": False,
    }
    assert (spec.stream, spec.max_tries, spec.max_output_tokens) == (False, 1, 500)
    assert spec.backoff_seconds == 0.25


SETTINGS = st.fixed_dictionaries(
    {},
    optional={
        "stream": st.booleans(),
        "max_tries": st.integers(1, 9),
        "max_output_tokens": st.integers(1, 9_999),
        "backoff_seconds": st.floats(0, 60),
        "temperature": st.floats(0, 2),
        "top_p": st.floats(0, 1),
        "seed": st.integers(0, 9),
        "parallel_tool_calls": st.booleans(),
        "thinking": st.just(False) | st.sampled_from(["low", "medium", "high"]),
    },
)


@given(SETTINGS)
def test_a_name_made_of_what_was_recorded_says_the_same(settings):
    words = "&".join(f"{name}={value}" for name, value in settings.items())
    spec = read_spec(f"openai:gpt-4o?{words}")
    recorded = json.loads(canonical_text(spec.terms.recorded))

    assert read_spec(spec_text(spec.name, Terms.as_recorded(recorded))) == spec


def test_a_name_made_of_what_was_recorded_says_only_what_is_not_so_anyway():
    assert spec_text("openai:m", read_spec("openai:m").terms) == "openai:m"
    assert spec_text("openai:m", read_spec("openai:m?stream=false&seed=7&max_tries=1").terms) == (
        "openai:m?max_tries=1&seed=7&stream=false"
    )


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (
            "openai:",
            "write PROVIDER:MODEL, where the provider is one of: anthropic, openai, server.",
        ),
        ("gpt-4o", "write PROVIDER:MODEL"),
        ("openai:m?warmth=1", "has the unknown setting 'warmth'; there are: backoff_seconds"),
        ("openai:m?temperature=hot", "temperature is 'hot'; it is a number from 0 to 2."),
        ("openai:m?temperature=3", "temperature is '3'; it is a number from 0 to 2."),
        ("openai:m?temperature=nan", "temperature is 'nan'; it is a number from 0 to 2."),
        ("openai:m?max_tries=0", "max_tries is '0'; it is a whole number, 1 or more."),
        ("openai:m?stream=perhaps", "stream is 'perhaps'; it is one of: true, false."),
        ("anthropic:m?thinking=low", "Leave `thinking` out."),
    ],
)
def test_a_name_that_cannot_be_read_is_refused_in_a_sentence(text, says):
    with pytest.raises(ModelError, match=re.escape(says)):
        read_spec(text)


def test_address_and_key_come_from_the_environment():
    found = endpoint(
        read_spec("openai:m"), {"OPENAI_BASE_URL": "http://127.0.0.1:1/v1", "OPENAI_API_KEY": "k"}
    )

    assert tuple(found) == ("http://127.0.0.1:1/v1", "k")


def test_a_key_of_openai_is_never_sent_to_another_server():
    environment = {"HANDOFF_BASE_URL": "http://127.0.0.1:1/v1", "OPENAI_API_KEY": "openai's"}

    assert endpoint(read_spec("server:m"), environment).key == "none"


def test_a_key_does_not_show_when_it_is_printed():
    found = endpoint(read_spec("anthropic:m"), {"ANTHROPIC_API_KEY": "very-secret"})

    assert "very-secret" not in f"{found!r} {found}"


@pytest.mark.parametrize(
    ("name", "environment", "says"),
    [
        ("openai:m", {}, "has no key: set OPENAI_API_KEY"),
        ("openai:m", {"OPENAI_API_KEY": " "}, "has no key: set OPENAI_API_KEY"),
        ("anthropic:m", {"ANTHROPIC_BASE_URL": "http://127.0.0.1:1"}, "set ANTHROPIC_API_KEY"),
        ("server:m", {"OPENAI_API_KEY": "k"}, "has no server: set HANDOFF_BASE_URL"),
        ("server:m", {"HANDOFF_BASE_URL": "127.0.0.1:8080"}, "has to begin with http://"),
    ],
)
def test_a_missing_variable_is_named(name, environment, says):
    with pytest.raises(ModelError, match=re.escape(says)):
        endpoint(read_spec(name), environment)


def test_a_server_of_ones_own_needs_no_key():
    environment = {"OPENAI_BASE_URL": "http://127.0.0.1:1/v1"}

    assert endpoint(read_spec("openai:m"), environment).key == "none"


def test_a_flow_whose_live_model_has_no_key_is_refused_before_anything_happens(monkeypatch):
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)

    with pytest.raises(FlowError, match="agent 'solo': The model 'openai:m' has no key"):
        as_model("openai:m", "one", "solo")


def test_an_unknown_name_is_told_what_there_is():
    flow = Flow("one", [Agent("solo")])

    with pytest.raises(FlowError) as refused:
        as_model("gpt-4o", flow.name, "solo")

    assert str(refused.value) == (
        "Flow 'one' cannot run: agent 'solo' wants the model 'gpt-4o'; there are: offline:bm25, "
        "anthropic:MODEL, openai:MODEL, server:MODEL, and functions of your own."
    )


def test_a_dot_in_a_tool_name_becomes_two_underscores_and_back():
    names = WireNames(["billing.list_invoices", "transfer_to_sales"])

    assert names.out("billing.list_invoices") == "billing__list_invoices"
    assert names.out("transfer_to_sales") == "transfer_to_sales"
    assert names.back("billing__list_invoices") == "billing.list_invoices"


def test_two_tools_never_share_a_name_on_the_wire():
    names = WireNames(["a.b", "a__b"])

    assert names.out("a__b") == "a__b"
    assert names.out("a.b") != "a__b"
    assert names.back(names.out("a.b")) == "a.b"


def test_a_name_that_the_model_made_up_stays_as_it_is():
    assert WireNames(["a.b"]).back("no.such tool") == "no.such tool"


@given(st.sets(st.text(max_size=80) | st.sampled_from(["a.b", "a__b", "a b", "a_b", ""])))
def test_every_name_has_one_of_its_own_that_providers_take_and_comes_back(tools):
    names = WireNames(tools)

    sent = [names.out(tool) for tool in tools]
    assert len(set(sent)) == len(tools)
    assert all(re.fullmatch(r"[A-Za-z0-9_-]{1,64}", name) for name in sent)
    assert [names.back(name) for name in sent] == list(tools)


@given(st.text(max_size=120))
def test_a_fitted_id_is_short_enough_for_every_provider(text):
    assert re.fullmatch(r"[A-Za-z0-9_-]{1,40}", fitted(text, 40))
