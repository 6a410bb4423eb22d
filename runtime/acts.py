"""Acts on the world: the key of each, and what is known of how it came out.

Source: S0, step 5.
"""

from collections import Counter
from collections.abc import Mapping
from typing import Any

from handoff_console.runtime.canonical import as_json
from handoff_console.runtime.contract import Effect
from handoff_console.runtime.handoff import OpenHandoff
from handoff_console.runtime.ledger import EffectLedger
from handoff_console.runtime.player import Player
from handoff_console.runtime.recorder import Recorder
from handoff_console.runtime.tool import Tool
from handoff_console.runtime.tools import ToolOutcome


class Acts:
    """The acts of one request; reads are none and have no key."""

    def __init__(self, recorder: Recorder, player: Player, ledger: EffectLedger) -> None:
        self._recorder, self._player, self._ledger = recorder, player, ledger
        self._counts: Counter[str] = Counter()
        self._unknown: set[str] = set()
        """Keys of acts that may have happened: to ask for one again is no new act."""

    def key(
        self, handoff: OpenHandoff, tool: Tool, arguments: Mapping[str, Any], index: int
    ) -> str | None:
        """Return the key of an act: the same for every attempt, counted where it is repeated.

        Args:
            handoff: Whose act it is.
            tool: What does it.
            arguments: What it is done with.
            index: Which call of the reply asks for it.
        """
        if tool.effect is Effect.READ:
            return None
        scope = handoff.scope
        act: list[Any] = [scope.request_id, handoff.request.task, tool.name, dict(arguments)]
        # Two different secrets look alike once they are redacted; they are two acts all the same.
        if secret := self._recorder.secret_hash_of(act):
            act.append([secret])
        if namespace := self._player.namespace(tool):
            act.append(namespace)
        within = self._recorder.hash_of([*act, scope.path, scope.attempt])
        last = self._recorder.hash_of([*act, self._counts[within]])
        if last in self._unknown:
            return last
        self._counts[within] += 1
        begun = self._player.begun(scope, handoff.steps, index)
        if begun and begun.key and begun.arguments == self._recorder.hash_of(dict(arguments)):
            return begun.key
        return self._recorder.hash_of([*act, self._counts[within]])

    def done(self, key: str) -> ToolOutcome | None:
        """Return what an act came to that has been done before."""
        known = self._ledger.find(key)
        return None if known is None else _outcome_of(known.result)

    def may_have_happened(self, key: str) -> bool:
        """Say whether an act was begun before, and nobody knows how it ended."""
        return self._ledger.is_open(key)

    def begin(self, key: str) -> None:
        """Note that an act is about to be tried."""
        self._ledger.begin(key, self._recorder.session_id)

    def ended(self, key: str, outcome: ToolOutcome) -> None:
        """Note how it came out; one whose outcome is unknown stays begun."""
        if outcome.is_unknown:
            self._unknown.add(key)
        elif outcome.error:
            self._ledger.failed(key)
        else:
            self._ledger.done(key, _as_kept(outcome))

    def played(self, key: str, outcome: ToolOutcome) -> None:
        """Take over how it came out when it was recorded; the ledger knows that already."""
        if outcome.is_unknown:
            self._unknown.add(key)


_HANDS_OVER = "handoff_console.hands_over"


def _as_kept(outcome: ToolOutcome) -> Any:
    """Return how the ledger keeps a result: as it is, unless it is a transfer.

    A value that looks like a transfer as it is kept is marked as none: what a tool read somewhere
    must not become one.
    """
    value = as_json(outcome.value)
    if outcome.hands_over or (isinstance(value, dict) and _HANDS_OVER in value):
        return {_HANDS_OVER: outcome.hands_over, "value": value}
    return value


def _outcome_of(kept: Any) -> ToolOutcome:
    """Return the outcome that is kept like this."""
    if isinstance(kept, dict) and _HANDS_OVER in kept:
        value = kept.get("value")  # no mapping where the flow's redaction has left it out
        return ToolOutcome(value, hands_over=kept[_HANDS_OVER] is True and isinstance(value, dict))
    return ToolOutcome(kept)
