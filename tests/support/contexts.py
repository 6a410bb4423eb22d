"""What every model is sent, in every session of the whole suite: sound, and nobody else's."""

from collections.abc import Iterator
from typing import Any

import pytest

from handoff_console.runtime.asking import Asker
from handoff_console.runtime.context import unanswered
from handoff_console.runtime.handoff import OpenHandoff


def checked_contexts(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Check the messages of each model call until the test ends, and fail it if one was wrong."""
    ask = Asker.ask
    wrong: list[str] = []
    asked_for: dict[int, set[str]] = {}
    alive: list[OpenHandoff] = []  # so that no id is given twice

    async def checked(asker: Asker, handoff: OpenHandoff) -> Any:
        own = asked_for.setdefault(id(handoff), set())
        alive.append(handoff)
        where = f"{handoff.agent.name} in {handoff.scope.path}: "
        wrong.extend(where + problem for problem in problems(handoff, own))
        reply = await ask(asker, handoff)
        if hasattr(reply, "kept"):
            own.update(call["name"] for call in reply.kept.message.get("tool_calls", ()))
        return reply

    monkeypatch.setattr(Asker, "ask", checked)
    yield
    assert wrong == [], "A model was sent messages that it must not be sent."


def problems(handoff: OpenHandoff, own: set[str]) -> list[str]:
    """Return what is wrong with the messages that a handoff's model is about to read.

    Args:
        handoff: The handoff.
        own: The tools that its model has asked for itself.
    """
    messages = handoff.context.messages
    found = unanswered(messages)
    if [message["role"] for message in messages].count("system") != 1:
        found.append("there is not exactly one system message")
    if not messages[0]["content"].startswith(handoff.agent.prompt):
        found.append("it does not begin with the agent's own prompt")
    if len(messages) < 2:
        found.append("nothing is asked")
    offered = {tool["name"] for tool in handoff.tools}
    called = {call["name"] for message in messages for call in message.get("tool_calls", ())}
    called |= {message["name"] for message in messages if "name" in message}
    found += [f"a foreign tool is shown: {name}" for name in sorted(called - offered - own)]
    return found
