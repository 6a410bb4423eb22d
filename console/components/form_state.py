"""What stands in the form for running a handoff again, also while the reader is elsewhere."""

from collections.abc import Sequence
from typing import Any

import streamlit as st

from handoff_console.console.commands.rerun_fields import Fields, fields_of
from handoff_console.console.commands.rerun_start import Start
from handoff_console.runtime.rerun_player import Mode

KEPT = "rerun_fields"
"""Under this key what was typed outlives the page: fields of their own do not."""
LIMIT_WORDS = {
    "max_steps": "Most steps",
    "max_tokens": "Most tokens",
    "deadline_seconds": "Deadline, seconds",
}


class FormState:
    """What stands in the form for one handoff.

    Args:
        start: The recorded handoff.
    """

    def __init__(self, start: Start) -> None:
        self.start, self.before = start, fields_of(start)
        self._name = f"{start.session_id} {start.handoff_id}"
        kept: dict[str, dict[str, Any]] = st.session_state.setdefault(KEPT, {})
        self._kept = kept.setdefault(self._name, {})

    def key(self, field: str) -> str:
        """Return the key of a field."""
        return f"rerun {self._name} {field}"

    def value(self, field: str, default: Any) -> Any:
        """Return what stands in a field now."""
        return st.session_state.get(self.key(field), self._kept.get(field, default))

    def put(self, field: str, value: Any) -> None:
        """Put something into a field, before it is drawn."""
        st.session_state[self.key(field)] = value
        self._kept[field] = value

    def prepared(self, field: str, default: Any) -> str:
        """Return the key of a field that is about to be drawn, with what stands in it."""
        value = self.value(field, default)
        st.session_state[self.key(field)] = value
        self._kept[field] = value
        return self.key(field)

    def clear(self) -> None:
        """Put everything back to what was recorded."""
        for field in list(self._kept):
            st.session_state.pop(self.key(field), None)
        self._kept.clear()

    def fields(self) -> Fields:
        """Return what stands in all fields now."""
        before, value = self.before, self.value
        return Fields(
            task=value("task", before.task),
            inputs={name: value(f"inputs.{name}", text) for name, text in before.inputs.items()},
            leave_marks=value("leave_marks", False),
            left_out=tuple(name for name in before.inputs if value(f"left_out.{name}", False)),
            more_inputs=value("more_inputs", ""),
            goal=value("goal", before.goal),
            summary=value("summary", before.summary),
            claimed={name: value(f"claimed.{name}", text) for name, text in before.claimed.items()},
            tools=tuple(value("tools", list(before.tools))),
            limits={name: value(f"limits.{name}", number) for name, number in limits_of(before)},
            output_schema=value("output_schema", before.output_schema),
            prompt=value("prompt", before.prompt),
            model=value("model", ""),
            tool_results={
                place: value(f"tool_results.{place}", self._returned(place))
                for place in value("results", [])
            },
            armed=tuple(value("armed", [])),
            denied=tuple(value("denied", [])),
            mode=Mode(value("mode", before.mode)),
            times=value("times", 1),
            graft=value("graft", ""),
        )

    def _returned(self, place: str) -> str:
        return next((call.returned for call in self.start.calls if call.place == place), "")


def limits_of(fields: Fields) -> Sequence[tuple[str, Any]]:
    """Return the limits in the order in which they are drawn."""
    order = list(LIMIT_WORDS)
    return sorted(fields.limits.items(), key=lambda item: order.index(item[0]))
