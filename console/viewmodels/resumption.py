"""What a session left behind when its process went: what is finished, and what is still to do."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from handoff_console.console.commands.left_out_values import Asked, asked_for
from handoff_console.console.commands.waiting import Pending, UnknownEffect
from handoff_console.console.viewmodels.text import as_name, count, one_line, pretty
from handoff_console.runtime.contract import State
from handoff_console.runtime.events import (
    Event,
    ModelCalled,
    ModelReplied,
    ToolCalled,
    ToolReturned,
)
from handoff_console.runtime.gaps import Gap
from handoff_console.store.analysis.nodes import HandoffNode, HandoffTree


@dataclass(frozen=True, slots=True)
class UnknownAct:
    """An act that was begun, and nobody knows whether it happened."""

    place: str
    """Handoff, step and call: `h2.1.0`."""
    title: str
    """`clerk was calling note (h1.1.0)`."""
    arguments: str


@dataclass(frozen=True, slots=True)
class ResumptionView:
    """What going on with an interrupted session means."""

    finished: str
    """What is not done again."""
    ahead: tuple[str, ...]
    """What will be done, a sentence each."""
    unknown: tuple[UnknownAct, ...]
    """What the operator has to say first."""
    left_out: tuple[Asked, ...]
    """What was left out of its record, and is asked for."""


def resumption_view(
    tree: HandoffTree, events: Sequence[Event], waits: Pending, missing: Sequence[Gap] = ()
) -> ResumptionView:
    """Return what going on with a session means.

    Args:
        tree: Its handoffs.
        events: Its calls of models and tools, with their answers.
        waits: What it waits for.
        missing: What was left out of its record, and may be read by whoever goes on.
    """
    nodes = tree.nodes
    open_nodes = [node for node in nodes if node.outcome in {State.INTERRUPTED, State.RUNNING}]
    answers = sum(isinstance(event.payload, ModelReplied | ToolReturned) for event in events)
    done = len(nodes) - len(open_nodes)
    return ResumptionView(
        finished=(
            f"{_finished(done, len(nodes))}, and "
            f"{count(answers, 'answer')} of models and tools {_is(answers)} recorded: none of "
            "that is done again."
        ),
        ahead=tuple(_ahead(open_nodes, events)),
        unknown=tuple(map(_unknown, waits.effects)),
        left_out=tuple(asked_for(missing)),
    )


def _finished(done: int, total: int) -> str:
    if not done:
        return "No handoff is finished"
    return f"{done} of {count(total, 'handoff')} {_is(done)} finished"


def _is(number: int) -> str:
    return "is" if number == 1 else "are"


def _ahead(open_nodes: Sequence[HandoffNode], events: Sequence[Event]) -> Iterator[str]:
    if not open_nodes:
        yield "What is left is to close the session."
        return
    for node in open_nodes:
        agent = as_name(node.agent)
        if node.opened_seq is None:
            yield f"{agent} ({node.handoff_id}) had been asked for, and begins."
            continue
        mine = [event.payload for event in events if event.handoff_id == node.handoff_id]
        asked = sum(isinstance(one, ModelCalled) for one in mine)
        heard = sum(isinstance(one, ModelReplied) for one in mine)
        steps = f"after {count(heard, 'answer')} of its model" if heard else "from its first step"
        again = "; the model's answer was under way, so it is asked again" * (asked > heard)
        yield f"{agent} ({node.handoff_id}) goes on {steps}{again}."
        yield from _running(agent, mine)


def _running(agent: str, mine: Sequence[object]) -> Iterator[str]:
    back = {(one.step, one.index) for one in mine if isinstance(one, ToolReturned)}
    for one in mine:
        is_open = isinstance(one, ToolCalled) and (one.step, one.index) not in back
        if isinstance(one, ToolCalled) and is_open and one.idempotency_key is None:
            yield f"{agent} waited for {as_name(one.tool)}, which only reads: it is called again."


def _unknown(effect: UnknownEffect) -> UnknownAct:
    return UnknownAct(
        place=effect.place,
        title=f"{as_name(effect.agent)} was calling {as_name(effect.tool)} ({effect.place})",
        arguments=pretty({one_line(k, 60): v for k, v in effect.arguments.items()}, 4_000),
    )
