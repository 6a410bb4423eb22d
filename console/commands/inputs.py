"""Input files of many requests: plain text, JSON lines and CSV, read one record at a time."""

import csv
import io
import json
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from hashlib import blake2b
from pathlib import Path
from typing import BinaryIO, NamedTuple, TextIO

from handoff_console.console.commands.errors import InputRefused
from handoff_console.runtime.canonical import canonical_text

MESSAGE_NAMES = ("text", "input", "message")
"""Where a record's message stands; the first of them that it has."""
LONGEST_CHARACTERS = 1_000_000
"""Of one message."""
STANDARD_INPUT = "-"

_JSON_ENDINGS = frozenset({".jsonl", ".ndjson", ".json"})


class Record(NamedTuple):
    """One request of an input file, or what is wrong with it."""

    line: int
    """Where it begins, from 1."""
    message: str
    metadata: Mapping[str, str]
    """The other columns: labels, ids of the user's own."""
    problem: str = ""
    """Not empty: this record cannot be run, and why."""


class InputFile:
    """An input that can be read twice: once to know it again, once to run it.

    Args:
        path: The file; `-` is standard input.

    Raises:
        InputRefused: It cannot be read.
    """

    def __init__(self, path: str) -> None:
        self.name = "standard input" if path == STANDARD_INPUT else str(Path(path).absolute())
        self._file = _kept_aside() if path == STANDARD_INPUT else _opened(Path(path))
        self._read = self._reader(Path(path).suffix.lower())

    def digest(self, key: bytes) -> str:
        """Return the keyed digest of the whole content: the same content, the same digest."""
        self._file.seek(0)
        total = blake2b(digest_size=16, key=key)
        while part := self._file.read(1 << 20):
            total.update(part)
        return total.hexdigest()

    def records(self) -> Iterator[Record]:
        """Yield every request in order, bad ones with their problem; blank lines are none.

        Raises:
            InputRefused: The file as a whole has the wrong form.
        """
        self._file.seek(0)
        # What is not UTF-8 becomes lone surrogates here, and a problem of its line below.
        text = io.TextIOWrapper(
            self._file, encoding="utf-8-sig", errors="surrogateescape", newline=""
        )
        try:
            for record in self._read(text, self.name):
                yield _checked(record)
        finally:
            text.detach()

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def _reader(self, ending: str) -> Callable[[TextIO, str], Iterator[Record]]:
        start = self._file.read(4096).lstrip(b"\xef\xbb\xbf \t\r\n")[:1]
        if ending in {".csv", ".tsv"}:
            return _csv_records
        if ending == ".json" and start == b"[":
            return _array_refused
        if ending in _JSON_ENDINGS or start == b"{":
            return _json_records
        return _text_records


def _opened(path: Path) -> BinaryIO:
    try:
        return path.open("rb")
    except FileNotFoundError:
        problem = "there is no such file; check the path."
    except IsADirectoryError:
        problem = "it is a folder; name a file in it."
    except OSError as error:
        problem = f"it cannot be read ({error.strerror or error})."
    raise InputRefused(str(path), None, problem)


def _kept_aside() -> BinaryIO:
    kept = tempfile.TemporaryFile()  # noqa: SIM115 - InputFile closes it
    shutil.copyfileobj(sys.stdin.buffer, kept)
    kept.seek(0)
    return kept


def _text_records(text: TextIO, _name: str) -> Iterator[Record]:
    for number, line in enumerate(text, 1):
        if line.strip():
            yield Record(number, line.strip(), {})


def _json_records(text: TextIO, _name: str) -> Iterator[Record]:
    for number, line in enumerate(text, 1):
        if line.strip():
            yield _json_record(number, line.rstrip("\r\n"))


def _array_refused(_text: TextIO, name: str) -> Iterator[Record]:
    raise InputRefused(name, None, "it is one JSON array; write one JSON object a line instead.")


def _json_record(number: int, line: str) -> Record:
    try:
        value = json.loads(line)
    except json.JSONDecodeError as error:
        return _bad(number, f"it is no JSON ({error.msg} at column {error.colno})")
    except (ValueError, RecursionError):
        return _bad(number, "it is JSON with a number or a nesting too large to read")
    if not isinstance(value, dict):
        return _bad(number, f"it is a JSON {_json_kind(value)}, not an object")
    name = next((name for name in MESSAGE_NAMES if name in value), None)
    if name is None:
        return _bad(number, f"it has none of the keys {_or(MESSAGE_NAMES)}")
    message = value.pop(name)
    if not isinstance(message, str):
        return _bad(number, f"its {name!r} is a {_json_kind(message)}, not a text")
    metadata = {
        key: item if isinstance(item, str) else canonical_text(item) for key, item in value.items()
    }
    return Record(number, message, metadata)


def _csv_records(text: TextIO, name: str) -> Iterator[Record]:
    rows = csv.reader(text, dialect="excel-tab" if name.lower().endswith(".tsv") else "excel")
    columns = next(rows, [])
    message_at = next((columns.index(n) for n in MESSAGE_NAMES if n in columns), None)
    if message_at is None:
        has = f"it has: {', '.join(map(repr, columns))}" if columns else "it is empty"
        raise InputRefused(name, 1, f"no column is called {_or(MESSAGE_NAMES)}; {has}.")
    while True:
        number = rows.line_num + 1
        try:
            row = next(rows)
        except StopIteration:
            return
        except csv.Error as error:
            yield _bad(number, f"it is no row of CSV ({error})")
            continue
        if not any(cell.strip() for cell in row):
            continue
        if len(row) != len(columns):
            yield _bad(number, f"it has {len(row)} cells where the first line has {len(columns)}")
            continue
        cells = dict(zip(columns, row, strict=True))
        yield Record(number, cells.pop(columns[message_at]), cells)


def _checked(record: Record) -> Record:
    if record.problem:
        return record
    number, message, metadata, _ = record
    if not all(map(_is_utf8, (message, *metadata, *metadata.values()))):
        return _bad(number, "it is not UTF-8")
    if not message.strip():
        return _bad(number, "its message is empty")
    if len(message) > LONGEST_CHARACTERS:
        return _bad(
            number,
            f"its message has {len(message):,} characters; at most {LONGEST_CHARACTERS:,} are read",
        )
    return record


def _bad(number: int, problem: str) -> Record:
    return Record(number, "", {}, problem)


def _is_utf8(text: str) -> bool:
    return text.isascii() or not any("\ud800" <= sign <= "\udfff" for sign in text)


def _json_kind(value: object) -> str:
    kinds = {"bool": "boolean", "NoneType": "null", "list": "list", "dict": "object"}
    return kinds.get(type(value).__name__, "text" if isinstance(value, str) else "number")


def _or(names: tuple[str, ...]) -> str:
    quoted = [f"'{name}'" for name in names]
    return f"{', '.join(quoted[:-1])} or {quoted[-1]}"
