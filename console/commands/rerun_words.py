"""The command line that repeats what a screen was asked for."""

import json
import shlex
from collections.abc import Iterator

from handoff_console.console.commands.rerun_orders import RerunOrder
from handoff_console.runtime.edits import Edits
from handoff_console.runtime.models import Model


def rerun_command(session_id: str, order: RerunOrder, *, store: str = "") -> str:
    """Return the `handoff rerun …` that does the same.

    A prompt stands in a file there and a model of one's own in another; both are named `FILE`. What
    was left out of the record is `VALUE` here too.

    Args:
        session_id: The original.
        order: What is to be run, and how.
        store: The store's file; empty for the one that the command would take anyway.
    """
    words = ["handoff", "rerun", session_id, order.handoff_id, "--mode", order.mode.value]
    for name, given in order.values.items():
        words += ["--value", f"{name}=VALUE"] * len(given)
    words += ["--leave-marks"] * order.leave_marks
    words += _changes(order.edits)
    for option, value in (("--graft", order.graft), ("--flow", order.named), ("--db", store)):
        words += [option, value] if value else []
    if order.times > 1:
        words += ["--times", str(order.times)]
    return shlex.join(words)


def _changes(edits: Edits) -> Iterator[str]:
    if edits.task is not None:
        yield from ("--task", edits.task)
    for name, value in edits.inputs.items():
        yield from ("--set", f"inputs.{name}={_said(value)}")
    for name in edits.without_inputs:
        yield from ("--unset", f"inputs.{name}")
    yield from _packet(edits)
    if edits.allowed_tools is not None:
        yield from ("--tools", ",".join(edits.allowed_tools))
    for name, number in edits.limits.items():
        yield from ("--limits", f"{name}={number}")
    if edits.output_schema is not None:
        yield from ("--output-schema", edits.output_schema)
    if edits.prompt is not None:
        yield from ("--prompt", "FILE")
    if edits.model is not None:
        yield from ("--model", _model(edits.model))
    for name, value in edits.tool_results.items():
        yield from ("--tool-result", f"{name}={json.dumps(value)}")
    for name in edits.armed:
        yield from ("--arm", name)
    for name in edits.denied:
        yield from ("--deny", name)


def _packet(edits: Edits) -> Iterator[str]:
    for name in ("goal", "summary"):
        if getattr(edits, name) is not None:
            yield from ("--packet", f"{name}={getattr(edits, name)}")
    for name, value in edits.claimed.items():
        yield from ("--packet", f"claimed.{name}={_said(value)}")


def _said(value: object) -> str:
    """Return an input as it is typed: a text as it stands, unless it would be read as another."""
    if not isinstance(value, str):
        return json.dumps(value)
    try:
        json.loads(value)
    except ValueError:
        return value
    return json.dumps(value)


def _model(model: str | Model) -> str:
    name = model if isinstance(model, str) else getattr(model, "name", "")
    return name if ":" in name else "FILE.py:NAME"
