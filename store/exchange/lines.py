"""One line of a JSON lines file: read within bounds, and checked against what it has to be."""

import json
import math
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any, BinaryIO, NamedTuple

from handoff_console.runtime.canonical import DIGEST_BYTES
from handoff_console.store.errors import ImportRefused
from handoff_console.store.reader import MAX_SEQ

MAX_LINE_BYTES = 64 * 2**20
"""Longer lines are refused before they are read."""

MAX_NAME_CHARACTERS = 1_000
"""Of ids, paths and kinds."""

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)


class Line(NamedTuple):
    """A line that is a JSON object."""

    number: int
    """From 1."""
    fields: Mapping[str, Any]
    size_bytes: int


class LineReader:
    """Reads a file line by line; whatever is wrong becomes one sentence that names the line."""

    def __init__(self, file: BinaryIO, source: str) -> None:
        self._file, self.source = file, source
        self.number = 0

    def refuse(self, problem: str, line: int | None = None) -> ImportRefused:
        """Return the error that stops the import here, or at the line given."""
        return ImportRefused(self.source, line or self.number or None, problem)

    def __iter__(self) -> Iterator[Line]:
        while text := self._file.readline(MAX_LINE_BYTES + 1):
            self.number += 1
            if len(text) > MAX_LINE_BYTES:
                raise self.refuse(
                    f"the line is longer than {MAX_LINE_BYTES // 2**20} MB; no session has that."
                )
            yield Line(self.number, self._object(text), len(text))

    def _object(self, text: bytes) -> Mapping[str, Any]:
        try:
            value = json.loads(text.decode(), parse_constant=_no_such_number, parse_float=_finite)
        except UnicodeDecodeError as error:
            raise self.refuse(
                f"byte {error.start + 1} is not UTF-8; save the file in that encoding."
            ) from error
        except RecursionError as error:
            raise self.refuse("the values are nested too deeply; no session has that.") from error
        except json.JSONDecodeError as error:
            raise self.refuse(
                f"this is not JSON ({json_problem(error)} at column {error.colno})."
            ) from error
        except ValueError as error:
            raise self.refuse(f"a number is out of range ({error}).") from error
        if not isinstance(value, dict):
            raise self.refuse("a JSON object is expected here.")
        return value

    def field(self, line: Line, name: str, kind: type | tuple[type, ...]) -> Any:
        """Return a field that has to be there, of this type."""
        value = line.fields.get(name)
        if not isinstance(value, kind) or isinstance(value, bool):
            raise self.refuse(f"`{name}` is missing, or not of the right type.", line.number)
        return value

    def count(self, line: Line, name: str, *, least: int = 0) -> int:
        """Return a whole number."""
        number = self.field(line, name, int)
        if not least <= number <= MAX_SEQ:
            raise self.refuse(f"`{name}` is {number}, which cannot be.", line.number)
        return int(number)

    def name(self, line: Line, name: str) -> str:
        """Return an id, path or kind: printable, and not endless."""
        text = self.field(line, name, str)
        if not text or not text.isprintable() or len(text) > MAX_NAME_CHARACTERS:
            raise self.refuse(
                f"`{name}` is empty, too long, or has signs that cannot be printed.", line.number
            )
        return str(text)

    def optional_name(self, line: Line, name: str) -> str | None:
        """Return an id or a path; None when it is not there."""
        return self.name(line, name) if name in line.fields else None

    def digest(self, line: Line) -> str:
        """Return the digest of a body line."""
        text = self.field(line, "digest", str)
        if len(text) != 2 * DIGEST_BYTES or not set(text) <= set("0123456789abcdef"):
            raise self.refuse("`digest` has to be 32 hexadecimal digits.", line.number)
        return str(text)

    def time_us(self, line: Line, name: str) -> int:
        """Return a time of day as whole microseconds since 1970."""
        text = self.field(line, name, str)
        try:
            moment = datetime.fromisoformat(text)
            if moment.tzinfo is None:
                raise self.refuse(f"`{name}` does not say its time zone.", line.number)
            since: timedelta = moment.astimezone(UTC) - _EPOCH
        except (ValueError, OverflowError) as error:
            raise self.refuse(f"`{name}` is not a time in ISO form.", line.number) from error
        return since // _MICROSECOND

    def duration_us(self, line: Line, name: str) -> int:
        """Return a duration in seconds as whole microseconds."""
        seconds: float = self.field(line, name, (int, float))
        if not abs(seconds) < 1e12:
            raise self.refuse(f"`{name}` is {seconds}, which cannot be.", line.number)
        return round(seconds * 1e6)

    def only(self, line: Line, names: frozenset[str]) -> None:
        """Refuse fields that nobody here knows what to do with."""
        unknown = sorted(line.fields.keys() - names)
        if unknown:
            raise self.refuse(f"the field {unknown[0]!r} is unknown here.", line.number)


def json_problem(error: json.JSONDecodeError) -> str:
    """Return what is wrong with a text that is not JSON, without the place, in a few words."""
    return error.msg.rstrip(": ").removesuffix(" at")


def iso_time(at_us: int) -> str:
    """Return a time as `2026-01-05T09:00:00.000000Z`."""
    moment = _EPOCH + timedelta(microseconds=at_us)
    return (
        moment.strftime("%Y-%m-%dT%H:%M:%S.%fZ")
        if moment.year >= 1000
        else (moment.isoformat(timespec="microseconds").replace("+00:00", "Z"))
    )


def _no_such_number(text: str) -> float:
    raise ValueError(f"{text} is not a JSON number")


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise ValueError(f"{text} is too large")
    return number
