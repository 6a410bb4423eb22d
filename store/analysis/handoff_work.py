"""What one handoff was given, read, said and did: everything two runs of it can differ in."""

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import IntEnum
from functools import cached_property
from typing import Any, NamedTuple, TypeVar

from handoff_console.runtime.events import (
    AgentActivated,
    Event,
    HandoffClosed,
    HandoffOpened,
    HandoffRejected,
    HandoffRequested,
    ModelCalled,
    ModelReplied,
    Payload,
    ToolCalled,
    ToolDenied,
    ToolReturned,
    context_chain,
)
from handoff_console.store.analysis.bodies import Body, read, read_fields
from handoff_console.store.analysis.nodes import HandoffNode

_P = TypeVar("_P", bound=Payload)


class Part(NamedTuple):
    """Something about a handoff with fields, and the event that shows it."""

    seq: int | None
    """None when there is no such event."""
    fields: Mapping[str, Any]


class EntryKind(IntEnum):
    """What an entry of a transcript is; at one event, in this order."""

    MESSAGE = 0
    REPLY = 1
    TOOL = 2


@dataclass(frozen=True, slots=True)
class Entry:
    """One thing an agent read, said or did, in the order it happened."""

    kind: EntryKind
    tool: str
    """Which one; empty for messages and replies."""
    step: int
    seq: int
    digests: tuple[str, ...]
    """Equal digests, equal content; content may be equal without, in records of two stores."""
    body: Body | None = field(compare=False, repr=False)
    error: str = ""
    """Why a model did not answer, or a tool failed or was denied."""
    call_id: str = field(default="", compare=False)
    """Of a call that was denied: it has no body of its own, and stands in the reply alone."""

    @property
    def name(self) -> str:
        """The role of a message and who answers in it; the tool; empty for a reply."""
        if self.kind is not EntryKind.MESSAGE:
            return self.tool
        said = read_fields(self.body, self.digests[0])
        return " ".join(str(said[key]) for key in ("role", "name") if said.get(key))

    @property
    def content(self) -> Any:
        """What was said: a text; of a tool or a reply, a mapping. Ids of calls are left out."""
        if self.kind is EntryKind.TOOL:
            arguments, result = (read(self.body, digest) for digest in self.digests)
            if self.call_id:
                arguments = _asked_with(arguments, self.call_id)
            return {"arguments": arguments, "result": _text(result), "error": self.error}
        said = read_fields(self.body, self.digests[0] if self.digests else None)
        if self.kind is EntryKind.MESSAGE:
            return _text(said)
        calls = [c for c in said.get("tool_calls") or () if isinstance(c, Mapping)]
        asked = [[call.get("name"), call.get("arguments")] for call in calls]
        return {"text": _text(said), "asks for": asked, "error": self.error}


