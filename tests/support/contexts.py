"""What every model is sent, in every session of the whole suite: sound, and nobody else's."""

from typing import Any

import pytest

from handoff_console.runtime.asking import Asker
from handoff_console.runtime.context import unanswered
from handoff_console.runtime.handoff import OpenHandoff


class ContextCheck:
    """Looks at the messages of each model call that this process makes."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self._wrong: list[str] = []
        self._asked_for: dict[int, set[str]] = {}
        self._alive: list[OpenHandoff] = []  # so that no id is given twice
        ask = Asker.ask

        async def checked(asker: Asker, handoff: OpenHandoff) -> Any:
            own = self._look_at(handoff)
            reply = await ask(asker, handoff)
            if hasattr(reply, "kept"):
                own.update(call["name"] for call in reply.kept.message.get("tool_calls", ()))
            return reply

        monkeypatch.setattr(Asker, "ask", checked)

    def taken(self) -> list[str]:
        """Return what was wrong since the last time, and forget it."""
        wrong = [*self._wrong]
        for kept in (self._wrong, self._asked_for, self._alive):
            kept.clear()
        return wrong

    def _look_at(self, handoff: OpenHandoff) -> set[str]:
        own = self._asked_for.setdefault(id(handoff), set())
        self._alive.append(handoff)
        where = f"{handoff.agent.name} in {handoff.scope.path}: "
        self._wrong.extend(where + problem for problem in problems(handoff, own))
        return own


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
