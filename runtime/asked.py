"""What is asked for: by a model in a special tool call, or by a caller in a typed request."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel

from handoff_console.runtime.contract import TEXT, HandoffRequest, ToolCall
from handoff_console.runtime.errors import RequestError, choices
from handoff_console.runtime.flow import Flow
from handoff_console.runtime.frozen import quickly_made
from handoff_console.runtime.tool import fitted_json

NO_REASON = "(no reason given)"
_OWN_KEYS = ("reason", "task", "summary", "payload")


@quickly_made
@dataclass(frozen=True, slots=True)
class Asked:
    """The parts of a handoff as a model asked for it; none of them is trusted."""

    reason: str
    task: str
    summary: str
    payload: dict[str, Any]

    def validated(self, schema: type[BaseModel] | None) -> dict[str, Any]:
        """Return the payload in the shape the edge wants.

        Raises:
            ValueError: It does not fit; the text says where and why.
        """
        if schema is None:
            return self.payload
        return fitted_json(schema, self.payload)


def read_asked(call: ToolCall) -> Asked:
    """Read a handoff's arguments: `reason`, `task`, `summary`, `payload`; all else is payload too.

    A reason alone is enough: it then is the task as well, folded to one line.
    """
    arguments = call["arguments"]
    reason = _text(arguments.get("reason"))
    task = _text(arguments.get("task"))
    given = arguments.get("payload")
    payload: dict[Any, Any] = {}
    if given is not None:
        payload = dict(given) if isinstance(given, Mapping) else {"payload": given}
    payload |= {key: value for key, value in arguments.items() if key not in _OWN_KEYS}
    return Asked(
        reason=reason or " ".join(task.split()) or NO_REASON,
        task=task or " ".join(reason.split()) or NO_REASON,
        summary=_text(arguments.get("summary")),
        payload={str(key): value for key, value in payload.items()},
    )


def check_message(flow: Flow, message: object) -> None:
    """Refuse what is no message, and a typed request that does not fit the flow it is for.

    Raises:
        RequestError: It is neither a text nor a request, or the request allows a tool that the
            agent does not own, or asks for an unknown schema.
    """
    if isinstance(message, HandoffRequest):
        _check_request(flow, message)
    elif not isinstance(message, str):
        raise RequestError(
            f"The message is of type {type(message).__name__}; it has to be a text or a "
            "HandoffRequest."
        )


def _check_request(flow: Flow, request: HandoffRequest) -> None:
    agent = flow.agents_by_name[flow.start]
    for name in request.allowed_tools:
        if name not in agent.tools_by_name:
            owned = choices(agent.tools_by_name, "none")
            raise RequestError(
                f"The request allows the tool {name!r}, which {agent.name!r} does not own; it "
                f"owns: {owned}."
            )
    known = {TEXT, *flow.schemas}
    if request.output_schema not in known:
        raise RequestError(
            f"The request asks for {request.output_schema!r}, which is no registered schema; there "
            f"are: {choices(known)}."
        )


def _text(value: Any) -> str:
    return value.strip() if isinstance(value, str) else "" if value is None else str(value)
