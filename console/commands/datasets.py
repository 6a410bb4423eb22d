"""Data sets: files of labelled requests, JSON lines or CSV, read as cases and written again.

A line of JSON may have `flow` alone: the flow that the cases are for. In CSV, lists are joined by
`|`. A case without an id gets one from its text, so that it is known again.
"""

import csv
import io
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import MISSING, dataclass, fields
from pathlib import Path
from typing import Any, get_type_hints

from pydantic import BaseModel, ConfigDict, Field, ValidationError, create_model

from handoff_console.console.commands.errors import InputRefused
from handoff_console.console.commands.files import csv_problem, read_cells_bounded, utf8_text
from handoff_console.runtime.canonical import digest
from handoff_console.runtime.tool import problems
from handoff_console.store.analysis.comparison.cases import Expect, RouteCase
from handoff_console.store.experiment_forms import CASE_NAMES, case_fields, dataset_digest

BUNDLED = "datasets"
"""The folder of the samples' data sets, beside their flows."""
LISTS = ("expected", "expected_all", "required_fields", "tags")


@dataclass(frozen=True)
class Dataset:
    """A data set as it was read."""

    name: str
    """The file's name without its ending."""
    path: str
    flow: str
    """The flow that it names; empty where it names none."""
    cases: tuple[RouteCase, ...]

    @property
    def digest(self) -> str:
        """What tells it from another one: equal cases in any order, equal digest."""
        return dataset_digest(self.cases)


def _line_model() -> type[BaseModel]:
    """Return one line as it may be written: the fields of a case, but an id may be missing."""
    hints = get_type_hints(RouteCase)
    allowed: dict[str, Any] = {}
    for field in fields(RouteCase):
        default: Any = field.default
        if field.default_factory is not MISSING:
            default = Field(default_factory=field.default_factory)
        elif field.name == "case_id":
            default = ""
        elif default is MISSING:
            default = Field(min_length=1)
        hint = dict[str, Any] if field.name == "state" else hints[field.name]
        allowed[CASE_NAMES.get(field.name, field.name)] = (hint, default)
    return create_model("Case", __config__=ConfigDict(extra="forbid", frozen=True), **allowed)


_Line = _line_model()


def case_id(text: str) -> str:
    """Return the id of a case that has none: made from its text."""
    return f"c-{digest(text.encode(), b'')[:8]}"


def find_dataset(name: str) -> Path:
    """Return the file of a data set: a path, or the name of one that comes with the samples.

    Raises:
        InputRefused: There is none.
    """
    path = Path(name)
    if path.is_file():
        return path
    from handoff_console import sample_runs

    folder = Path(sample_runs.__file__).parent / BUNDLED
    bundled = folder / f"{name}.jsonl"
    if path.name == name and bundled.is_file():
        return bundled
    known = ", ".join(sorted(file.stem for file in folder.glob("*.jsonl")))
    raise InputRefused(
        name, None, f"there is no such file; name a file, or one that is here already: {known}."
    )


def read_dataset(
    name: str,
    *,
    labelled: bool = True,
    unique: bool = True,
    wrong: list[InputRefused] | None = None,
) -> Dataset:
    """Read a data set; `find_dataset` says what may be named.

    Args:
        name: A file, or the name of one that comes with the samples.
        labelled: Every case has to say who is right; otherwise some may be still to be labelled.
        unique: No two cases may have one id; otherwise `check_dataset` lists those that do.
        wrong: Takes each line that is no case, and the rest is read; without it the first such line
            ends the reading.

    Raises:
        InputRefused: It cannot be read; the text names the first line that is wrong.
    """
    path = find_dataset(name)
    text = utf8_text(path)
    rows = _csv_rows(path, text) if path.suffix.lower() == ".csv" else _json_rows(path, text)
    flow, cases = "", []
    for line, row in rows:
        try:
            if isinstance(row, InputRefused):
                raise row
            if set(row) == {"flow"}:
                flow = str(row["flow"])
                continue
            cases.append(_case(path, line, row, labelled=labelled))
        except InputRefused as error:
            if wrong is None:
                raise
            wrong.append(error)
    if not cases and not wrong:
        raise InputRefused(str(path), None, "it has no case; write one JSON object a line.")
    if unique:
        _refuse_same_ids(path, cases)
    return Dataset(path.stem, str(path.absolute()), flow, tuple(cases))


def dataset_text(cases: Iterable[RouteCase], *, flow: str = "") -> str:
    """Return cases as the lines of a file."""
    rows = ([{"flow": flow}] if flow else []) + [case_fields(case) for case in cases]
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)


def dataset_csv(cases: Iterable[RouteCase]) -> str:
    """Return cases as CSV, with the columns that any of them needs."""
    rows = [case_fields(case) for case in cases]
    order = [CASE_NAMES.get(field.name, field.name) for field in fields(RouteCase)]
    columns = [name for name in order if any(name in row for row in rows)]
    out = io.StringIO()
    writer = csv.DictWriter(out, columns, lineterminator="\n")
    writer.writeheader()
    for row in rows:
        writer.writerow({name: _cell(value) for name, value in row.items()})
    return out.getvalue()


