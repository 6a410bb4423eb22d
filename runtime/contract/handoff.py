"""A small request in, a small result out, limits attached. Source: S0, steps 1 and 2."""

import json
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, NonNegativeInt, PositiveFloat, PositiveInt
from pydantic import field_validator as validates

from handoff_console.runtime.arguments import names_its_arguments
from handoff_console.runtime.canonical import (
    NO_JSON,
    as_json,
    canonical_text,
    is_utf8,
    quoted,
    raw_text,
)
from handoff_console.runtime.contract.messages import holds_messages
from handoff_console.runtime.contract.names import TEXT
from handoff_console.runtime.contract.outcomes import Reaction, Status


class _Value(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


@names_its_arguments
class Limits(_Value):
    """How far one handoff may go; enforced by the runtime, whatever the model says."""

    max_steps: PositiveInt = 6
    """Model replies, with the tools they ask for; the repair call counts."""
    max_tokens: PositiveInt = 8_000
    """Input plus output over all its model calls; reserved in the pool when it starts."""
    deadline_seconds: PositiveFloat = 30.0

    def body(self) -> str:
        """Return them as canonical JSON.

        Raises:
            ValueError: The deadline is no number that JSON has.
        """
        return (
            f'{{"deadline_seconds":{raw_text(self.deadline_seconds)},'
            f'"max_steps":{self.max_steps},"max_tokens":{self.max_tokens}}}'
        )

    def within(self, other: "Limits") -> "Limits":
        """Return these limits, none wider than `other`."""
        return Limits(
            max_steps=min(self.max_steps, other.max_steps),
            max_tokens=min(self.max_tokens, other.max_tokens),
            deadline_seconds=min(self.deadline_seconds, other.deadline_seconds),
        )


class HandoffRequest(_Value):
    """What a worker gets to know: one task and the values it needs, never the conversation.

    Source: S0, step 1.
    """

    task: str
    """One sentence on one line."""
    inputs: dict[str, Any] = Field(default_factory=dict)
    """The specific values the worker needs, as JSON."""
    allowed_tools: tuple[str, ...] = ()
    """The tools of the target it may call this time."""
    limits: Limits = Limits()
    output_schema: str = TEXT
    """The name of a schema that the flow registers."""

    def body(self) -> str:
        """Return it as canonical JSON, as it is recorded.

        Put together from its parts, which takes a third of what dumping it takes (measured).
        """
        try:
            text = (
                f'{{"allowed_tools":{raw_text(self.allowed_tools)},"inputs":{raw_text(self.inputs)}'
                f',"limits":{self.limits.body()},"output_schema":{quoted(self.output_schema)}'
                f',"task":{quoted(self.task)}}}'
            )
        except NO_JSON:
            return canonical_text(dict(self))
        return text if is_utf8(text) else canonical_text(dict(self))

    @validates("task")
    @classmethod
    def _one_sentence(cls, task: str) -> str:
        task = task.strip()
        if not task:
            raise ValueError("the task is empty; say in one sentence what is to be done")
        if len(task.splitlines()) > 1:
            raise ValueError("the task has several lines; say it in one sentence on one line")
        return task

    @validates("inputs")
    @classmethod
    def _values_only(cls, given: dict[str, Any]) -> dict[str, Any]:
        inputs: dict[str, Any] = as_json(given)
        for name, value in inputs.items():
            if holds_messages(value):
                raise ValueError(
                    f"input {name!r} is a list of messages; pass the specific values the worker "
                    "needs, not the conversation"
                )
        return inputs


class HandoffResult(_Value):
    """What comes back: a status that is a value, data in the asked-for shape, a short note.

    Source: S0, step 2.
    """

    status: Status
    data: dict[str, Any] | None = None
    notes: str = ""
    """A short explanation for people."""
    steps_used: NonNegativeInt = 0
    transient: bool = False
    """Only with status `error`: the same request may work if it is tried once more."""

    def body(self) -> str:
        """Return it as canonical JSON, as it is recorded; put together as a request's body is."""
        try:
            text = (
                f'{{"data":{raw_text(self.data)},"notes":{quoted(self.notes)}'
                f',"status":"{self.status}","steps_used":{self.steps_used}'
                f',"transient":{"true" if self.transient else "false"}}}'
            )
        except NO_JSON:
            return canonical_text(dict(self))
        return text if is_utf8(text) else canonical_text(dict(self))


def reaction_to(result: HandoffResult, *, attempt: int = 1) -> Reaction:
    """Return what the caller does next. Only a transient error of a first attempt is retried."""
    match result.status:
        case Status.OK:
            return Reaction.CONTINUE
        case Status.NOT_FOUND:
            return Reaction.ACCEPT
        case Status.NEEDS_INPUT:
            return Reaction.ASK
        case Status.LIMIT_REACHED:
            return Reaction.PRESENT_AS_INCOMPLETE
        case Status.ERROR:
            return Reaction.RETRY if result.transient and attempt == 1 else Reaction.REPORT


def answer_text(result: HandoffResult) -> str:
    """Return a result as the text that a user is shown."""
    text = (result.data or {}).get("text")
    if isinstance(text, str) and text:
        return text
    if result.notes:
        return result.notes
    return json.dumps(result.data, ensure_ascii=False) if result.data else result.status.value
