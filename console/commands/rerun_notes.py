"""What the operator should know before a handoff is run again: above all, what nobody will read.

Said only where it can be known: from the record, and from what the rules of an offline worker look
at. What a language model makes of a change, nobody knows before it is asked.
"""

from collections.abc import Iterator, Sequence

from handoff_console.console.commands.as_then_notes import as_then_notes
from handoff_console.console.commands.left_out import left_out_notes
from handoff_console.console.commands.model_reading import may_read_prompt, reads_of
from handoff_console.console.commands.rerun_orders import Prepared, RerunOrder
from handoff_console.runtime.contract import ContextPolicy, State, Status
from handoff_console.runtime.edits import Edits
from handoff_console.runtime.models import Model, as_model
from handoff_console.runtime.packing import need_to_know
from handoff_console.runtime.recorded import agent_of
from handoff_console.runtime.rerun_player import Mode
from handoff_console.store.analysis.plain_text import as_name, listed

_NO_RESULT = (State.WAITING, State.INCOMPLETE)
_REQUEST = frozenset({"messages", "request"})
"""Whoever reads these may read any part of the request."""
_PACKET = frozenset({"messages", "packet"})


def notes_on(ready: Prepared, order: RerunOrder) -> Sequence[str]:
    """Return what the operator should know, a sentence each; nothing where nothing stands out."""
    edits = ready.edits
    return [
        *_of_names(ready, edits),
        *_of_readers(ready, edits),
        *_of_context(ready, edits),
        *_of_limits(ready, edits),
        *_of_tools(ready, edits),
        *_of_mode(ready, edits, order.mode),
        *_of_end(ready, order.mode),
        *_of_way(ready, edits, order.mode),
        *as_then_notes(ready, order),
        *left_out_notes(ready, order.mode),
    ]


def _of_names(ready: Prepared, edits: Edits) -> Iterator[str]:
    """Yield which inputs are named that there were none of: mostly a slip of the pen."""
    packet, inputs = ready.recorded.packet, ready.recorded.request.inputs
    known = {*inputs, *packet.facts, *packet.claimed} if packet else {*inputs}
    there = listed(sorted(inputs)) if inputs else "none"
    for name in edits.without_inputs:
        if name not in known:
            yield f"Leaving {as_name(name)} out changes nothing: its inputs were {there}."
    for name in edits.inputs:
        if name not in known:
            yield f"{as_name(name)} is a further input: recorded were {there}."


def _of_readers(ready: Prepared, edits: Edits) -> Iterator[str]:
    agent = ready.recorded.opened.target
    activated = ready.past.activated
    model = _model(ready, edits)
    if edits.model is not None and activated and activated.model == model.name:
        yield f"{agent} asked the model {model.name} already when this was recorded."
    if edits.prompt is not None and not may_read_prompt(model):
        yield f"{agent} follows rules; it does not read its prompt, so this changes nothing."
    reads = reads_of(model)
    if reads is None:
        return
    unread = list(_unread(edits, reads, has_packet=ready.recorded.packet is not None))
    if unread:
        yield (
            f"{agent} follows rules that do not read {listed(unread)}, so this changes nothing "
            "that it does itself."
        )
    if edits.allowed_tools is not None and not reads & {
        *_REQUEST,
        "tools",
        "request.allowed_tools",
    }:
        yield (
            f"{agent} follows rules that do not read which tools it may use: it asks for the same "
            "ones."
        )
    if edits.output_schema is not None and not reads & {*_REQUEST, "request.output_schema"}:
        yield (
            f"{agent} follows rules that do not read what it has to answer with: it answers the "
            "same, and that is checked against the other schema."
        )


def _unread(edits: Edits, reads: frozenset[str], *, has_packet: bool) -> Iterator[str]:
    text = set() if has_packet else {"text"}  # with a packet, the text is its goal
    facts = _PACKET | {"packet.facts", "packet.claimed"} if has_packet else set()
    given = bool(edits.inputs or edits.without_inputs)
    for what, is_changed, readers in (
        ("its task", edits.task is not None, _REQUEST | text | {"request.task"}),
        ("its inputs", given, _REQUEST | facts | {"inputs", "request.inputs"}),
        ("the packet's goal", edits.goal is not None, _PACKET | {"packet.goal", "text"}),
        ("its summary", edits.summary is not None, _PACKET | {"packet.summary"}),
        ("what it claims", bool(edits.claimed), _PACKET | {"packet.claimed"}),
        (
            "what tools return",
            bool(edits.tool_results),
            {"messages", "results", "result_of"},
        ),
    ):
        if is_changed and not reads & readers:
            yield what


