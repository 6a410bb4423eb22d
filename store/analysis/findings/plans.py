"""A step of a plan that nobody took, in an answer that does not say so.

Source: S4, coordination faults (missed parts).
"""

import re
from collections import Counter
from collections.abc import Container, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from handoff_console.runtime.contract import Status, tool_value
from handoff_console.runtime.counting import count
from handoff_console.runtime.events import (
    Event,
    HandoffRequested,
    SessionStarted,
    ToolCalled,
    ToolDenied,
    ToolReturned,
)
from handoff_console.store.analysis.bodies import read_fields, texts_within
from handoff_console.store.analysis.findings.finding import Evidence, Finding, Severity
from handoff_console.store.analysis.findings.limits import says_incomplete
from handoff_console.store.analysis.findings.record import Record
from handoff_console.store.analysis.nodes import HandoffNode
from handoff_console.store.analysis.plain_text import as_name, listed, one_line

_WHO = ("worker", "agent", "assignee", "target", "to")
_WHAT = ("task", "step", "what", "description", "goal")
STEPS = 2
"""A list of fewer steps is no plan."""


class _Plan(NamedTuple):
    """The last plan that an agent wrote down."""

    event: Event
    steps: Sequence[tuple[str, str]]
    """Who is to do what."""


def plan_step_missed(record: Record) -> Iterable[Finding]:
    """A step of the last plan of an agent that answered, given to nobody, and not owned up to.

    Only of an agent that had somebody else do something. What was asked for and refused, or failed,
    was not missed: other rules speak of it.
    """
    planners = {
        node.handoff_id: node
        for node in record.tree.nodes
        if node.outcome is Status.OK
        and node.handoff_id in record.closings
        and node.handoff_id in record.tree.children
    }
    for handoff_id, plan in _last_plans(record, planners).items():
        node = planners[handoff_id]
        missed = _missed(record, node, plan)
        event, closed = record.closings[handoff_id]
        result = read_fields(record.body, closed.result)
        if not missed or not result or says_incomplete(result) or _mentions(result, plan, missed):
            continue
        yield _finding(node, plan, missed, event)


def _finding(
    node: HandoffNode, plan: _Plan, missed: Sequence[tuple[str, str]], closing: Event
) -> Finding:
    who = as_name(node.agent)
    names = listed(list(dict.fromkeys(name for name, _ in missed)))
    steps = "a step" if len(missed) == 1 else f"{len(missed)} steps"
    what = one_line(missed[0][1], 80) if len(missed) == 1 else ""
    return Finding(
        code="plan_step_missed",
        severity=Severity.WARNING,
        handoff_id=node.handoff_id,
        agent=node.agent,
        turn=node.turn,
        evidence=(
            Evidence(plan.event.seq, f"it planned {count(len(plan.steps), 'step')}"),
            *(
                Evidence(plan.event.seq, one_line(f"{name}: {task}", 120))
                for name, task in missed[:3]
            ),
            Evidence(closing.seq, f"{who} answered and did not say that anything is missing"),
        ),
        sentence=(
            f"{who} planned {steps} for {names}{f' ({what})' if what else ''} and never took "
            f"{'it' if len(missed) == 1 else 'them'}; its answer does not say so."
        ),
        advice=f"Tell {who} to go through its plan before it answers, and to name what is left.",
    )


def _last_plans(record: Record, planners: Container[str]) -> dict[str, _Plan]:
    """Return the last list of steps that a tool took from each planner, or gave to it."""
    calls: dict[tuple[str | None, int, int], tuple[Event, ToolCalled]] = {}
    for event, called in record.of(ToolCalled):
        if event.handoff_id in planners:
            calls[event.handoff_id, called.step, called.index] = event, called
    known = _names(record) if calls else frozenset()
    found = {}
    for event, returned in record.of(ToolReturned):
        call = calls.get((event.handoff_id, returned.step, returned.index))
        if call is None or returned.error:
            continue
        given = read_fields(record.body, call[1].arguments)
        steps = next(filter(None, (_steps(value, known) for value in given.values())), None)
        steps = steps or _steps(_returned(record, returned), known)
        if steps:
            found[event.handoff_id or ""] = _Plan(call[0], steps)
    return found


def _returned(record: Record, returned: ToolReturned) -> Any:
    message = read_fields(record.body, returned.result)
    content = message.get("content")
    if not isinstance(content, str):
        return None
    return tool_value({"role": "tool", "content": content})


def _names(record: Record) -> frozenset[str]:
    """Return everybody and everything that a step of a plan may be given to, as far as known."""
    names = {asked.target for _, asked in record.of(HandoffRequested)}
    names |= {called.tool for _, called in record.of(ToolCalled)}
    for _, started in record.of(SessionStarted):
        for agent in _maps(read_fields(record.body, started.flow_digest).get("agents")):
            names |= {str(edge.get("target")) for edge in _maps(agent.get("edges"))}
            names |= {str(tool.get("name")) for tool in _maps(agent.get("tools"))}
    return frozenset(names)


def _maps(value: Any) -> list[Mapping[str, Any]]:
    return [one for one in value if isinstance(one, Mapping)] if isinstance(value, list) else []


def _steps(value: Any, known: frozenset[str]) -> list[tuple[str, str]]:
    """Return the steps of a value that is a plan; nothing for any other value."""
    if not isinstance(value, list) or len(value) < STEPS:
        return []
    steps = [_step(item) for item in value]
    if any(step is None or step[0] not in known for step in steps):
        return []
    return [step for step in steps if step is not None]


def _step(item: Any) -> tuple[str, str] | None:
    if not isinstance(item, Mapping):
        return None
    who = next((item[key] for key in _WHO if isinstance(item.get(key), str)), None)
    what = next((item[key] for key in _WHAT if isinstance(item.get(key), str)), None)
    return (who, what) if who and what else None


def _missed(record: Record, node: HandoffNode, plan: _Plan) -> list[tuple[str, str]]:
    """Return the steps whose workers were asked less often than planned."""
    after, own = plan.event.seq, node.handoff_id
    asked: Counter[str] = Counter()
    for event, requested in record.of(HandoffRequested):
        if event.seq > after and requested.follows is None and _is_of(record, event, own):
            asked[requested.target] += 1
    used = [(event, called.tool) for event, called in record.of(ToolCalled)]
    used += [(event, denied.tool) for event, denied in record.of(ToolDenied)]
    asked.update(tool for event, tool in used if event.seq > after and event.handoff_id == own)
    missed = []
    for who, what in plan.steps:
        if asked[who]:
            asked[who] -= 1
        else:
            missed.append((who, what))
    return missed


def _is_of(record: Record, event: Event, handoff_id: str) -> bool:
    """Say whether a handoff was asked for by this one, as a call or as its transfer."""
    if event.parent_id == handoff_id:
        return True
    node = record.node(event.handoff_id)
    return node is not None and handoff_id in (node.continues, node.parent_id)


def _mentions(result: Mapping[str, Any], plan: _Plan, missed: Sequence[tuple[str, str]]) -> bool:
    """Say whether an answer speaks of each missed step: of its worker, or in words of its own."""
    said = set(_words(" ".join(texts_within(result))))
    taken = {word for step in plan.steps if step not in missed for word in _words(step[1])}
    own = [set(_words(what)) - taken | set(_words(who.replace("_", " "))) for who, what in missed]
    return all(said & words for words in own)


def _words(text: str) -> list[str]:
    """Return the words of a text that say something, without their endings of one letter."""
    found = re.findall(r"[^\W_]{4,}", text[:20_000].lower())
    return [word.removesuffix("s") for word in found]
