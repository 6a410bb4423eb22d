"""What a handoff was asked to do: the first tab of its card."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from handoff_console.console.viewmodels.text import (
    amount,
    as_name,
    block,
    count,
    one_line,
    pretty,
    seconds,
)
from handoff_console.runtime.contract import USER, HandoffKind
from handoff_console.runtime.events import HandoffOpened, HandoffRejected, HandoffRequested
from handoff_console.store.analysis.bodies import Body, read_fields
from handoff_console.store.analysis.nodes import HandoffNode


@dataclass(frozen=True, slots=True)
class Line:
    """A name and a value on one line."""

    name: str
    value: str


@dataclass(frozen=True, slots=True)
class RequestView:
    """What was asked for."""

    route: str
    """`supervisor calls billing`, `triage hands off to billing`."""
    task: str
    reason: str
    inputs: str
    """As indented JSON; empty when there are none."""
    lines: tuple[Line, ...]
    """Allowed tools, limits, form of the answer, context policy, what it continues."""
    refusal: str
    """Who refused it and why, in one sentence; empty when nobody did."""
    choices: tuple[str, ...]
    """Whom the sender might have asked instead, where the gate said so."""
    origin: str
    """What is to be known of where this stands in the record; empty for a whole request."""


class Asked:
    """What the record has of one request."""

    def __init__(
        self,
        *,
        asked: HandoffRequested | None,
        opened: HandoffOpened | None,
        rejected: HandoffRejected | None,
        call: Mapping[str, Any] | None,
        body: Body | None,
    ) -> None:
        self.opened, self.rejected, self.call = opened, rejected, call
        self.fields = read_fields(body, asked.request if asked else None)
        self.step = asked.step if asked else 0

    @property
    def arguments(self) -> Mapping[str, Any]:
        """What the sender's model wrote; empty where it is not known or no JSON object."""
        found = self.call.get("arguments") if self.call else None
        return found if isinstance(found, Mapping) else {}


def request_view(node: HandoffNode, asked: Asked) -> RequestView:
    """Return what was asked for; of what the gate refused, in the words of the one who asked."""
    verb = "hands off to" if node.via is HandoffKind.TRANSFER else "calls"
    if node.source == USER:
        verb = "asks"
    wrote = asked.arguments.get("task")
    task = node.task if asked.fields or not isinstance(wrote, str) else wrote
    inputs = asked.fields.get("inputs") if asked.fields else _other(asked)
    return RequestView(
        route=f"{as_name(node.source)} {verb} {as_name(node.agent)}",
        task=block(task),
        reason=one_line(node.reason, 300),
        inputs=pretty(inputs) if inputs else "",
        lines=tuple(_lines(node, asked)),
        refusal=f"The gate refused it: {one_line(asked.rejected.reason, 400)}"
        if asked.rejected
        else "",
        choices=tuple(as_name(choice) for choice in asked.rejected.choices)
        if asked.rejected
        else (),
        origin=_origin(node, asked),
    )


def _other(asked: Asked) -> Any:
    """Return what a model wrote besides task and reason, which have places of their own."""
    if asked.call and isinstance(asked.call.get("malformed"), str):
        return asked.call["malformed"]
    rest = {k: v for k, v in asked.arguments.items() if k not in {"task", "reason"}}
    payload = rest.pop("payload", None)
    if not rest:
        return payload
    return rest if payload is None else {**rest, "payload": payload}


def _origin(node: HandoffNode, asked: Asked) -> str:
    if asked.fields:
        return ""
    if asked.call is None:
        return "The request itself is not in this record."
    wrote = f"As {as_name(node.source)} asked for it in step {asked.step}"
    return f"{wrote}; the runtime completes only what it lets through."


def _lines(node: HandoffNode, asked: Asked) -> Iterable[Line]:
    opened = asked.opened
    tools = opened.allowed_tools if opened else asked.fields.get("allowed_tools")
    if isinstance(tools, list | tuple):
        yield Line("allowed tools", ", ".join(as_name(str(t)) for t in tools) or "none")
    if opened is not None:
        yield Line("limits", _limits(opened.max_steps, opened.max_tokens, opened.deadline_seconds))
        yield Line("answers with", as_name(opened.output_schema))
        yield Line("context", as_name(opened.context_policy.replace("_", " ")))
    else:
        match asked.fields.get("limits"):
            case {
                "max_steps": int() as steps,
                "max_tokens": int() as tokens,
                "deadline_seconds": int() | float() as deadline,
            }:
                yield Line("limits asked for", _limits(steps, tokens, deadline))
    if node.continues:
        yield Line("continues", node.continues)
    if node.follows:
        yield Line("repeats", node.follows)
    yield Line("path", one_line(node.path, 80))


def _limits(steps: int, tokens: int, deadline: float) -> str:
    return f"{count(steps, 'step')} · {amount(tokens)} tokens · {seconds(deadline)}"