class HandoffWork:
    """One handoff of a record, by what a comparison asks of it.

    Args:
        node: The handoff.
        events: Its own, by `seq`.
        body: Gives what was said; what is gone compares as nothing.
    """

    def __init__(self, node: HandoffNode, events: Sequence[Event], body: Body | None) -> None:
        self.node, self.events, self.body = node, events, body
        self._by_kind: dict[type, list[Event]] = defaultdict(list)
        for event in events:
            self._by_kind[type(event.payload)].append(event)

    def of(self, kind: type[_P]) -> Iterator[tuple[int, _P]]:
        """Yield the payloads of a kind, each with its event's seq."""
        for event in self._by_kind.get(kind, ()):
            payload = event.payload
            if isinstance(payload, kind):
                yield event.seq, payload

    def first(self, kind: type[_P]) -> tuple[int | None, _P | None]:
        """Return the first payload of a kind with its seq; None and None when there is none."""
        return next(self.of(kind), (None, None))

    @cached_property
    def request(self) -> Part:
        """What was asked for and by whom; empty where no valid request is recorded."""
        seq, asked = self.first(HandoffRequested)
        fields = read_fields(self.body, asked.request) if asked else {}
        return Part(seq, {"source": asked.source, **fields} if asked and fields else {})

    @cached_property
    def wish(self) -> Part:
        """Who asked, and why: known of every handoff, though a re-run gives reasons of its own."""
        seq, asked = self.first(HandoffRequested)
        return Part(seq, {"source": asked.source, "reason": asked.reason} if asked else {})

    @cached_property
    def packet(self) -> Part:
        """What went along with a transfer, and the names of what was withheld."""
        seq, opened = self.first(HandoffOpened)
        if opened is None or (opened.packet is None and not opened.withheld):
            return Part(seq, {})
        packet = read_fields(self.body, opened.packet)
        return Part(seq, {**packet, "withheld": list(opened.withheld)})

    @cached_property
    def is_replayed(self) -> bool:
        """Its result was taken from a recording as a whole: nobody read or said anything."""
        return any(closed.replayed for _, closed in self.of(HandoffClosed))

    @cached_property
    def agent(self) -> tuple[int | None, AgentActivated | None]:
        """Who worked on it, and with what."""
        return self.first(AgentActivated)

    @cached_property
    def offers(self) -> Mapping[str, Any]:
        """The tools and handoffs the agent may ask for, by name."""
        _, agent = self.agent
        offered = read(self.body, agent.tools) if agent else None
        if not isinstance(offered, list):
            return {}
        return {str(tool.get("name", "")): tool for tool in offered if isinstance(tool, Mapping)}

    @cached_property
    def status(self) -> tuple[int | None, str]:
        """How it ended, with the limit or the rule: `limit_reached (steps)`."""
        node = self.node
        ended_seq, _ = next(
            (found for kind in (HandoffClosed, HandoffRejected) for found in self.of(kind)),
            (None, None),
        )
        why = node.limit or node.rule
        return ended_seq, f"{node.outcome} ({why})" if why else node.outcome.value

    @cached_property
    def result(self) -> Part:
        """What came back, without its status and its count of steps; both stand elsewhere."""
        seq, closed = self.first(HandoffClosed)
        if closed is None:
            return Part(seq, {})
        fields = read_fields(self.body, closed.result) or {"notes": closed.notes}
        kept = {name: v for name, v in fields.items() if name not in {"status", "steps_used"}}
        return Part(seq, kept)

    @property
    def has_begun(self) -> bool:
        """It was let through: before that there is nothing but the wish."""
        return HandoffOpened in self._by_kind

    @property
    def has_ended(self) -> bool:
        """It was closed: a run that waits or was interrupted has no result yet."""
        return HandoffClosed in self._by_kind

    @property
    def contexts(self) -> tuple[str, ...]:
        """The digests of all that was read, call by call: equal ones, equal messages."""
        return tuple(called.context for _, called in self.of(ModelCalled))

    def transcript(self, *, messages: bool = True) -> list[Entry]:
        """Return all that was read, said and done, by seq; the prompt left out.

        Args:
            messages: What was read as well, beside results of tools: it takes the most time.
        """
        found = [*self._replies(), *self._tools()]
        if messages:
            found += self._messages({entry.digests[-1] for entry in found if entry.digests})
        return sorted(found, key=lambda entry: (entry.seq, entry.kind))

    def _messages(self, known: Collection[str]) -> Iterator[Entry]:
        calls = list(self.of(ModelCalled))
        if not calls or self.body is None:
            return
        digests, _ = context_chain(calls[-1][1].context, self.body)
        has_prompt = self.agent[1] is not None
        start = 0
        for seq, called in calls:
            for place, digest in enumerate(digests[start : called.messages], start):
                if digest in known:
                    continue
                entry = Entry(EntryKind.MESSAGE, "", called.step, seq, (digest,), self.body)
                if place == 0 and has_prompt and entry.name == "system":
                    continue  # it is the prompt
                yield entry
            start = max(start, called.messages)

    def _replies(self) -> Iterator[Entry]:
        for seq, replied in self.of(ModelReplied):
            digests = (replied.reply,) if replied.reply else ()
            yield Entry(
                EntryKind.REPLY, "", replied.step, seq, digests, self.body, error=replied.error
            )

    def _tools(self) -> Iterator[Entry]:
        returned = {(back.step, back.index): back for _, back in self.of(ToolReturned)}
        for seq, use in self.of(ToolCalled):
            back = returned.get((use.step, use.index))
            digests = (use.arguments, back.result if back else "")
            error = back.error if back else "it did not return"
            yield Entry(EntryKind.TOOL, use.tool, use.step, seq, digests, self.body, error=error)
        replies = {replied.step: replied.reply for _, replied in self.of(ModelReplied)}
        for seq, denied in self.of(ToolDenied):
            yield Entry(
                EntryKind.TOOL, denied.tool, denied.step, seq,
                (replies.get(denied.step) or "", denied.result), self.body,
                error=f"denied: {denied.rule}", call_id=denied.call_id,
            )  # fmt: skip


def _asked_with(reply: Any, call_id: str) -> Any:
    """Return the arguments of a call in a reply; None when the reply or the call is gone."""
    calls = reply.get("tool_calls") if isinstance(reply, Mapping) else None
    for call in calls if isinstance(calls, list) else ():
        if isinstance(call, Mapping) and call.get("id") == call_id:
            return call.get("arguments")
    return None


def _text(message: Any) -> str:
    """Return the text of a message, or of a body that is a text itself."""
    content = message.get("content") if isinstance(message, Mapping) else message
    return content if isinstance(content, str) else ""
