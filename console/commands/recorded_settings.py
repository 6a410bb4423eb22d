"""With which settings the models of a recorded session were asked."""

from collections.abc import Mapping
from typing import Any

from handoff_console.runtime.events import AgentActivated, ModelCalled, Recording, SessionStarted
from handoff_console.runtime.recorded_rules import tells_rules


class AskedWith:
    """What each agent asked its model with.

    Args:
        recording: The session.
        handoff_id: Which of its handoffs is meant: what was asked there counts before all others.
    """

    def __init__(self, recording: Recording, handoff_id: str) -> None:
        self._body = recording.body
        started = recording.events[0].payload if recording.events else None
        self.is_told = isinstance(started, SessionStarted) and tells_rules(
            recording.body(started.flow_digest)
        )
        """Whether what the runtime follows itself is told; of the first records nobody knows it."""
        again = started.rerun_handoff if isinstance(started, SessionStarted) else ""
        self._found: dict[tuple[str, str], str | None] = {}
        agents: dict[str | None, str] = {}
        for event in recording.events:
            if isinstance(event.payload, AgentActivated):
                agents[event.handoff_id] = event.payload.agent
        called = [(e.handoff_id, e.payload) for e in recording.events]
        for place in (handoff_id, again, None):
            for at, one in called:
                if isinstance(one, ModelCalled) and place in (at, None):
                    self._found.setdefault((agents.get(at, ""), one.model), one.settings)

    def settings(self, agent: str, model: str) -> Mapping[str, Any] | None:
        """Return them; of an agent that asked nobody those of all others, None where they differ.

        None as well where nobody asked the model.
        """
        if (agent, model) in self._found:
            digests = {self._found[agent, model]}
        else:
            digests = {one for (_, name), one in self._found.items() if name == model}
        if len(digests) != 1:
            return None
        digest = digests.pop()
        found: Mapping[str, Any] = self._body(digest) if digest else {}
        return found
