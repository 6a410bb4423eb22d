"""What was done once is not done twice: every effect by its key, with its original result.

Source: S0, step 5.
"""

from dataclasses import dataclass
from typing import Any, Protocol


@dataclass(frozen=True)
class Done:
    """An effect that happened."""

    result: Any


class EffectLedger(Protocol):
    """Where effects are looked up and noted. The store has one that outlives the process."""

    def find(self, key: str, /) -> Done | None:
        """Return what an effect came to; None when it has not been done to its end."""
        ...

    def is_open(self, key: str, /) -> bool:
        """Say whether it was begun and nobody knows how it ended."""
        ...

    def begin(self, key: str, session_id: str, /) -> None:
        """Note, before anything happens, that an effect is about to be tried."""
        ...

    def done(self, key: str, result: Any, /) -> None:
        """Note that it happened, and what came back."""
        ...

    def failed(self, key: str, /) -> None:
        """Note that it was tried and did not happen."""
        ...


class MemoryLedger:
    """A ledger for one process."""

    def __init__(self) -> None:
        self._results: dict[str, Done | None] = {}

    def find(self, key: str, /) -> Done | None:
        """Return what an effect came to."""
        return self._results.get(key)

    def is_open(self, key: str, /) -> bool:
        """Say whether it was begun and never finished."""
        return key in self._results and self._results[key] is None

    def begin(self, key: str, session_id: str, /) -> None:  # noqa: ARG002
        """Note that it is about to be tried."""
        self._results.setdefault(key, None)

    def done(self, key: str, result: Any, /) -> None:
        """Note what came back."""
        self._results[key] = Done(result)

    def failed(self, key: str, /) -> None:
        """Forget that it was tried."""
        self._results.pop(key, None)
