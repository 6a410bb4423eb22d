"""What models and tools answered in a recording, as a plan counts it.

A tenth of the size of the events that it is read from, so that it can be kept.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from handoff_console.runtime.contract import Effect
from handoff_console.runtime.events import Event, ModelReplied, ToolCalled, ToolReturned
from handoff_console.runtime.flow import Flow
from handoff_console.store.analysis.findings.record import Record
from handoff_console.store.analysis.nodes import HandoffNode
from handoff_console.store.analysis.scope import Place, part_of


class Reply(NamedTuple):
    """A model that was asked and answered, or failed."""

    seq: int
    handoff_id: str
    tokens: int


class Returned(NamedTuple):
    """A tool that came back."""

    seq: int
    handoff_id: str


class Called(NamedTuple):
    """A tool that was called."""

    seq: int
    handoff_id: str
    agent: str
    tool: str
    known_seq: int | None
    """Where the record says what came of it; None where it does not."""


class Act(NamedTuple):
    """A recorded call of a tool that is still there."""

    handoff_id: str
    tool: str
    effect: Effect
    """As the tool is by now."""
    is_known: bool
    """Whether the record says what came of it."""


@dataclass(frozen=True, slots=True)
class Course:
    """What was asked and answered, by seq."""

    replies: Sequence[Reply]
    returned: Sequence[Returned]
    called: Sequence[Called]

    @property
    def answers(self) -> int:
        """How many there are, of models and tools."""
        return len(self.replies) + len(self.returned)

    def only(self, is_meant: Callable[[str], bool]) -> "Course":
        """Return what was done in some of the handoffs."""
        return Course(
            [one for one in self.replies if is_meant(one.handoff_id)],
            [one for one in self.returned if is_meant(one.handoff_id)],
            [one for one in self.called if is_meant(one.handoff_id)],
        )

    def until(self, cut: int, inside: frozenset[str]) -> "Course":
        """Return it without what happened in some handoffs from an event on."""

        def happens(one: Reply | Returned | Called) -> bool:
            return one.seq < cut or one.handoff_id not in inside

        return Course(
            list(filter(happens, self.replies)),
            list(filter(happens, self.returned)),
            [
                one
                if one.known_seq is None or one.known_seq < cut or one.handoff_id not in inside
                else one._replace(known_seq=None)
                for one in filter(happens, self.called)
            ],
        )

    def acts(self, flow: Flow) -> Iterator[Act]:
        """Yield the calls of tools that are still there, with what each tool does by now."""
        agents = flow.agents_by_name
        for one in self.called:
            agent = agents.get(one.agent)
            tool = agent.tools_by_name.get(one.tool) if agent else None
            if tool:
                yield Act(one.handoff_id, one.tool, tool.effect, one.known_seq is not None)


def course_of(record: Record) -> Course:
    """Return what was asked and answered in a record."""
    names: dict[str, str] = {}

    def of(event: Event) -> str:
        name = event.handoff_id or ""  # each event read has a string of its own for the same name
        return names.setdefault(name, name)

    known: dict[tuple[str | None, int, int], int] = {}
    for event, back in record.of(ToolReturned):
        if not back.outcome_unknown:
            known.setdefault((event.handoff_id, back.step, back.index), event.seq)
    return Course(
        [
            Reply(event.seq, of(event), reply.input_tokens + reply.output_tokens)
            for event, reply in record.of(ModelReplied)
        ],
        [Returned(event.seq, of(event)) for event, _ in record.of(ToolReturned)],
        [
            Called(
                event.seq,
                of(event),
                record.agent(event.handoff_id),
                use.tool,
                known.get((event.handoff_id, use.step, use.index)),
            )
            for event, use in record.of(ToolCalled)
        ],
    )


class Part(NamedTuple):
    """A handoff and all that it led to."""

    inside: frozenset[str]
    """Their ids."""
    level: frozenset[str]
    """Those on its own level: hops that continued it, and retries."""
    ended_seq: int
    """Their last end; 0 where there is none of them."""


def part_at(record: Record, place: Place) -> Part:
    """Return what of a record belongs to the handoff at a place; nothing if nobody is there."""
    nodes: Sequence[HandoffNode] = part_of(record, place)
    return Part(
        frozenset(node.handoff_id for node in nodes),
        frozenset(node.handoff_id for node in nodes if node.depth == nodes[0].depth),
        max((node.closed_seq or node.last_seq for node in nodes), default=0),
    )