def _cell(value: object) -> str:
    if isinstance(value, list):
        return "|".join(value)
    if isinstance(value, Mapping):
        return json.dumps(value, ensure_ascii=False)
    return str(value).lower() if isinstance(value, bool) else str(value)


_Rows = Iterable[tuple[int, dict[str, Any] | InputRefused]]
"""Lines, each with its number; or what is wrong with it."""


def _json_rows(path: Path, text: str) -> _Rows:
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except (ValueError, RecursionError) as error:
            problem = f"it is no JSON ({error}); write one JSON object a line."
            yield number, InputRefused(str(path), number, problem)
            continue
        if isinstance(row, dict):
            yield number, row
        else:
            problem = "it is no JSON object; write one a line."
            yield number, InputRefused(str(path), number, problem)


def _csv_rows(path: Path, text: str) -> _Rows:
    read_cells_bounded()
    reader = csv.DictReader(io.StringIO(text), strict=True)
    try:
        for row in reader:
            yield reader.line_num, _csv_row(path, reader.line_num, row)
    except csv.Error as error:  # what follows it is not known to be lines
        problem = f"{csv_problem(error)}."
        yield reader.line_num, InputRefused(str(path), reader.line_num, problem)


def _csv_row(path: Path, line: int, row: Mapping[Any, Any]) -> dict[str, Any] | InputRefused:
    if None in row or None in row.values():
        return InputRefused(str(path), line, "it has not as many cells as the first line.")
    try:
        return {name: _read_cell(path, line, name, cell) for name, cell in row.items() if cell}
    except InputRefused as error:
        return error


def _read_cell(path: Path, line: int, name: str, cell: str) -> Any:
    if name in LISTS:
        return [part.strip() for part in cell.split("|") if part.strip()]
    if name == "state":
        try:
            return json.loads(cell)
        except (ValueError, RecursionError) as error:
            raise InputRefused(str(path), line, f"its state is no JSON ({error}).") from error
    return cell


def _case(path: Path, line: int, row: Mapping[str, Any], *, labelled: bool) -> RouteCase:
    if unknown := sorted(str(name) for name in row.keys() - _Line.model_fields.keys()):
        raise InputRefused(
            str(path),
            line,
            f"a case has no {' or '.join(map(repr, unknown[:3]))}; it may have: "
            f"{', '.join(_Line.model_fields)}. Files with other names are read by `handoff dataset "
            "import`.",
        )
    if row.get("input") == "":
        raise InputRefused(str(path), line, "its input is empty.")
    if "input" not in row:
        raise InputRefused(str(path), line, "it says nowhere what the user says; give `input`.")
    try:
        checked = _Line.model_validate(row)
    except ValidationError as error:
        allowed = ", ".join(_Line.model_fields)
        raise InputRefused(
            str(path), line, f"{problems(error)}; a case may have: {allowed}."
        ) from error
    case = _case_of(checked)
    if not case.text:
        raise InputRefused(str(path), line, "its input is empty.")
    if labelled and not case.is_labelled:
        raise InputRefused(
            str(path), line, "it says nobody who is right; give `expected`, or `expect` as direct "
            "or abstain, or label it on the page Label cases."
        )  # fmt: skip
    if case.expect is not Expect.ROUTE and case.wanted:
        raise InputRefused(
            str(path), line, f"it expects {case.expect} and names agents; give one of the two."
        )
    return case


def _case_of(line: BaseModel) -> RouteCase:
    values = {
        field.name: getattr(line, CASE_NAMES.get(field.name, field.name))
        for field in fields(RouteCase)
    }
    text = values["text"].strip()
    return RouteCase(**{**values, "case_id": values["case_id"] or case_id(text), "text": text})


def _refuse_same_ids(path: Path, cases: Sequence[RouteCase]) -> None:
    twice = [same for same in cases_by_id(cases).values() if len(same) > 1]
    if not twice:
        return
    (before, case, *_), *others = twice
    rest = f"; `handoff dataset check` lists it and {len(others):,} more" if others else ""
    if before.text == case.text:
        raise InputRefused(
            str(path),
            None,
            f"the request {case.text[:40]!r} stands in it twice; take one away, or give each an "
            f"`id` of its own{rest}.",
        )
    raise InputRefused(
        str(path),
        None,
        f"two cases have the id {case.case_id!r} ({before.text[:40]!r} and {case.text[:40]!r}); "
        f"give each its own{rest}.",
    )


def cases_by_id(cases: Iterable[RouteCase]) -> dict[str, list[RouteCase]]:
    """Return the cases by their ids, in order: of a sound data set one each."""
    found: dict[str, list[RouteCase]] = {}
    for case in cases:
        found.setdefault(case.case_id, []).append(case)
    return found
