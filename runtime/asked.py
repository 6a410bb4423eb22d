"""What a model wrote into the special tool call by which it asks for a handoff."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel

from handoff_console.runtime.contract import ToolCall

NO_REASON = "(no reason given)"
_OWN_KEYS = ("reason", "task", "summary", "payload")


@dataclass(frozen=True)
class Asked:
    """The parts of a handoff as a model asked for it; none of them is trusted."""

    reason: str
    task: str
    summary: str
    payload: dict[str, Any]

    def validated(self, schema: type[BaseModel] | None) -> dict[str, Any]:
        """Return the payload in the shape the edge wants.

        Raises:
            pydantic.ValidationError: It does not fit.
        """
        if schema is None:
            return self.payload
        return schema.model_validate(self.payload).model_dump(mode="json")


def read_asked(call: ToolCall) -> Asked:
    """Read a handoff's arguments: `reason`, `task`, `summary`, `payload`; all else is payload too.

    A reason alone is enough: it then is the task as well, folded to one line.
    """
    arguments = call["arguments"]
    reason = _text(arguments.get("reason"))
    task = _text(arguments.get("task"))
    given = arguments.get("payload")
    payload = dict(given) if isinstance(given, Mapping) else {}
    if given is not None and not isinstance(given, Mapping):
        payload["payload"] = given
    payload |= {key: value for key, value in arguments.items() if key not in _OWN_KEYS}
    return Asked(
        reason=reason or " ".join(task.split()) or NO_REASON,
        task=task or " ".join(reason.split()) or NO_REASON,
        summary=_text(arguments.get("summary")),
        payload={str(key): value for key, value in payload.items()},
    )


def _text(value: Any) -> str:
    return value.strip() if isinstance(value, str) else "" if value is None else str(value)
