"""What stands in the fields of the form for running a handoff again, read as an order.

Every field is checked by itself, so that what is wrong is said where it was typed.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from handoff_console.console.commands.rerun_orders import RerunOrder
from handoff_console.console.commands.rerun_past import RecordedCall
from handoff_console.console.commands.rerun_start import Start
from handoff_console.console.commands.typed_values import json_value, value_like
from handoff_console.runtime.edits import Edits
from handoff_console.runtime.errors import FlowError, HandoffConsoleError
from handoff_console.runtime.models import as_model
from handoff_console.runtime.redaction import has_mark
from handoff_console.runtime.rerun_player import Mode

MOST_TIMES = 100
"""A page starts no more runs than that at once."""

_MODEL_IS_ASKED = frozenset({Mode.WHAT_IF, Mode.LIVE_READS, Mode.LIVE})


@dataclass(frozen=True, kw_only=True)
class Fields:
    """What stands in the fields: texts as they were typed, numbers as they were chosen."""

    task: str
    inputs: Mapping[str, str]
    """By name. Of one that was left out of the record, empty until somebody says it."""
    leave_marks: bool = False
    """A model may be asked with marks where values were left out of the request."""
    left_out: tuple[str, ...] = ()
    """Names of inputs to leave out."""
    more_inputs: str = ""
    """Further inputs, a line each: `name = value`."""
    goal: str = ""
    """Of the packet, where there is one; so are the next two."""
    summary: str = ""
    claimed: Mapping[str, str] = field(default_factory=dict)
    tools: tuple[str, ...] = ()
    limits: Mapping[str, float | None] = field(default_factory=dict)
    """An empty field is None."""
    output_schema: str = ""
    prompt: str = ""
    model: str = ""
    """Empty leaves the recorded one."""
    tool_results: Mapping[str, str] = field(default_factory=dict)
    """What calls are to have returned instead, by step and call."""
    armed: tuple[str, ...] = ()
    denied: tuple[str, ...] = ()
    mode: Mode = Mode.WHAT_IF
    times: int | None = 1
    graft: str = ""


@dataclass(frozen=True)
class Read:
    """The order that the fields make, or what is wrong with them."""

    order: RerunOrder
    """With all that is right; only to be started when nothing is wrong."""
    problems: Mapping[str, str]
    """A sentence for each field that is wrong, by the field's name: `task`, `inputs.NAME`,
    `limits.max_steps`, `tool_results.2.0`, …"""


def fields_of(start: Start, mode: Mode = Mode.WHAT_IF) -> Fields:
    """Return the fields as they are before anybody changes them: what was recorded."""
    request, packet = start.recorded.request, start.recorded.packet
    return Fields(
        task=request.task,
        inputs={name: "" if has_mark(text) else text for name, text in start.inputs.items()},
        goal=packet.goal if packet else "",
        summary=packet.summary if packet else "",
        claimed=start.claimed,
        tools=request.allowed_tools,
        limits=request.limits.model_dump(),
        output_schema=request.output_schema,
        prompt=start.prompt,
        mode=mode,
    )


def read_fields(start: Start, fields: Fields) -> Read:
    """Read the fields; what stands there as it was recorded changes nothing.

    Args:
        start: The recorded handoff.
        fields: What stands in the form.
    """
    reading = _Reading(start, fields)
    edits = reading.edits()
    order = RerunOrder(
        handoff_id=start.handoff_id,
        mode=fields.mode,
        edits=edits,
        graft=fields.graft if fields.mode is Mode.CONTINUE else "",
        times=reading.times(),
        named=start.named,
        leave_marks=fields.leave_marks and has_marks(start),
    )
    reading.check_all_is_said(edits)
    return Read(order, reading.problems)


def has_marks(start: Start) -> bool:
    """Say whether values were left out of what the handoff was asked with."""
    request = start.recorded.request
    return has_mark(request.task) or has_mark(request.inputs)


class _Reading:
    """Reads one form, and notes what is wrong with it."""

    def __init__(self, start: Start, fields: Fields) -> None:
        self.problems: dict[str, str] = {}
        self._start, self._fields, self._before = start, fields, fields_of(start)

    def edits(self) -> Edits:
        """Return what the fields change; what is wrong is left out."""
        fields, before = self._fields, self._before
        changes: dict[str, Any] = {}
        for name in ("task", "goal", "summary", "output_schema", "prompt"):
            if getattr(fields, name) != getattr(before, name):
                self._take(name, changes, {name: getattr(fields, name)})
        for name in fields.left_out:
            changes["without_inputs"] = (*changes.get("without_inputs", ()), name)
        self._inputs(changes)
        for name, text in fields.claimed.items():
            if text != before.claimed.get(name):
                self._take(f"claimed.{name}", changes, {"claimed": {name: json_value(text)}})
        if set(fields.tools) != set(before.tools):
            self._take("tools", changes, {"allowed_tools": tuple(fields.tools)})
        self._limits(changes)
        self._model(changes)
        self._results(changes)
        if fields.armed and fields.mode is not Mode.LIVE:
            self.problems["armed"] = "Only the mode `live` acts again; choose it, or arm nothing."
        elif fields.armed:
            self._take("armed", changes, {"armed": fields.armed})
        if fields.denied:
            self._take("denied", changes, {"denied": fields.denied})
        return Edits(**changes)

    def times(self) -> int:
        """Return how often it is to run; 1 where that is wrong."""
        times = self._fields.times
        if times is None or not 1 <= times <= MOST_TIMES:
            self.problems["times"] = f"It runs 1 to {MOST_TIMES} times; type such a number."
            return 1
        return times

    def check_all_is_said(self, edits: Edits) -> None:
        """Note every value that was left out of the record and that a model would be asked with."""
        if self._fields.mode not in _MODEL_IS_ASKED or self._fields.leave_marks:
            return
        request = edits.request(self._start.recorded.request)
        for name, value in request.inputs.items():
            if has_mark(value):
                self.problems.setdefault(
                    f"inputs.{name}",
                    "This value was left out of the record; type it, leave the input out, or let "
                    "the mark be read.",
                )
        if has_mark(request.task):
            self.problems.setdefault(
                "task",
                "The task holds a value that was left out of the record; type the whole task, or "
                "let the mark be read.",
            )

    def _inputs(self, changes: dict[str, Any]) -> None:
        recorded = self._start.recorded.request.inputs
        for name, text in self._fields.inputs.items():
            before = recorded.get(name)
            if name in self._fields.left_out or text == self._before.inputs.get(name):
                continue
            if isinstance(before, str) or has_mark(before):
                value = value_like("", text)
            else:
                value = json_value(text)
                if isinstance(value, str) and not text.strip().startswith('"'):
                    self.problems[f"inputs.{name}"] = _NO_JSON
                    continue
            self._take(f"inputs.{name}", changes, {"inputs": {name: value}})
        for line in filter(str.strip, self._fields.more_inputs.splitlines()):
            name, mark, text = (part.strip() for part in line.partition("="))
            if not mark or not name:
                self.problems["more_inputs"] = f"{line.strip()!r} is no `name = value`."
                return
            self._take("more_inputs", changes, {"inputs": {name: json_value(text)}})

    def _limits(self, changes: dict[str, Any]) -> None:
        for name, number in self._fields.limits.items():
            if number == self._before.limits.get(name):
                continue
            if number is None or number <= 0:
                self.problems[f"limits.{name}"] = "Type a number above 0."
                continue
            whole = name != "deadline_seconds" and float(number).is_integer()
            value = int(number) if whole else number
            self._take(f"limits.{name}", changes, {"limits": {name: value}})

    def _model(self, changes: dict[str, Any]) -> None:
        name = self._fields.model.strip()
        if not name or name == self._start.model:
            return
        flow, agent = self._start.flow.flow, self._start.agent
        try:
            as_model(name, flow.name, agent.name)
        except FlowError as error:
            self.problems["model"] = f"{error.mistakes[0][:1].upper()}{error.mistakes[0][1:]}"
            return
        changes["model"] = name

    def _results(self, changes: dict[str, Any]) -> None:
        calls: Mapping[str, RecordedCall] = {call.place: call for call in self._start.calls}
        for place, text in self._fields.tool_results.items():
            call, value = calls.get(place), json_value(text)
            if call and text == call.returned:
                continue
            is_text = isinstance(value, str) and not text.strip().startswith('"')
            if is_text and not (call and call.is_text):
                self.problems[f"tool_results.{place}"] = _NO_JSON
                continue
            self._take(f"tool_results.{place}", changes, {"tool_results": {place: value}})

    def _take(self, name: str, changes: dict[str, Any], change: dict[str, Any]) -> None:
        """Take a change over, if it is right by itself; otherwise note what is wrong with it."""
        start, recorded = self._start, self._start.recorded
        try:
            Edits(**change).check(start.flow.flow, start.agent, recorded.request, recorded.packet)
        except HandoffConsoleError as error:
            self.problems[name] = _own_words(str(error))
            return
        for key, value in change.items():
            both = isinstance(value, dict) and key in changes
            changes[key] = {**changes[key], **value} if both else value


_NO_JSON = (
    'That is no JSON. Write 12, true, null, ["a", "b"] or {"name": 1}; a text stands in "quotation '
    'marks".'
)


_INVALID = "The edited request is not valid: "


def _own_words(sentence: str) -> str:
    """Return what is wrong without the words that name the field: it stands beside it."""
    if not sentence.startswith(_INVALID):
        return sentence
    said = sentence.removeprefix(_INVALID).partition(": ")[2]
    return f"{said[:1].upper()}{said[1:]}"
