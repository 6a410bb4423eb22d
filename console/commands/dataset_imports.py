"""Data sets of others as cases: CSV with a text and a label, CLINC150, Banking77."""

import csv
import io
import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from handoff_console.console.commands.datasets import case_id
from handoff_console.console.commands.errors import InputRefused
from handoff_console.console.commands.files import csv_problem, read_cells_bounded, utf8_text
from handoff_console.store.analysis.comparison.cases import Expect, RouteCase

TEXTS = ("input", "text", "message", "utterance", "query")
LABELS = ("expected", "label", "agent", "domain", "intent", "category")
NOBODY = frozenset({"oos", "out_of_scope", "out of scope", "abstain", "none", "nobody"})
"""Labels that say that nobody is for it."""


def import_cases(
    path: Path, form: str, *, part: str = "test", labels: Path | None = None
) -> tuple[RouteCase, ...]:
    """Read the cases of another data set; of one text only the first.

    Args:
        path: CSV; JSON lines with a text and a label; or CLINC150's own `data_full.json`.
        form: `csv`, `clinc` or `banking77`.
        part: Which part of CLINC150: `train`, `val` or `test`.
        labels: A JSON file from labels to agents, or from agents to lists of labels. Without it
            the labels are the agents.

    Raises:
        InputRefused: It cannot be read, or a label is in no agent's list.
    """
    named = _agents_by_label(labels) if labels else None
    found: dict[str, RouteCase] = {}
    for line, text, label in _pairs(path, form, part):
        if not text.strip() or text in found:
            continue
        found[text] = _case(path, line, text.strip(), label.strip(), named)
    if not found:
        raise InputRefused(str(path), None, "it has no case of this part; name another one.")
    return tuple(found.values())


def _case(
    path: Path, line: int, text: str, label: str, named: Mapping[str, str] | None
) -> RouteCase:
    if label.lower() in NOBODY:
        return RouteCase(case_id(text), text, expect=Expect.ABSTAIN)
    if label.lower() == Expect.DIRECT:
        return RouteCase(case_id(text), text, expect=Expect.DIRECT)
    if not label:
        raise InputRefused(str(path), line, "it has no label; give it one, or take it out.")
    if named is not None and label not in named:
        raise InputRefused(
            str(path), line, f"its label {label!r} is for no agent; add it to the --map file."
        )
    agent = named[label] if named is not None else label
    tags = (label,) if agent != label else ()
    return RouteCase(case_id(text), text, (agent,), tags=tags)


def _pairs(path: Path, form: str, part: str) -> Iterable[tuple[int, str, str]]:
    text = utf8_text(path)
    if form == "clinc" and path.suffix == ".json":
        return _clinc(path, text, part)
    if path.suffix.lower() in (".jsonl", ".ndjson"):
        return _json_lines(path, text)
    return _csv(path, text)


def _clinc(path: Path, text: str, part: str) -> Iterable[tuple[int, str, str]]:
    """CLINC150's own form: lists of [text, intent] by part, those for nobody apart."""
    try:
        whole = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InputRefused(str(path), None, f"it is no JSON ({error}).") from error
    if not isinstance(whole, dict) or part not in whole:
        has = ", ".join(whole) if isinstance(whole, dict) else "a list"
        raise InputRefused(str(path), None, f"it has no part {part!r}; it has: {has}.")
    for name in (part, f"oos_{part}"):
        pairs = whole.get(name, [])
        for number, pair in enumerate(pairs if isinstance(pairs, list) else [None], 1):
            if not isinstance(pair, list) or len(pair) != 2:
                raise InputRefused(
                    str(path), None, f"its part {name!r} is no list of pairs [text, intent]."
                )
            said, intent = pair
            yield number, str(said), str(intent)


def _json_lines(path: Path, text: str) -> Iterable[tuple[int, str, str]]:
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise InputRefused(str(path), number, f"it is no JSON ({error}).") from error
        if not isinstance(row, dict):
            raise InputRefused(str(path), number, "it is no JSON object; write one a line.")
        yield number, *_columns(path, number, row)


def _csv(path: Path, text: str) -> Iterable[tuple[int, str, str]]:
    read_cells_bounded()
    reader = csv.DictReader(io.StringIO(text))
    try:
        for row in reader:
            yield reader.line_num, *_columns(path, reader.line_num, row)
    except csv.Error as error:
        raise InputRefused(str(path), reader.line_num, f"{csv_problem(error)}.") from error


def _columns(path: Path, line: int, row: Mapping[str, Any]) -> tuple[str, str]:
    """Return a row's text and label; an intent counts before a domain when it is mapped."""
    text = next((row[name] for name in TEXTS if row.get(name)), None)
    label = next((row[name] for name in LABELS if row.get(name)), None)
    if text is None or label is None:
        which, names = ("text", TEXTS) if text is None else ("label", LABELS)
        raise InputRefused(
            str(path), line, f"it has no {which}; one is called: {', '.join(names)}."
        )
    return str(text), str(label)


def _agents_by_label(path: Path) -> Mapping[str, str]:
    try:
        given = json.loads(utf8_text(path))
    except (ValueError, RecursionError) as error:
        raise InputRefused(str(path), None, f"it is no JSON ({error}).") from error
    if not isinstance(given, dict):
        raise InputRefused(str(path), None, "it is no JSON object from labels to agents.")
    found: dict[str, str] = {}
    for key, value in given.items():
        if isinstance(value, list):
            found |= {str(label): key for label in value}
        else:
            found[key] = str(value)
    return found
