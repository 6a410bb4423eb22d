"""Answers that could not be used, models that did not answer, and questions nobody asked.

Source: S0, steps 2 and 3.
"""

from collections import defaultdict
from collections.abc import Iterable

from handoff_console.runtime.contract import State, Status
from handoff_console.runtime.events import (
    AgentActivated,
    Event,
    InputRequested,
    ModelReplied,
    OutputRejected,
    StateSet,
    ToolDenied,
)
from handoff_console.store.analysis.findings.finding import Evidence, Finding, Severity
from handoff_console.store.analysis.findings.record import FAILED, Record
from handoff_console.store.analysis.nodes import HandoffNode
from handoff_console.store.analysis.plain_text import as_name, ended, one_line


def output_rejected_twice(record: Record) -> Iterable[Finding]:
    """An answer that did not fit its schema, nor did the one after it was told why."""
    reads_prompt = {event.handoff_id: one.reads_prompt for event, one in record.of(AgentActivated)}
    rejected: dict[str | None, list[tuple[Event, OutputRejected]]] = defaultdict(list)
    for event, rejection in record.of(OutputRejected):
        rejected[event.handoff_id].append((event, rejection))
    for handoff_id, rejections in rejected.items():
        if len(rejections) < 2 and not rejections[-1][1].final:
            continue
        node, agent = record.node(handoff_id), record.agent(handoff_id)
        times = "twice" if len(rejections) == 2 else f"{len(rejections)} times"
        yield Finding(
            code="output_rejected_twice",
            severity=_unless_made_good(record, node),
            handoff_id=handoff_id,
            agent=agent,
            turn=rejections[0][0].turn,
            evidence=tuple(Evidence(e.seq, one_line(r.problem, 160)) for e, r in rejections),
            sentence=(
                f"{as_name(agent)} answered {times} in a form that cannot be used: "
                f"{ended(one_line(rejections[-1][1].problem, 120))}"
            ),
            advice=(
                f"{_how_to_shape(as_name(agent), reads_prompt.get(handoff_id))}, or ask it for "
                "less; the rejected answers are in quarantine, for you to read."
            ),
        )


def _how_to_shape(name: str, reads_prompt: bool | None) -> str:
    """Return how an agent is brought to answer in another shape; no prompt moves rules.

    Args:
        name: Of the agent.
        reads_prompt: None where it is not known, as of a large session on its page.
    """
    if reads_prompt is False:
        return f"Correct the rules of {name}, which reads no prompt, to answer in the right shape"
    otherwise = "" if reads_prompt else ", or in its rules where it reads none"
    return f"Show the shape of the answer in the prompt of {name}{otherwise}"


def model_failed(record: Record) -> Iterable[Finding]:
    """A model that failed, or a function in its place; less bad when a further try went well."""
    failures: dict[str | None, list[tuple[Event, ModelReplied]]] = defaultdict(list)
    for event, replied in record.of(ModelReplied):
        if replied.error:
            failures[event.handoff_id].append((event, replied))
    for handoff_id, replies in failures.items():
        node, agent = record.node(handoff_id), record.agent(handoff_id)
        survived = node is None or node.outcome not in FAILED
        yield Finding(
            code="model_failed",
            severity=Severity.INFO if survived else _unless_made_good(record, node),
            handoff_id=handoff_id,
            agent=agent,
            turn=replies[0][0].turn,
            evidence=tuple(Evidence(e.seq, one_line(r.error, 160)) for e, r in replies),
            **_of_model_or_function(as_name(agent), replies[-1][1]),
        )


def _of_model_or_function(name: str, replied: ModelReplied) -> dict[str, str]:
    error = ended(one_line(replied.error, 120))
    if where := one_line(replied.raised_at, 60):
        return {
            "sentence": f"The function of {name} failed at {where}: {error}",
            "advice": "Correct it there, and send the message again.",
        }
    return {
        "sentence": f"The model of {name} could not answer: {error}",
        "advice": "Check that the model is reachable and what it was sent; then run it again.",
    }


