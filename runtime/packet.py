"""What goes along with a handoff, and what its receiver gets to read.

A call carries the request alone. A transfer carries the packet: who hands over to whom, the goal, a
summary and facts, never the sender's messages. Source: S0 step 1, S3 example 2.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from handoff_console.runtime.canonical import NO_JSON, canonical_text, is_utf8, quoted, raw_text
from handoff_console.runtime.contract import Message
from handoff_console.runtime.frozen import quickly_made
from handoff_console.runtime.redaction import Redaction


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


def build_packet(  # noqa: PLR0913 - the parts of a packet, and the rules for what stays behind
    messages: Sequence[Message],
    from_agent: str,
    to_agent: str,
    *,
    said: Sequence[str] | None = None,
    summary: str = "",
    facts: Mapping[str, Any] | None = None,
    claimed: Mapping[str, Any] | None = None,
    redaction: Redaction,
    fields: Sequence[str] | None = None,
) -> tuple[Packet, tuple[str, ...]]:
    """Build the packet of a transfer; also return the names of facts that may not go along.

    Args:
        messages: What the sender has read and said; counted without its instructions, and searched
            for the user's words.
        from_agent: The sender.
        to_agent: The receiver.
        said: What the user said, where it is not the messages of role `user`: a receiver's first
            one is the packet itself, which must not end up in the next packet.
        summary: Written by the sending model; the runtime writes a plain one when it is empty.
        facts: Values that have to survive the handoff, from what the host knows to be so.
        claimed: Values that only the sender says.
        redaction: Facts it calls sensitive stay behind.
        fields: Need to know: only these facts go along; None is all.
    """
    if said is None:
        said = [message["content"] for message in messages if message["role"] == "user"]
    # An agent's own instructions are nothing that was said. Source: S3, example 2.
    so_far = sum(message["role"] != "system" for message in messages)
    written = summary or (
        f"{so_far} messages so far; last user message: {said[-1] if said else '(none)'}"
    )
    known = {**(claimed or {}), **(facts or {})}
    kept, withheld = redaction.without_sensitive(known)
    if fields is not None:
        withheld = tuple(sorted({*withheld, *(kept.keys() - set(fields))}))
        kept = {key: value for key, value in kept.items() if key in fields}
    packet = Packet(
        from_agent,
        to_agent,
        goal=said[0] if said else "(none)",
        summary=written,
        facts={key: value for key, value in kept.items() if key in (facts or {})},
        summary_by="model" if summary else "runtime",
        claimed={key: value for key, value in kept.items() if key not in (facts or {})},
    )
    return packet, withheld


def _listed(facts: Mapping[str, Any]) -> str:
    return ", ".join(
        f"{key}={_on_one_line(value) if isinstance(value, str) else canonical_text(value)}"
        for key, value in facts.items()
    )


def _on_one_line(text: str) -> str:
    # A line of its own that begins with "Facts:" would be read as one of ours.
    return " ".join(text.splitlines())
