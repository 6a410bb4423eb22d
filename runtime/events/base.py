"""The envelope that every event has, the port events go out through, and how kinds are declared."""

import dataclasses
import json
from collections.abc import Callable, Mapping
from enum import StrEnum
from functools import cache
from typing import (
    Annotated,
    Any,
    ClassVar,
    NamedTuple,
    Protocol,
    TypeVar,
    dataclass_transform,
    get_args,
    get_origin,
    get_type_hints,
)

from pydantic import TypeAdapter, ValidationError
from pydantic_core import PydanticSerializationError, to_json

from handoff_console.runtime.canonical import canonical_text
from handoff_console.runtime.errors import EventError
from handoff_console.runtime.events.compiled import fields_writer, texts_finder
from handoff_console.runtime.frozen import frozen_by_name

FREE_TEXT = "free text"
FreeText = Annotated[str, FREE_TEXT]
"""Text that a model, a tool or a person wrote: untrusted, and redacted before it is written."""

Digest = Annotated[str, "digest"]
"""The id of a body, 32 hexadecimal digits: what was said is kept once, beside the events."""


class Payload:
    """What one kind of event says, without the envelope."""

    __slots__ = ()
    kind: ClassVar[str]
    version: ClassVar[int]
    free_text: ClassVar[tuple[str, ...]] = ()
    """The fields that hold text written by a model, a tool or a person."""
    digests: ClassVar[tuple[str, ...]] = ()
    """The fields that name a body, or several."""
    defaults: ClassVar[tuple[tuple[str, Any], ...]] = ()
    """Every field with its default; required fields have `MISSING`."""

    def written(self) -> dict[str, Any]:
        """Return the fields that differ from their default, by name. Made for each kind."""
        raise NotImplementedError

    def texts(self) -> list[Any]:
        """Return what may hold a secret: free text that is longer than a name. Made likewise."""
        raise NotImplementedError


class Opaque(Payload):
    """An event of a kind this version does not know: kept as it came, shown as it is."""

    __slots__ = ("fields", "kind", "version")

    def __init__(self, kind: str, version: int, fields: Mapping[str, Any]) -> None:
        self.kind, self.version, self.fields = kind, version, dict(fields)  # type: ignore[misc]

    def written(self) -> dict[str, Any]:
        """Return the fields as they came, in order."""
        fields: dict[str, Any] = json.loads(canonical_text(self.fields))
        return fields

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Opaque) and (self.kind, self.version, self.fields) == (
            other.kind,
            other.version,
            other.fields,
        )

    __hash__ = None  # type: ignore[assignment]


class Event(NamedTuple):
    """One thing that happened, as it was true afterwards. Order by `seq`, never by time."""

    session_id: str
    seq: int
    """1, 2, 3 … within the session."""
    at: float
    """Time of day, in seconds since 1970 (UTC)."""
    elapsed_seconds: float
    """Since the session started, by a clock that never goes back."""
    turn: int
    """The user turn it belongs to, from 1; 0 before the first."""
    request_id: str | None
    """The request (one user turn and all it caused) it belongs to."""
    handoff_id: str | None
    parent_id: str | None
    """The handoff that called this one; None for the root and for what transfers continue it."""
    path: str | None
    """Where the handoff stands in the tree: `t1/2.0~1` is turn 1, step 2, call 0, transfer 1."""
    attempt: int
    """1; 2 for the one retry of a transient error."""
    payload: Payload

    @property
    def kind(self) -> str:
        """The kind's name, in the past tense."""
        return self.payload.kind


class EventSink(Protocol):
    """Where the runtime puts what happens. The store has one; `EventList` is another."""

    digest_key: bytes
    """The secret that digests are made with."""

    def append(self, event: Event, /) -> None:
        """Take an event; it need not be durable before `commit`."""
        ...

    def keep(self, digest: str, body: bytes, session_id: str, /) -> None:
        """Take a body (canonical JSON, redacted) that events of this session name by its digest."""
        ...

    def commit(self, *, synced: bool = False) -> None:
        """Make all that was taken durable: it survives the process, and `synced` a power cut."""
        ...


