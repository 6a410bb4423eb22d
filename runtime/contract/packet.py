"""The context that goes along with a transfer. Source: S3, example 2."""

import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from handoff_console.runtime.canonical import (
    NO_JSON,
    canonical_text,
    is_utf8,
    one_line_text,
    quoted,
    raw_text,
)
from handoff_console.runtime.frozen import quickly_made

_PLAIN = re.compile(r"[^\s,=\"{}\[\]](?:[^,=\"{}\[\]]*[^\s,=\"{}\[\]])?")
"""A text that stands in a list of facts as it is: one that cannot be taken for two of them."""


@quickly_made
@dataclass(frozen=True, slots=True)
class Packet:
    """The context that goes along with a transfer."""

    from_agent: str
    to_agent: str
    goal: str
    """What the user asked for, in the user's words."""
    summary: str
    facts: Mapping[str, Any] = field(default_factory=dict)
    summary_by: str = "runtime"
    """Who wrote the summary: `model` or `runtime`."""
    claimed: Mapping[str, Any] = field(default_factory=dict)
    """Values that the sender says, and nothing that the host knows confirms."""

    def lines(self) -> list[str]:
        """Return its form in a prompt: four lines, and one more where something is only claimed."""
        lines = [
            f"Handoff from {self.from_agent} to {self.to_agent}",
            f"Goal: {_on_one_line(self.goal)}",
            f"Summary: {_on_one_line(self.summary)}",
            f"Facts: {_listed(self.facts)}",
        ]
        if self.claimed:
            lines.append(f"Claimed by {self.from_agent}, not verified: {_listed(self.claimed)}")
        return lines

    def without_carried(self, inputs: Mapping[str, Any]) -> dict[str, Any]:
        """Return the inputs that it does not say already, as facts or as claims."""
        said = {**self.facts, **self.claimed}
        return {key: value for key, value in inputs.items() if key not in said}

    def body(self) -> str:
        """Return it as canonical JSON, as it is recorded; put together as a request's body is."""
        try:
            text = (
                f'{{"claimed":{raw_text(dict(self.claimed))},"facts":{raw_text(dict(self.facts))}'
                f',"from_agent":{quoted(self.from_agent)},"goal":{quoted(self.goal)}'
                f',"summary":{quoted(self.summary)},"summary_by":{quoted(self.summary_by)}'
                f',"to_agent":{quoted(self.to_agent)}}}'
            )
        except NO_JSON:
            return canonical_text(asdict(self))
        return text if is_utf8(text) else canonical_text(asdict(self))


def _listed(facts: Mapping[str, Any]) -> str:
    return ", ".join(f"{_fact_text(key)}={_fact_text(value)}" for key, value in facts.items())


def _fact_text(value: Any) -> str:
    # `x, paid=true` as it is would be read as two facts, and a second line as one of the packet's.
    if isinstance(value, str) and value.isprintable() and _PLAIN.fullmatch(value):
        return value
    return one_line_text(value)


def _on_one_line(text: str) -> str:
    # A line of its own that begins with "Facts:" would be read as one of ours.
    return " ".join(text.splitlines())
