"""With which packages a session ran: those that take part in it, and no others."""

import platform
from importlib import metadata

import pytest
from support.sessions import Watched, play

from handoff_console.runtime import Agent, Flow, Tool, say, versions
from handoff_console.runtime.models.base import PROVIDERS


def named(*packages: str) -> tuple[str, ...]:
    return tuple(f"{name} {metadata.version(name)}" for name in packages)


def find(topic: str) -> list[str]:
    """Find papers."""
    return [topic]


def test_a_session_records_python_and_the_packages_that_take_part():
    played = play(Flow("desk", [Agent("one", model=lambda call: say("Hi."))]))

    started = played.one("session_started")
    assert started.python_version == platform.python_version()
    assert started.packages == named("handoff-console", "pydantic")


@pytest.mark.parametrize(
    ("model", "packages"),
    [
        ("openai:gpt-4o-mini", ("pydantic-ai-slim", "openai")),
        ("server:qwen", ("pydantic-ai-slim", "openai")),
        ("anthropic:claude", ("pydantic-ai-slim", "anthropic")),
        ("offline:wordllama-256@1f2e", ("wordllama",)),
        ("offline:bm25", ()),
        ("server-side agent", ()),  # somebody's own, by the name that it was given
    ],
)
def test_what_a_model_rests_on_takes_part(model, packages):
    flow = Flow("desk", [Agent("one", model=Watched(lambda call: say("Hi."), name=model))])

    assert play(flow).one("session_started").packages == named(
        "handoff-console", "pydantic", *packages
    )


def test_tools_of_an_mcp_server_add_the_sdk():
    tools = [Tool(find, untrusted=True)]
    played = play(Flow("desk", [Agent("one", tools=tools, model=lambda call: say("Hi."))]))

    assert played.one("session_started").packages == named("handoff-console", "pydantic", "mcp")


def test_what_is_not_installed_as_a_package_is_left_out(monkeypatch):
    def version(name: str) -> str:
        if name == "handoff-console":
            raise metadata.PackageNotFoundError(name)
        return "1.2.3"

    monkeypatch.setattr(metadata, "version", version)

    assert versions._with_versions.__wrapped__(("handoff-console", "pydantic")) == (
        "pydantic 1.2.3",
    )


@pytest.mark.parametrize("provider", PROVIDERS)
def test_of_every_provider_it_is_known_which_packages_ask_it(provider):
    alone = versions.package_versions([])

    assert set(versions.package_versions([f"{provider}:m"])) > set(alone)