def handoff_failed(record: Record) -> Iterable[Finding]:
    """A handoff that ended in an error which no other rule and no handoff below it explains."""
    explained = _explained(record)
    for node in record.tree.nodes:
        if node.outcome is not Status.ERROR or node.handoff_id in explained:
            continue
        if node.handoff_id not in record.closings or _failed_below(record, node):
            continue
        event, closed = record.closings[node.handoff_id]
        notes = one_line(closed.notes, 120)
        yield Finding(
            code="handoff_failed",
            severity=_unless_made_good(record, node),
            handoff_id=node.handoff_id,
            agent=node.agent,
            turn=node.turn,
            evidence=(Evidence(event.seq, notes or "closed with status error"),),
            sentence=f"{as_name(node.agent)} failed{': ' if notes else ''}{ended(notes)}",
            advice=f"Step through {node.handoff_id}: its last tool call or answer says why.",
        )


def needs_input_unused(record: Record) -> Iterable[Finding]:
    """A worker that needs a value, for which nobody asked the user or anybody else."""
    questions = [(e.turn, e.seq) for e, _ in record.of(InputRequested)]
    for node in record.tree.nodes:
        answerer = record.waiting_for(node)
        if node.outcome is not Status.NEEDS_INPUT or answerer is None:
            continue
        asked = any(turn == node.turn and seq > node.first_seq for turn, seq in questions)
        supplied = record.made_good_by(node) is not None
        if asked or supplied or answerer.outcome not in {Status.OK, *FAILED}:
            continue
        event, closed = record.closings[node.handoff_id]
        name = as_name(answerer.agent)
        yield Finding(
            code="needs_input_unused",
            severity=Severity.WARNING,
            handoff_id=node.handoff_id,
            agent=answerer.agent,
            turn=node.turn,
            evidence=(Evidence(event.seq, one_line(closed.notes, 160) or "needs_input"),),
            sentence=(
                f"{as_name(node.agent)} needed a value to go on, and {name} neither supplied "
                "it nor asked the user."
            ),
            advice=f"Tell {name} to pass the question on when a worker answers needs_input.",
        )


def state_conflict(record: Record) -> Iterable[Finding]:
    """Two different values for one key of the session state; the first stays."""
    for event, state in record.of(StateSet):
        if not state.conflict:
            continue
        agent, key = record.agent(event.handoff_id), one_line(state.key, 60)
        yield Finding(
            code="state_conflict",
            severity=Severity.WARNING,
            handoff_id=event.handoff_id,
            agent=agent,
            turn=event.turn,
            evidence=(Evidence(event.seq, f"a second value for {key}"),),
            sentence=f"{as_name(agent)} gave {key} a second value; the first stays.",
            advice="Look at both values: one of them is wrong, or they need names of their own.",
        )


def _unless_made_good(record: Record, node: HandoffNode | None) -> Severity:
    if node is not None and record.made_good_by(node) is not None:
        return Severity.INFO
    if node is not None and not record.failed(node.turn):
        return Severity.WARNING
    return Severity.ERROR


def _explained(record: Record) -> set[str | None]:
    """Return the handoffs whose errors other rules speak of."""
    explained = {
        event.handoff_id for event, rejected in record.of(OutputRejected) if rejected.final
    }
    explained |= {event.handoff_id for event, replied in record.of(ModelReplied) if replied.error}
    explained |= {event.handoff_id for event, denied in record.of(ToolDenied)}
    for node in record.tree.nodes:
        if node.outcome is State.REFUSED and (asker := record.asker(node)) is not None:
            explained.add(asker.handoff_id)
    return explained


def _failed_below(record: Record, node: HandoffNode) -> bool:
    children = record.tree.children.get(node.handoff_id, ())
    return any(child.outcome in FAILED for child in children)
