"""The typed boundary between two agents: a small request in, a small result out, limits attached.

Source: S0, steps 1 and 2.
"""

from enum import StrEnum
from typing import Any, Literal, NamedTuple, NotRequired, TypedDict

from pydantic import BaseModel, ConfigDict, Field, NonNegativeInt, PositiveFloat, PositiveInt
from pydantic import field_validator as validates

from handoff_console.runtime.canonical import NO_JSON, canonical_text, is_utf8, quoted, raw_text


class Status(StrEnum):
    """How a handoff that ran came out. Every status asks for one reaction (`reaction_to`)."""

    OK = "ok"
    """The task is done."""
    NOT_FOUND = "not_found"
    """The thing asked for does not exist: an answer, never a reason to try again."""
    NEEDS_INPUT = "needs_input"
    """A value is missing that only the user or the caller can give."""
    ERROR = "error"
    """It failed; tried once more only when marked transient."""
    LIMIT_REACHED = "limit_reached"
    """Stopped by the runtime; what was gathered so far is incomplete."""


class State(StrEnum):
    """What a handoff is while, or when, it has no result."""

    WAITING = "waiting"
    """For an approval or an answer by a person."""
    RUNNING = "running"
    INTERRUPTED = "interrupted"
    """Its process is gone."""
    CANCELLED = "cancelled"
    REFUSED = "refused"
    """The gate did not let it through."""
    TRANSFERRED = "transferred"
    """It passed control on; the last of the chain has the result."""
    INCOMPLETE = "incomplete"
    """Imports only: the record breaks off."""
    UNKNOWN = "unknown"
    """Imports only: the record does not say."""


WORST_FIRST: tuple[Status | State, ...] = (
    Status.ERROR,
    Status.LIMIT_REACHED,
    State.INTERRUPTED,
    State.REFUSED,
    State.WAITING,
    Status.NEEDS_INPUT,
    State.CANCELLED,
    State.INCOMPLETE,
    State.RUNNING,
    State.UNKNOWN,
    Status.NOT_FOUND,
    State.TRANSFERRED,
    Status.OK,
)
"""All outcomes, in the order in which they ask for attention."""


class EndedBy(StrEnum):
    """What closed a handoff."""

    ANSWERED = "answered"
    TRANSFERRED = "transferred"
    STOPPED = "stopped"
    """By a limit."""
    FAILED = "failed"
    CANCELLED = "cancelled"


class HandoffKind(StrEnum):
    """The two ways to hand off."""

    CALL = "call"
    """The caller waits and keeps control: a child in the tree."""
    TRANSFER = "transfer"
    """Control moves; the target answers to whoever waited for the sender."""


class ContextPolicy(StrEnum):
    """What goes along with a transfer."""

    PACKET = "packet"
    """Goal, summary and facts; nothing of the conversation."""
    SLICE = "slice"
    """The validated payload and the most recent turns. Source: S2, "Strategy B"."""
    FULL_HISTORY = "full_history"
    """The whole conversation: costly, and it may show what the receiver should not see."""


class Effect(StrEnum):
    """What a tool does to the world."""

    READ = "read"
    WRITE = "write"
    """Changes something of ours."""
    EXTERNAL = "external"
    """Reaches people or systems outside: messages, payments, deployments."""


class Reaction(StrEnum):
    """What follows from a result. Source: S0, step 2."""

    CONTINUE = "continue"
    ACCEPT = "accept"
    """Nothing was found, and that is the answer."""
    ASK = "ask"
    """Ask the user, or supply the missing value."""
    RETRY = "retry"
    REPORT = "report"
    """Say that it failed."""
    PRESENT_AS_INCOMPLETE = "present_as_incomplete"


class Usage(NamedTuple):
    """The tokens one model call took."""

    input_tokens: int
    output_tokens: int
    measured: bool = True
    """False: the model did not say, and this is an estimate."""

    @property
    def tokens(self) -> int:
        """Input plus output."""
        return self.input_tokens + self.output_tokens


class ToolCall(TypedDict):
    """A tool or a handoff that a model asks for, as it stands in a message."""

    id: str
    name: str
    arguments: dict[str, Any]
    malformed: NotRequired[str]
    """The arguments as they came, where they were no JSON object; `arguments` is then empty."""


class Message(TypedDict):
    """One message of a context, in the form that is sent to a model and recorded."""

    role: Literal["system", "user", "assistant", "tool"]
    content: str
    tool_calls: NotRequired[list[ToolCall]]
    """Only from the assistant."""
    tool_call_id: NotRequired[str]
    """Only of role `tool`: the call it answers."""
    name: NotRequired[str]
    """Only of role `tool`: the tool that answers."""


class _Value(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


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
    output_schema: str = "Text"
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
            return canonical_text(self.model_dump(mode="json"))
        return text if is_utf8(text) else canonical_text(self.model_dump(mode="json"))

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
    def _values_only(cls, inputs: dict[str, Any]) -> dict[str, Any]:
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
            return canonical_text(self.model_dump(mode="json"))
        return text if is_utf8(text) else canonical_text(self.model_dump(mode="json"))


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


def holds_messages(value: Any) -> bool:
    """Say whether a JSON value holds a conversation, at any depth.

    A conversation is a list in which an item has a role and content.
    """
    waiting, seen = [value], set()
    while waiting:
        item = waiting.pop()
        # By their own type: an abstract one costs 0.1 ms the first time it is asked.
        if not isinstance(item, dict | list | tuple) or id(item) in seen:
            continue
        seen.add(id(item))
        inside = item.values() if isinstance(item, dict) else item
        if inside is item and any(_is_message(part) for part in inside):
            return True
        waiting += inside
    return False


def _is_message(value: Any) -> bool:
    return isinstance(value, dict) and "role" in value and "content" in value
