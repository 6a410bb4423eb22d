"""Where a handoff stands in the tree before it opens: its path, its id, and what it starts with."""

from collections.abc import Mapping
from typing import Any

from handoff_console.runtime.agents import Agent
from handoff_console.runtime.context import Context
from handoff_console.runtime.contract import HandoffKind, HandoffRequest
from handoff_console.runtime.flow import Flow
from handoff_console.runtime.handoff import OpenHandoff
from handoff_console.runtime.models import Model
from handoff_console.runtime.player import Player
from handoff_console.runtime.recorder import Recorder, Scope

_SAME_AGAIN = (
    "bound_at", "depth", "depth_left", "hop", "ancestors", "packet", "policy", "passed_on",
    "return_to", "withheld", "fork_id", "continues",
)  # fmt: skip
"""What a second attempt has in common with the first."""


class Places:
    """Gives the handoffs of one request their places."""

    def __init__(
        self, flow: Flow, models: Mapping[str, Model], recorder: Recorder, player: Player
    ) -> None:
        self._flow, self._models = flow, models
        self._recorder, self._player = recorder, player

    def scope(self, near: Scope, path: str, *, parent_id: str | None, attempt: int = 1) -> Scope:
        """Return the scope of a handoff to be, with its id."""
        handoff_id = self._player.handoff_id(path, attempt)
        return Scope(near.turn, near.request_id, handoff_id, parent_id, path, attempt)

    def prepared(
        self,
        scope: Scope,
        source: str,
        agent: Agent,
        via: HandoffKind,
        request: HandoffRequest,
        **place: Any,
    ) -> OpenHandoff:
        """Return a handoff that is ready to be opened. `place` are fields of `OpenHandoff`."""
        at = scope.path or ""
        return OpenHandoff(
            id=scope.handoff_id or "",
            scope=scope,
            source=source,
            agent=self._player.edited_agent(at, agent),
            model=self._player.edited_model(at, self._models[agent.name]),
            via=via,
            request=request,
            limits=request.limits,
            context=Context(self._recorder),
            inputs_hash=self._recorder.hash_of(request.inputs),
            max_result_bytes=self._flow.max_result_bytes,
            **place,
        )

    def again(self, first: OpenHandoff) -> OpenHandoff:
        """Return the second attempt of a handoff, at the same place."""
        scope = first.scope
        scope = self.scope(scope, scope.path or "", parent_id=scope.parent_id, attempt=2)
        place = {name: getattr(first, name) for name in _SAME_AGAIN}
        return self.prepared(
            scope, first.source, first.agent, first.via, first.request, follows=first.id, **place
        )


def hop_path(by: OpenHandoff, branch: str = "") -> str:
    """Return the path of the next hop of a chain: `t1/2.0~1`, then `t1/2.0~2`; `~2.1` in a fork.

    A branch that passes on goes on below itself, `t1~2.1~3`: its sibling may do the same.
    """
    path = by.scope.path or ""
    base, _, hop = path.rpartition("~")
    if not by.hop or "." in hop:
        base = path
    return f"{base}~{by.hop + 1}{branch}"
