"""Input files of many requests: plain text, JSON lines and CSV, read one record at a time."""

import csv
import io
import json
import re
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from hashlib import blake2b
from pathlib import Path
from typing import BinaryIO, NamedTuple, TextIO

from handoff_console.console.commands.errors import InputRefused
from handoff_console.console.commands.files import (
    LONGEST_CHARACTERS,
    csv_problem,
    opened,
    read_cells_bounded,
)
from handoff_console.runtime.canonical import canonical_text
from handoff_console.store.exchange.lines import json_problem

MESSAGE_NAMES = ("text", "input", "message")
"""Where a record's message stands; the first of them that it has."""
LONGEST_LINE_CHARACTERS = 10_000_000
"""Of one line, labels and escapes included; what is longer is passed over and never in memory."""
STANDARD_INPUT = "-"

_JSON_ENDINGS = frozenset({".jsonl", ".ndjson", ".json"})


class InputRequest(NamedTuple):
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
        self._file = _kept_aside() if path == STANDARD_INPUT else opened(Path(path))
        self._read = self._reader(Path(path).suffix.lower())

    def digest(self, key: bytes) -> str:
        """Return the keyed digest of the whole content: the same content, the same digest."""
        self._file.seek(0)
        total = blake2b(digest_size=16, key=key)
        while part := self._file.read(1 << 20):
            total.update(part)
        return total.hexdigest()

    def records(self) -> Iterator[InputRequest]:
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

    def _reader(self, ending: str) -> Callable[[TextIO, str], Iterator[InputRequest]]:
        start = self._file.read(4096).lstrip(b"\xef\xbb\xbf \t\r\n")[:1]
        if ending in {".csv", ".tsv"}:
            return _csv_records
        if ending == ".json" and start == b"[":
            return _array_refused
        if ending in _JSON_ENDINGS or start == b"{":
            return _json_records
        return _text_records


def _kept_aside() -> BinaryIO:
    kept = tempfile.TemporaryFile()  # noqa: SIM115 - InputFile closes it
    shutil.copyfileobj(sys.stdin.buffer, kept)
    kept.seek(0)
    return kept


class _Line(NamedTuple):
    number: int
    """From 1."""
    text: str
    characters: int
    """More than `text` has where the line was too long, and was cut."""

    @property
    def problem(self) -> str:
        """Say what is wrong with it; empty when it was read as a whole."""
        if self.characters > len(self.text):
            most = f"{LONGEST_LINE_CHARACTERS:,}"
            return f"it has {self.characters:,} characters; a line has at most {most}"
        return "it is not UTF-8" if _odd(self.text) else ""


def _lines(text: TextIO) -> Iterator[_Line]:
    number = 0
    while part := text.readline(LONGEST_LINE_CHARACTERS):
        number += 1
        characters, end = len(part), part[-1]
        while end not in "\r\n" and (rest := text.readline(_PART_CHARACTERS)):
            characters, end = characters + len(rest), rest[-1]
        yield _Line(number, part, characters)


_PART_CHARACTERS = 1 << 16


def _text_records(text: TextIO, _name: str) -> Iterator[InputRequest]:
    for line in _lines(text):
        if line.problem:
            yield _bad(line.number, line.problem)
        elif line.text.strip():
            yield InputRequest(line.number, line.text.strip(), {})


_NAMES_FLOW = re.compile(r'\s*\{\s*"flow"\s*:\s*"[^"\\]*"\s*\}\s*')
"""The line by which a data set says which flow it is for, and which asks nothing."""


def _json_records(text: TextIO, _name: str) -> Iterator[InputRequest]:
    for line in _lines(text):
        if line.problem:
            yield _bad(line.number, line.problem)
        elif line.text.strip() and not _NAMES_FLOW.fullmatch(line.text):
            yield _json_record(line.number, line.text.rstrip("\r\n"))


def _array_refused(_text: TextIO, name: str) -> Iterator[InputRequest]:
    raise InputRefused(name, None, "it is one JSON array; write one JSON object a line instead.")


def _json_record(number: int, line: str) -> InputRequest:
    try:
        value = json.loads(line)
    except json.JSONDecodeError as error:
        return _bad(number, f"it is not JSON ({json_problem(error)} at column {error.colno})")
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
    return InputRequest(number, message, metadata)


def _csv_records(text: TextIO, name: str) -> Iterator[InputRequest]:
    read_cells_bounded()
    lines = _CsvLines(text)
    rows = csv.reader(lines, dialect="excel-tab" if name.lower().endswith(".tsv") else "excel")
    columns = _columns(rows, name)
    message_at = next((columns.index(n) for n in MESSAGE_NAMES if n in columns), None)
    if message_at is None:
        has = f"it has: {', '.join(map(repr, columns))}" if columns else "it is empty"
        raise InputRefused(name, 1, f"no column is called {_or(MESSAGE_NAMES)}; {has}.")
    while True:
        number = rows.line_num + 1
        lines.problem = problem = ""
        try:
            row = next(rows)
        except StopIteration:
            return
        except csv.Error as error:
            row, problem = [], csv_problem(error)
        if lines.problem or problem:
            yield _bad(number, lines.problem or problem)
        elif any(cell.strip() for cell in row):
            yield _csv_record(number, row, columns, message_at)


class _CsvLines:
    """Lines for the CSV reader, which does not say how long one is."""

    def __init__(self, text: TextIO) -> None:
        self._lines = _lines(text)
        self.problem = ""
        """Of the lines read since it was emptied."""

    def __iter__(self) -> "_CsvLines":
        return self

    def __next__(self) -> str:
        line = next(self._lines)
        self.problem = self.problem or line.problem
        return line.text


def _columns(rows: Iterator[list[str]], name: str) -> list[str]:
    try:
        return next(rows, [])
    except csv.Error as error:
        raise InputRefused(name, 1, f"{csv_problem(error)}.") from None


def _csv_record(number: int, row: list[str], columns: list[str], message_at: int) -> InputRequest:
    if len(row) != len(columns):
        cells = "1 cell" if len(row) == 1 else f"{len(row)} cells"
        return _bad(number, f"it has {cells} where the first line has {len(columns)}")
    cells_by_name = dict(zip(columns, row, strict=True))
    return InputRequest(number, cells_by_name.pop(columns[message_at]), cells_by_name)


def _checked(record: InputRequest) -> InputRequest:
    if record.problem:
        return record
    number, message, metadata, _ = record
    halves = [sign for text in (message, *metadata, *metadata.values()) for sign in _odd(text)]
    if halves:
        return _bad(number, f"it has half of a character (\\u{ord(halves[0]):04x})")
    if not message.strip():
        return _bad(number, "its message is empty")
    if len(message) > LONGEST_CHARACTERS:
        return _bad(
            number,
            f"its message has {len(message):,} characters; at most {LONGEST_CHARACTERS:,} are read",
        )
    return record


def _bad(number: int, problem: str) -> InputRequest:
    return InputRequest(number, "", {}, problem)


def _odd(text: str) -> list[str]:
    """Return what is no character by itself: bytes that are not UTF-8, or halves out of JSON."""
    return [] if text.isascii() else [sign for sign in text if "\ud800" <= sign <= "\udfff"]


def _json_kind(value: object) -> str:
    kinds = {"bool": "boolean", "NoneType": "null", "list": "list", "dict": "object"}
    return kinds.get(type(value).__name__, "text" if isinstance(value, str) else "number")


def _or(names: tuple[str, ...]) -> str:
    quoted = [f"'{name}'" for name in names]
    return f"{', '.join(quoted[:-1])} or {quoted[-1]}"
