"""What the rules of several samples share."""

from collections.abc import Iterable, Mapping
from typing import Any

from handoff_console.runtime import ModelCall


def has_any(text: str, words: Iterable[str]) -> bool:
    """Say whether one of the words stands in the text, in any case."""
    lowered = text.lower()
    return any(word in lowered for word in words)


def first_error(call: ModelCall) -> str:
    """Return why a tool of this handoff failed or was denied; empty when none was."""
    for result in call.results:
        value = result.value
        if isinstance(value, Mapping) and value.get("error"):
            return str(value["error"])
    return ""


def values_of(call: ModelCall, name: str) -> list[Any]:
    """Return all that a tool, or `delegate_to_…`, returned in this handoff, oldest first."""
    return [result.value for result in call.results if result.name == name]


def status_of(result: Mapping[str, Any]) -> str:
    """Return a worker's status; `refused` when the gate did not let the handoff through."""
    return str(result.get("status", "refused"))


def why(result: Mapping[str, Any]) -> str:
    """Return what a worker's result, or the gate's refusal, says for people; no full stop."""
    return str(result.get("notes") or result.get("reason") or "no reason given").rstrip(". ")


def euros(cents: int) -> str:
    """Return an amount as it is written: `19.00 EUR`."""
    return f"{cents / 100:.2f} EUR"
