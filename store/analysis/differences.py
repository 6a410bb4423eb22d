"""What it means that two runs differ: one value, on either side, with its place in the record."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import Enum, StrEnum
from typing import Any, Final, NamedTuple

LEVELS = 6
"""Values that lie deeper inside each other are compared as a whole."""
LIST_ITEMS = 50
"""Lists that are longer, or of different lengths, are compared as a whole."""


class Absent(Enum):
    """Stands for what one side does not have; `null` is a value."""

    ABSENT = "absent"


ABSENT: Final = Absent.ABSENT


class Aspect(StrEnum):
    """What a difference is about, in the order in which a handoff comes by it."""

    SESSION = "session"
    """The flow, its limits, its prompt version."""
    HANDOFF = "handoff"
    """Only one side has this handoff."""
    REQUEST = "request"
    PACKET = "packet"
    PROMPT = "prompt"
    MODEL = "model"
    OFFER = "offer"
    """A tool or a handoff that the agent may ask for, with its schema and its source."""
    MESSAGE = "message"
    """What the agent read, beside its prompt and the results of its tools."""
    REPLY = "reply"
    TOOL_CALL = "tool call"
    """Which tool was called, and with what."""
    TOOL_RESULT = "tool result"
    STATUS = "status"
    RESULT = "result"


@dataclass(frozen=True, slots=True)
class Difference:
    """One value that is not the same on both sides."""

    aspect: Aspect
    name: str
    """Which one: `inputs.customer_id`, `step 2`, `list_invoices`."""
    left: Any
    """JSON, or `ABSENT`; so is the next."""
    right: Any
    left_seq: int | None
    """The event that shows it; None where that side has none. So is the next."""
    right_seq: int | None


class Field(NamedTuple):
    """A part of two JSON values that differs."""

    name: str
    """Its path inside: `limits.max_steps`; empty for the whole value."""
    left: Any
    right: Any


def changed_fields(left: Any, right: Any, name: str = "") -> Iterator[Field]:
    """Yield the smallest parts of two JSON values that differ, by name; none when they are equal.

    Args:
        left: One value; `ABSENT` when there is none.
        right: The other one.
        name: What the parts' names begin with.
    """
    waiting = [(Field(name, left, right), 0)]
    while waiting:
        field, level = waiting.pop()
        if field.left is field.right:
            continue
        parts = _parts(field) if level < LEVELS else None
        if parts is not None:
            waiting.extend((part, level + 1) for part in reversed(parts))
        elif not _same(field.left, field.right):
            yield field


def _same(left: Any, right: Any) -> bool:
    # Python takes 1, 1.0 and True for the same; in a record only the first two are.
    return bool(left == right) and isinstance(left, bool) == isinstance(right, bool)


def _parts(field: Field) -> list[Field] | None:
    left, right = field.left, field.right
    if isinstance(left, Mapping) and isinstance(right, Mapping):
        keys = sorted({*map(str, left), *map(str, right)})
        return [
            Field(_inside(field.name, key), left.get(key, ABSENT), right.get(key, ABSENT))
            for key in keys
        ]
    both_lists = isinstance(left, list) and isinstance(right, list)
    if both_lists and len(left) == len(right) <= LIST_ITEMS:
        return [
            Field(_inside(field.name, str(place)), mine, theirs)
            for place, (mine, theirs) in enumerate(zip(left, right, strict=True))
        ]
    return None


def _inside(name: str, key: str) -> str:
    return f"{name}.{key}" if name else key