def _of_context(ready: Prepared, edits: Edits) -> Iterator[str]:
    agent, policy = ready.recorded.opened.target, ready.recorded.opened.context_policy
    if edits.changes_request and policy == ContextPolicy.FULL_HISTORY:
        yield (
            f"{agent} reads the whole conversation and no request, so a change of the request "
            "changes nothing that it reads."
        )
    if edits.changes_packet and policy != ContextPolicy.PACKET:
        yield (
            f"{agent} does not read the packet's own words here, so a change of its goal, summary "
            "or claims may change nothing."
        )


def _of_limits(ready: Prepared, edits: Edits) -> Iterator[str]:
    before = ready.recorded.request.limits.model_dump()
    higher = all(number >= before.get(name, number) for name, number in edits.limits.items())
    no_good = (Status.LIMIT_REACHED, *_NO_RESULT)
    if edits.limits and higher and ready.past.outcome not in no_good:
        yield (
            "It ended within its limits when this was recorded; higher ones change nothing as long "
            "as it answers the same."
        )


def _of_tools(ready: Prepared, edits: Edits) -> Iterator[str]:
    said = {*edits.tool_results, *edits.denied, *edits.armed}
    never = sorted(said - ready.past.asked_for)
    if never:
        yield (
            f"{listed(never)} {'was' if len(never) == 1 else 'were'} not called when this was "
            "recorded; what is said of it matters only if it is called now."
        )
    wider = _wider(ready, edits)
    if wider:
        yield (
            f"It may call {listed(sorted(wider))}, which it was not allowed to when this was "
            "recorded."
        )


def _wider(ready: Prepared, edits: Edits) -> set[str]:
    """Return the tools that it may use now and might not when this was recorded."""
    return set(edits.allowed_tools or ()) - set(ready.recorded.request.allowed_tools)


def _of_mode(ready: Prepared, edits: Edits, mode: Mode) -> Iterator[str]:
    if mode is Mode.WHAT_IF:
        unknown = sorted(_wider(ready, edits) - set(edits.tool_results))
        limits = ready.recorded.request.limits.model_dump()
        raised = any(number > limits.get(name, number) for name, number in edits.limits.items())
        if unknown:
            yield (
                f"What {listed(unknown)} would return is not recorded, so it is refused; "
                "live-reads asks tools that only read."
            )
        elif raised and ready.past.outcome == Status.LIMIT_REACHED:
            yield (
                "What it calls beyond its recorded calls has no recorded answer and is refused; "
                "live-reads asks tools that only read."
            )
    if edits.described() and mode is Mode.VERIFY:
        yield (
            "Every answer is the recorded one, so a change only shows where the questions part; "
            "--mode what-if asks the model."
        )


def _of_end(ready: Prepared, mode: Mode) -> Iterator[str]:
    """Yield what it means that the record ends before what it is of."""
    if mode is Mode.CONTINUE:
        if not ready.past.is_over:
            yield (
                "The record ends before the session does: from there on models and tools are "
                "really asked, and how often is not known."
            )
    elif ready.past.outcome in _NO_RESULT:
        if mode is Mode.VERIFY:
            yield "It had no result yet when this was recorded: it ends where its record does."
        else:
            yield (
                "It had no result yet when this was recorded: it may ask for more than stands here."
            )


def _of_way(ready: Prepared, edits: Edits, mode: Mode) -> Iterator[str]:
    """Yield which inputs do not arrive as they were said: the session sends them once more."""
    opened, flow = ready.recorded.opened, ready.flow.flow
    if mode is not Mode.CONTINUE or ready.graft or opened.source not in flow.agents_by_name:
        return
    edge = next(
        (
            one
            for one in flow.agent(opened.source).edges
            if (one.target, one.via) == (opened.target, opened.via)
        ),
        None,
    )
    if edge is None or not edits.inputs:
        return
    sent, _ = need_to_know(flow.redaction, edge, ready.request)
    lost = [
        f"inputs.{name}"
        for name, value in edits.inputs.items()
        if name not in sent.inputs or sent.inputs[name] != value
    ]
    if lost:
        verb = "is" if len(lost) == 1 else "are"
        yield (
            f"{listed(lost)} {verb} removed again on the way to {as_name(opened.target)}, as "
            "redaction and the edge's fields say; what-if asks with what was set."
        )


def _model(ready: Prepared, edits: Edits) -> Model:
    flow = ready.flow.flow
    agent = agent_of(flow, ready.recorded)
    return as_model(edits.model or agent.model or flow.model, flow.name, agent.name)
