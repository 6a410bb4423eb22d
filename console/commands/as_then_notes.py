"""What a re-run takes from the record although the flow says otherwise by now, and what it cannot.

Said of those who may really be asked: of nobody else does it matter.
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence

from handoff_console.console.commands.recorded_flows import RecordedFlow
from handoff_console.console.commands.recorded_models import OtherModel, check_can_be_asked
from handoff_console.console.commands.rerun_orders import Prepared, RerunOrder
from handoff_console.runtime.contract import HUMAN, HandoffKind
from handoff_console.runtime.flow import Flow
from handoff_console.runtime.models import PROVIDERS
from handoff_console.runtime.rerun_player import Mode
from handoff_console.store.analysis.plain_text import as_name, ended, listed, one_line

_SHOWN = 3
"""Of more parts than that, the others are counted: a note is one sentence."""
_SPEC = 120  # characters: a model's name with its settings


def as_then_notes(ready: Prepared, order: RerunOrder) -> Iterator[str]:
    """Yield what is as it was recorded, and which models are not, a sentence each."""
    asked = who_is_asked(ready, order.mode)
    target = ready.recorded.opened.target
    is_told = ready.edits.prompt is not None
    kept = [
        one.what
        for one in ready.flow.kept
        if (not one.agent or one.agent in asked)
        and not (is_told and (one.agent, one.part) == (target, "prompt"))
    ]
    if asked and kept:
        yield (
            f"It runs as it was recorded, not as the flow says now: {_joined(kept)}. What is new "
            "in the flow is tried by running it anew."
        )
    if asked and not ready.flow.tells_rules:
        yield (
            "By which redaction rules, ingress checks and tries of a model it went is not in this "
            "record; those of the flow count."
        )
    left = defaultdict[str, list[str]](list)
    for other in ready.flow.other_models:
        is_target = other.agent == target
        is_given = is_target and ready.edits.model is not None
        if other.agent not in asked or is_given:
            continue
        if other.is_asked and not other.own:  # the flow leaves it to whoever runs it
            left[other.recorded].append(other.agent)
        else:
            yield _of_model(other, is_target=is_target)
    for model, agents in left.items():
        if model.partition(":")[0] in PROVIDERS:  # nobody is asked there without being named
            ask = "asks" if len(agents) == 1 else "ask"
            yield (
                f"{listed(agents)} {ask} {one_line(model, _SPEC)} as when this was recorded: the "
                "flow names no model."
            )


def _joined(parts: Sequence[str]) -> str:
    if len(parts) > _SHOWN:
        parts = [*parts[: _SHOWN - 1], f"{len(parts) - _SHOWN + 1} more"]
    *first, last = parts
    return f"{', '.join(first)} and {last}" if first else last


def not_as_it_was(flow: RecordedFlow, agent: str, mode: Mode) -> list[str]:
    """Return what is otherwise than recorded where an agent is run alone, a sentence each.

    What the flow cannot have as it was, and the models of all who may be asked that cannot be the
    recorded ones.
    """
    asked = reached(flow.flow, agent, mode)
    others = [one for one in flow.other_models if one.agent in asked and not one.is_asked]
    return [*flow.changes, *(_of_model(one, is_target=False) for one in others)]


def check_models_asked(ready: Prepared, mode: Mode) -> None:
    """Refuse a re-run whose models cannot be asked here; nobody else's matter.

    Raises:
        FlowError: One of them cannot; the text says why.
    """
    asked = who_is_asked(ready, mode)
    given = {ready.recorded.opened.target} if ready.edits.model is not None else set()
    check_can_be_asked(ready.flow.flow, asked - given)


def who_is_asked(ready: Prepared, mode: Mode) -> frozenset[str]:
    """Return the agents that may really be asked: those that are run again, and whom they reach.

    Nobody, where every answer is a recorded one.
    """
    flow, target = ready.flow.flow, ready.recorded.opened.target
    if mode is Mode.VERIFY:
        return frozenset()
    if mode is Mode.CONTINUE:
        return _asked_on(ready)
    return reached(flow, target, mode)


def _asked_on(ready: Prepared) -> frozenset[str]:
    """Return who may be asked where the session goes on: who waits for it, and all of later turns.

    Agents that had answered before it began have their recorded answers. Those whose handoffs the
    record has no end of are asked from there on, whatever is changed.
    """
    flow, event = ready.flow.flow, ready.recorded.event
    if ready.flow.changes or (_is_changed(ready) and ready.past.last_turn > event.turn):
        return frozenset(flow.agents_by_name)
    asked = ready.past.left_open
    if _is_changed(ready):
        asked = asked | {ready.recorded.opened.target, *ready.recorded.surroundings.ancestors}
    known = asked & flow.agents_by_name.keys()
    return frozenset().union(*(reached(flow, name, Mode.CONTINUE) for name in known))


def _is_changed(ready: Prepared) -> bool:
    return ready.graft is not None or bool(ready.edits.described())


def reached(flow: Flow, agent: str, mode: Mode) -> frozenset[str]:
    """Return an agent and all whom it may hand off to, directly or not, and who are really asked.

    Args:
        flow: The flow.
        agent: One of its agents, or a person.
        mode: How much is real: in `what-if`, whom it calls answers as recorded.
    """
    ways = {HandoffKind.TRANSFER} if mode is Mode.WHAT_IF else set(HandoffKind)
    found, left = {agent}, [agent]
    while left:
        for edge in flow.agent(left.pop()).edges:
            if edge.via in ways and edge.target not in {*found, HUMAN}:
                found.add(edge.target)
                left.append(edge.target)
    return frozenset(found)


def _of_model(other: OtherModel, *, is_target: bool) -> str:
    agent, was = as_name(other.agent), one_line(other.recorded, _SPEC)
    own = f"the flow's {one_line(other.own, _SPEC)}"
    if other.is_asked:
        another = "; --model names another" if is_target else ""
        return f"{agent} asks {was} as when this was recorded, and not {own}{another}."
    if other.terms:
        terms = _joined([one_line(one, 60) for one in other.terms])
        return (
            f"{agent} asks {was} otherwise than when this was recorded: {terms}; its own "
            "program sets that."
        )
    if other.problem:
        why = ended(one_line(other.problem, 150))
        return f"{agent} asked {was} when this was recorded, and asks {own} now, since: {why}"
    how = "name it in a shell with --model FILE.py:NAME" if is_target else "put it into the flow"
    return (
        f"{agent} asked the model {was!r} when this was recorded, which only its own program can "
        f"make, and asks {own} now; {how} to ask it again."
    )
