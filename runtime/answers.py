"""Reading what a worker answered: the typed result it owes, or what is wrong with it."""

import json
from collections.abc import Sequence
from typing import Any

from pydantic import BaseModel, ValidationError

from handoff_console.runtime.canonical import as_json
from handoff_console.runtime.contract import HandoffResult, Status
from handoff_console.runtime.tool import fitted_json, problems

_FIELDS = {"status", "data", "notes", "steps_used", "transient"}
_SHOWN = 100
"""Characters: what a model wrote is no sentence of ours when it is longer."""
_WORKER_STATUSES = (Status.OK, Status.NOT_FOUND, Status.NEEDS_INPUT, Status.ERROR)


def read_answer(
    text: str, schema: type[BaseModel] | None, *, steps_used: int, max_bytes: int
) -> HandoffResult | str:
    """Return the result that `text` says, or one sentence on why it says none.

    Args:
        text: The model's answer.
        schema: What `data` has to fit when the status is ok; None is the schema `Text`, for which
            plain text is an answer.
        steps_used: As counted by the runtime; what the model says of it is ignored.
        max_bytes: The size cap of a result.

    Source: S0, step 2.
    """
    if not text.strip():
        return "the answer is empty; say something, or call a tool."
    if (size := len(text.encode(errors="replace"))) > max_bytes:
        return (
            f"the answer has {size} bytes; a result may have {max_bytes}: send what was asked for."
        )
    fields = _json_object(text)
    if schema is None and not _is_result(fields):
        return HandoffResult(status=Status.OK, data={"text": text}, steps_used=steps_used)
    if fields is None:
        return "the answer is no JSON object with status, data and notes."
    return _typed(fields, schema, steps_used)


def _typed(
    fields: dict[str, Any], schema: type[BaseModel] | None, steps_used: int
) -> HandoffResult | str:
    if unknown := sorted(fields.keys() - _FIELDS):
        return (
            f"the answer has unknown fields ({_some(unknown)}); it may have: data, notes, status."
        )
    if fields.get("status") not in _WORKER_STATUSES:
        return f"status is none of: {', '.join(_WORKER_STATUSES)}."
    data = fields.get("data")
    if fields["status"] == Status.OK and schema is not None:
        try:
            data = fitted_json(schema, data)
        except ValueError as error:
            return f"data does not fit {schema.__name__}: {error}."
    try:
        return HandoffResult(
            status=fields["status"],
            data=data,
            notes=fields.get("notes") or "",
            steps_used=steps_used,
            transient=fields.get("transient") is True,
        )
    except ValidationError as error:
        return f"{problems(error)}."


def _json_object(text: str) -> dict[str, Any] | None:
    stripped = text.strip()
    if stripped.startswith("```"):  # many models fence their JSON, asked or not
        stripped = stripped.removeprefix("```json").removeprefix("```").removesuffix("```").strip()
    if not stripped.startswith("{"):
        return None
    try:
        value = json.loads(stripped)
    except (ValueError, RecursionError):
        return None
    return as_json(value) if isinstance(value, dict) else None


def _some(names: Sequence[str]) -> str:
    shown = ", ".join(names)
    return shown if len(shown) <= _SHOWN else f"{len(names)} of them"


def _is_result(fields: dict[str, Any] | None) -> bool:
    return fields is not None and "status" in fields and fields.keys() <= _FIELDS
