"""With which packages a session ran: those of its process, and no others."""

import json
import platform
import subprocess
import sys
from importlib import metadata

from handoff_console.runtime import versions

RECORD = """
import asyncio, json
from handoff_console.runtime import Agent, EventList, Flow, run, say
{first}
sink = EventList()
asyncio.run(run(Flow("desk", [Agent("one", model=lambda call: say("Hi."))]), "Hi", sink=sink))
print(json.dumps(sink.events[0].payload.written()))
"""
LIVE = "from handoff_console.runtime.models.provider import ProviderModel; ProviderModel('{spec}')"


def recorded(first: str = "", **environment: str) -> dict:
    """Return what a session records at its start, in a process of its own."""
    done = subprocess.run(
        [sys.executable, "-c", RECORD.format(first=first)],
        env={"PATH": "", **environment},
        capture_output=True,
        text=True,
        check=True,
    )
    return json.loads(done.stdout)


def named(*packages: str) -> list[str]:
    return [f"{name} {metadata.version(name)}" for name in packages]


def test_a_session_records_python_and_the_packages_that_take_part():
    started = recorded()

    assert started["python_version"] == platform.python_version()
    assert started["packages"] == named("handoff-console", "pydantic")


def test_a_live_model_adds_its_providers_library():
    first = LIVE.format(spec="openai:gpt-4o-mini")

    started = recorded(first, OPENAI_API_KEY="none")

    assert started["packages"] == named("handoff-console", "pydantic", "pydantic-ai-slim", "openai")


def test_tools_of_an_mcp_server_add_the_sdk_before_the_first_call_loads_it():
    started = recorded("import handoff_console.runtime.mcp_tools")

    assert started["packages"] == named("handoff-console", "pydantic", "mcp")


def test_what_is_not_installed_as_a_package_is_left_out(monkeypatch):
    def version(name: str) -> str:
        if name == "handoff-console":
            raise metadata.PackageNotFoundError(name)
        return "1.2.3"

    monkeypatch.setattr(metadata, "version", version)

    assert versions._with_versions.__wrapped__(("handoff-console", "pydantic")) == (
        "pydantic 1.2.3",
    )
