"""What a transfer takes along: facts told from claims, the packet, the first messages."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from handoff_console.runtime.agents import Edge
from handoff_console.runtime.context import history_messages, request_message, slice_messages
from handoff_console.runtime.contract import ContextPolicy, HandoffRequest, Message, Packet
from handoff_console.runtime.flow import Flow
from handoff_console.runtime.handoff import OpenHandoff
from handoff_console.runtime.packet import build_packet
from handoff_console.runtime.redaction import Redaction
from handoff_console.runtime.state import SessionState, heard


class Packed(NamedTuple):
    """A transfer's luggage."""

    request: HandoffRequest
    """Without the inputs that stay behind."""
    packet: Packet
    withheld: tuple[str, ...]
    """Names of what stays behind: sensitive, or not for this target to know."""
    confirmed: Mapping[str, Any]
    """Inputs that something confirms; they become session state when the receiver opens."""
    messages: Sequence[Message]
    """What the receiver reads after its own instructions."""


def pack(
    flow: Flow,
    state: SessionState,
    by: OpenHandoff,
    edge: Edge,
    request: HandoffRequest,
    summary: str,
    edited: Callable[[Packet], Packet],
) -> Packed:
    """Pack what goes along an edge from a handoff, as the edge's context policy says.

    `edited` gives the packet as it is to go along: changed, where an operator changed it.
    """
    said = _said(by)
    request, left_behind = need_to_know(flow.redaction, edge, request)
    confirmed, claimed = state.split(
        request.inputs,
        known=[by.request.inputs, *by.gathered.values()],
        said=heard(by.context.messages) if said is None else said,
    )
    packet, withheld = build_packet(
        by.context.messages,
        by.agent.name,
        edge.target,
        said=said,
        summary=summary,
        facts={**confirmed, **state.values},
        claimed=claimed,
        redaction=flow.redaction,
        fields=edge.fields,
    )
    packet = edited(packet)
    withheld = tuple(sorted({*withheld, *left_behind}))
    messages = _passed_on(flow, edge, request, packet, by.context.messages)
    return Packed(request, packet, withheld, confirmed, messages)


def _passed_on(
    flow: Flow,
    edge: Edge,
    request: HandoffRequest,
    packet: Packet,
    history: Sequence[Message],
) -> Sequence[Message]:
    """Return what the receiver reads after its own instructions."""
    match edge.context:
        case ContextPolicy.PACKET:
            return [request_message(flow, request, packet)]
        case ContextPolicy.SLICE:
            return slice_messages(request, history)
        case ContextPolicy.FULL_HISTORY:
            target = flow.agent(edge.target)
            return history_messages(history, {*request.allowed_tools, *target.edges_by_tool})


def need_to_know(
    redaction: Redaction, edge: Edge, request: HandoffRequest
) -> tuple[HandoffRequest, tuple[str, ...]]:
    """Return a request without the inputs that may not go along an edge, and their names."""
    inputs, withheld = redaction.without_sensitive(request.inputs)
    if edge.fields is not None:
        withheld = tuple(sorted({*withheld, *(inputs.keys() - set(edge.fields))}))
        inputs = {key: value for key, value in inputs.items() if key in edge.fields}
    if inputs == request.inputs:
        return request, ()
    return request.model_copy(update={"inputs": inputs}), withheld


def _said(by: OpenHandoff) -> list[str] | None:
    """Return the user's words, where they are not the messages of role `user` themselves."""
    if by.packet:
        return [by.packet.goal]
    return None if by.depth == 0 else [by.request.task]