class EventList:
    """A sink that keeps everything in memory: for tests, and for runs that need no record."""

    def __init__(self, digest_key: bytes = b"") -> None:
        self.digest_key = digest_key
        self.events: list[Event] = []
        self.bodies: dict[str, bytes] = {}
        self.committed = 0
        """How many events a killed process would have left behind."""

    def append(self, event: Event, /) -> None:
        """Keep the event."""
        self.events.append(event)

    def keep(self, digest: str, body: bytes, session_id: str, /) -> None:  # noqa: ARG002
        """Keep the body once."""
        self.bodies.setdefault(digest, body)

    def commit(self, *, synced: bool = False) -> None:  # noqa: ARG002
        """Note how far it came."""
        self.committed = len(self.events)

    def body(self, digest: str) -> Any:
        """Return a body as the JSON value it is."""
        return json.loads(self.bodies[digest])


KINDS: dict[str, type[Payload]] = {}
"""Every kind that this version writes, by name."""

_P = TypeVar("_P", bound=Payload)


@dataclass_transform(frozen_default=True, kw_only_default=True)
def event(kind: str, *, version: int = 1) -> Callable[[type[_P]], type[_P]]:
    """Declare a payload class: frozen, keyword-only, registered under its kind.

    Plain data classes, because a payload is made for every event and read only on demand: making a
    pydantic model costs more than writing the row. `load_payload` validates.
    """

    def declare(cls: type[_P]) -> type[_P]:
        made = frozen_by_name(cls)
        hints = get_type_hints(made, include_extras=True)
        fields = dataclasses.fields(made)  # type: ignore[arg-type]
        made.kind, made.version = kind, version
        made.free_text = tuple(f.name for f in fields if _carries(hints[f.name], FREE_TEXT))
        made.digests = tuple(f.name for f in fields if _carries(hints[f.name], "digest"))
        made.defaults = tuple((f.name, f.default) for f in fields)
        forms = {name: form for name, hint in hints.items() if (form := _form(hint))}
        made.written = fields_writer(  # type: ignore[method-assign, assignment]
            dict(made.defaults), forms
        )
        made.texts = texts_finder(made.free_text)  # type: ignore[method-assign, assignment]
        KINDS[kind] = made
        return made

    return declare


def payload_fields(payload: Payload) -> dict[str, Any]:
    """Return what is written of a payload: the fields that differ from their default."""
    return payload.written()


def payload_text(payload: Payload) -> str:
    """Return a payload as the JSON that is written: fields in order, no spaces."""
    try:
        return to_json(payload.written(), inf_nan_mode="strings").decode()
    except PydanticSerializationError:  # a lone surrogate, or what JSON has no form for
        return canonical_text(payload.written())


def load_payload(kind: str, version: int, fields: Mapping[str, Any]) -> Payload:
    """Return the payload that was written as `fields`.

    A kind, or a version of a kind, that is newer than this program comes back as `Opaque`.

    Raises:
        EventError: The fields do not fit the kind; the text names the field.
    """
    cls = KINDS.get(kind)
    if cls is None or version > cls.version:
        return Opaque(kind, version, fields)
    try:
        loaded: Payload = _adapter(kind).validate_python(fields)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        where = ".".join(map(str, first["loc"])) or "payload"
        raise EventError(f"An event {kind!r} cannot be read: {where}: {first['msg']}.") from error
    return loaded


@cache
def _adapter(kind: str) -> TypeAdapter[Any]:
    return TypeAdapter(KINDS[kind])


def _carries(hint: Any, mark: str) -> bool:
    if get_origin(hint) is Annotated:
        return mark in hint.__metadata__ or _carries(hint.__origin__, mark)
    return any(_carries(part, mark) for part in get_args(hint))


def _form(hint: Any) -> str:
    """Return how a field's `value` is written, where that is not as it is."""
    if get_origin(hint) is dict:
        return "dict(sorted(value.items()))"
    kinds = [kind for kind in (hint, *get_args(hint)) if isinstance(kind, type)]
    if any(issubclass(kind, StrEnum) for kind in kinds):
        return "None if value is None else str(value)"  # 12,000 instructions as an enum (measured)
    return ""
