"""What goes along with a handoff.

A call carries the request alone. A transfer carries the packet: who hands over to whom, the goal, a
summary and facts, never the sender's messages. Source: S0 step 1, S3 example 2.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from handoff_console.runtime.contract import Message, Packet
from handoff_console.runtime.counting import count
from handoff_console.runtime.redaction import Redaction


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
    sure, withheld = _may_go(facts, redaction, fields)
    said_only, also_withheld = _may_go(claimed, redaction, fields)
    packet = Packet(
        from_agent,
        to_agent,
        goal=said[0] if said else "(none)",
        summary=summary or _plain_summary(messages, said),
        facts=sure,
        summary_by="model" if summary else "runtime",
        claimed=said_only,
    )
    return packet, tuple(sorted({*withheld, *also_withheld}))


def _plain_summary(messages: Sequence[Message], said: Sequence[str]) -> str:
    # An agent's own instructions are nothing that was said. Source: S3, example 2.
    so_far = sum([message["role"] != "system" for message in messages])
    return f"{count(so_far, 'message')} so far; last user message: {said[-1] if said else '(none)'}"


def _may_go(
    values: Mapping[str, Any] | None, redaction: Redaction, fields: Sequence[str] | None
) -> tuple[dict[str, Any], tuple[str, ...]]:
    """Return the values that may go along, and the names of those that may not."""
    if not values:
        return {}, ()
    kept, withheld = redaction.without_sensitive(values)
    if fields is None:
        return kept, withheld
    needed = {key: value for key, value in kept.items() if key in fields}
    return needed, (*withheld, *(kept.keys() - needed.keys()))
