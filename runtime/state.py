"""What the host knows of a session: values that no agent can overwrite.

Summaries lose serial numbers and exact error texts over a few handoffs; this does not. A key is set
once. Another value for it is a conflict: recorded, visible, without effect. Source: S2,
"Context Erosion (The Telephone-Game Effect)".
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from handoff_console.runtime.canonical import as_json, canonical_text
from handoff_console.runtime.contract import Message
from handoff_console.runtime.events import StateSet
from handoff_console.runtime.recorder import Recorder, Scope

_SHORT = 3
"""A value of fewer characters is found in any text by chance."""


class SessionState:
    """Append-only values of a session, by key."""

    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder
        self._values: dict[str, Any] = {}
        self._conflicts: set[tuple[str, str]] = set()

    @property
    def values(self) -> Mapping[str, Any]:
        """What is known, by key."""
        return self._values

    def set(self, scope: Scope, key: str, value: Any) -> None:
        """Learn a value. The same value again is nothing new; another one is a conflict."""
        value = as_json(value)
        if key in self._values and self._values[key] == value:
            return
        conflict = key in self._values
        if conflict:
            again = (key, canonical_text(value))
            if again in self._conflicts:
                return
            self._conflicts.add(again)
        else:
            self._values[key] = value
        kept = self._recorder.keep({key: value}).digest
        self._recorder.emit(scope, StateSet(key=key, value=kept, conflict=conflict))

    def split(
        self,
        payload: Mapping[str, Any],
        *,
        known: Iterable[Any],
        said: Iterable[str],
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        """Split what an agent passes on into what something confirms and what it only claims.

        Args:
            payload: The values of a handoff, as a model wrote them.
            known: Values the agent was given or its tools returned, as JSON.
            said: What people said, in their words.

        Returns:
            The confirmed values and the claimed ones. What contradicts the state is claimed.
        """
        texts = tuple(said)
        confirmed: dict[str, Any] = {}
        claimed: dict[str, Any] = {}
        containers, leaves = _parts(known)
        seen = {leaf for leaf in leaves if not isinstance(leaf, bool)}
        for key, value in payload.items():
            if key in self._values:
                right = self._values[key] == value
            else:
                right = value in containers or _is_confirmed(value, seen, texts)
            (confirmed if right else claimed)[key] = value
        return confirmed, claimed


def heard(messages: Iterable[Message]) -> list[str]:
    """Return what a context holds of people's own words."""
    return [message["content"] for message in messages if message["role"] == "user"]


def _is_confirmed(value: Any, seen: set[Any], said: Sequence[str]) -> bool:
    _, leaves = _parts([value])
    # A bare yes or no can be found anywhere, so it confirms nothing.
    return bool(leaves) and all(
        not isinstance(leaf, bool) and (leaf in seen or _is_said(leaf, said)) for leaf in leaves
    )


def _is_said(leaf: Any, said: Sequence[str]) -> bool:
    text = str(leaf)
    return len(text) >= _SHORT and any(text in words for words in said)


def _parts(values: Iterable[Any]) -> tuple[list[Any], list[Any]]:
    """Return every container, and every text, number and truth value, in some JSON values."""
    containers: list[Any] = []
    leaves: list[Any] = []
    waiting = list(values)
    while waiting:
        value = waiting.pop()
        if isinstance(value, dict | list | tuple):
            if value:
                containers.append(value)
            waiting += value.values() if isinstance(value, dict) else value
        elif value is not None:
            leaves.append(value)
    return containers, leaves
