"""One trial: a case run as far as the first agent's first decision, or as a whole session."""

import re
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from handoff_console.console.commands.routed import OFFLINE, Side
from handoff_console.runtime import Event, EventList, Origin, SessionResult, run
from handoff_console.runtime.contract import HUMAN, Effect, HandoffKind, Status, ToolCall
from handoff_console.runtime.events import (
    NO_MATCH,
    BudgetCharged,
    EventSink,
    ModelReplied,
    StateSet,
)
from handoff_console.runtime.models import Model, ModelCall, ModelReply, as_reply, say, terms_of
from handoff_console.runtime.models.bm25 import Bm25, Score
from handoff_console.runtime.models.bm25 import decide as best_of
from handoff_console.runtime.models.offline import Rules, no_rule
from handoff_console.runtime.models.wordllama import WordLlama
from handoff_console.runtime.tool import HANDOFF_PREFIXES
from handoff_console.store.analysis.bodies import filled
from handoff_console.store.analysis.comparison.cases import RouteCase
from handoff_console.store.analysis.comparison.trials import AgentScore, SessionFigures
from handoff_console.store.analysis.routing import Routing, routing_of
from handoff_console.store.experiment_forms import Outcome

BEST_SHOWN = 3
"""Scores that are kept of a router that scores."""

_ANNOUNCES = re.compile(
    r"\b(?:transferr?ing|handing|passing|forwarding|connecting|redirecting|routing)\b"
    r"|\b(?:i(?:'|’)ll|i will|let me|i(?:'|’)m going to)\s+"
    r"(?:transfer|hand|pass|forward|connect|redirect|route)\b",
    re.IGNORECASE,
)
"""A handoff in words: what somebody says who means to hand over."""


@dataclass
class _Decision:
    """What the first agent decided first."""

    agents: tuple[str, ...] = ()
    invalid: bool = False
    knows: bool = True
    announced: bool = False
    values: tuple[str, ...] | None = None
    scores: tuple[AgentScore, ...] = ()
    seconds: float = 0.0
    tries: int = 0
    made: bool = False


class _Watched:
    """The router, watched until it has decided.

    Args:
        model: Who decides.
        known: Gives what the session knows by now, which goes along with a transfer.
        stops: Nobody is asked once it has: the session ends there, and nothing else is spent.
    """

    def __init__(
        self, model: Model, known: Callable[[], Mapping[str, Any]], *, stops: bool
    ) -> None:
        self.name, self.offline = model.name, model.offline
        self.reads_prompt = model.reads_prompt
        self.terms = terms_of(model)
        self.decision = _Decision()
        self._model, self._stops, self._known = model, stops, known
        self._began = time.monotonic()

    async def reply(self, call: ModelCall, /) -> ModelReply:
        """Answer as the model does; after the decision, and if it stops there, with nothing."""
        found = self.decision
        if found.made and self._stops:
            return say("")
        found.tries += not found.made
        reply = as_reply(await self._model.reply(call))
        if found.made or not self._decides(call, reply):
            return reply
        found.made, found.seconds = True, round(time.monotonic() - self._began, 6)
        found.scores = _scores(self._model, call)
        return replace(reply, text="decided", tool_calls=()) if self._stops else reply

    def _decides(self, call: ModelCall, reply: ModelReply) -> bool:
        """Take a reply's decision; False where it only looks something up first."""
        targets = {
            spec["name"]: spec["handoff"]["target"] for spec in call.tools if "handoff" in spec
        }
        asked = [one for one in reply.tool_calls if one["name"].startswith(HANDOFF_PREFIXES)]
        found = self.decision
        if asked:
            names = [targets.get(one["name"]) or _named(one) for one in asked]
            found.invalid = any(one["name"] not in targets for one in asked)
            found.knows = names != [HUMAN]
            found.agents = tuple(dict.fromkeys(name for name in names if name != HUMAN))
            found.values = self._values_along(call, asked)
            return True
        if reply.tool_calls:
            own = call.agent.tools_by_name
            return any(
                one["name"] in own and own[one["name"]].effect is not Effect.READ
                for one in reply.tool_calls
            )
        lost = reply.finish_reason == NO_MATCH or reply.text == no_rule(call.agent.name)
        found.knows = not lost and not self.name.startswith(OFFLINE)
        found.announced = bool(_ANNOUNCES.search(reply.text)) and found.knows
        return True

    def _values_along(self, call: ModelCall, asked: Sequence[ToolCall]) -> tuple[str, ...] | None:
        """Return the names of what goes along; None for a router that writes no values."""
        if self.name.startswith(OFFLINE):
            return None
        found: set[str] = set()
        for one in asked:
            edge = call.agent.edges_by_tool.get(one["name"])
            payload = one["arguments"].get("payload")
            values = dict(payload) if isinstance(payload, dict) else {}
            if edge is not None and edge.via is HandoffKind.TRANSFER:
                values = {**self._known(), **values}
            sent, _ = call.flow.redaction.without_sensitive(values)
            fields = edge.fields if edge is not None else None
            found |= {name for name in filled(sent) if fields is None or name in fields}
        return tuple(sorted(found))


async def decide(side: Side, case: RouteCase) -> Outcome:
    """Run a case as far as the first decision; nothing is recorded, and nobody else is asked.

    An error that may pass is tried once more. Routers that only score descriptions are asked for
    their scores, without a session around them: the decision is the same, ten times as fast.
    """
    if type(side.router) in _SCORING and not side.start.tools:
        return _scored(side, case.text)
    outcome, may_pass = await _decided(side, case)
    if outcome.problem and may_pass:
        again, _ = await _decided(side, case)
        tokens = outcome.tokens + again.tokens
        return replace(again, tokens=tokens, tries=outcome.tries + again.tries)
    return outcome


def _scored(side: Side, text: str) -> Outcome:
    router = side.router
    assert isinstance(router, Bm25)
    began = time.perf_counter()
    scores = router.scores_of(text, side.offers)
    best = best_of(scores, side.start.threshold)
    return Outcome(
        agents=(best.target,) if best else (),
        knows=best is not None,
        scores=_best(scores),
        tokens=side.read_tokens(text),
        tokens_estimated=True,
        seconds=round(time.perf_counter() - began, 6),
    )


async def _decided(side: Side, case: RouteCase) -> tuple[Outcome, bool]:
    sink = EventList()
    watched = _Watched(side.router, lambda: _known(sink), stops=True)
    others = {agent.name: _NOBODY for agent in side.flow.agents}
    models = {**others, side.flow.start: watched}
    result = await run(side.flow, case.text, sink=sink, models=models, state=case.state)
    return _outcome(watched.decision, result, sink.events), result.result.transient


def _known(sink: EventList) -> dict[str, Any]:
    """Return the session state: what was known before, and what tools have found out since."""
    known: dict[str, Any] = {}
    for event in sink.events:
        if isinstance(event.payload, StateSet):
            known |= sink.body(event.payload.value)
    return known


async def whole_session(
    side: Side,
    case: RouteCase,
    sink: EventSink,
    session_id: str,
    *,
    experiment_id: str,
    read: Callable[[str], tuple[list[Event], Callable[[str], Any]]],
) -> Outcome:
    """Run a case to its end, recorded like any session, and return what it came to.

    Args:
        side: What runs it.
        case: The request.
        sink: Where it is recorded.
        session_id: Its id.
        experiment_id: Stands in the session's labels, with the case and the version.
        read: Gives the events of a recorded session, and a lookup of bodies.
    """
    watched = _Watched(side.router, dict, stops=False)  # its record says what went along
    labels = {"experiment": experiment_id, "case": case.case_id, "version": side.version.label}
    result = await run(
        side.flow,
        case.text,
        sink=sink,
        session_id=session_id,
        state=case.state,
        models={**side.models, side.flow.start: watched},
        origin=Origin(flow_source=side.flow_source, kind="batch", metadata=labels),
    )
    events, body = read(session_id)
    found = routing_of(events, body=body)
    outcome = _outcome(watched.decision, result, events)
    if result.status is Status.NEEDS_INPUT and not outcome.agents:
        outcome = replace(outcome, knows=False)
    return replace(
        outcome,
        session_id=session_id,
        values=found.first_values if outcome.agents else None,
        seconds=round(events[-1].elapsed_seconds, 6),
        figures=_figures(found),
    )


def _figures(found: Routing) -> SessionFigures:
    return SessionFigures(
        first_pass=found.first_pass,
        handoffs=found.handoffs,
        depth=found.depth,
        corrective=found.corrective,
        completeness=found.completeness,
        misroute_tokens=found.misroute_tokens,
        transition_seconds=found.transition_seconds,
        streamed=found.streamed,
        final_agent=found.final_agent,
        outcome=found.outcome,
        asked_again=found.asked_again,
    )


def _outcome(decision: _Decision, result: SessionResult, events: list[Event]) -> Outcome:
    replies = [event.payload for event in events if isinstance(event.payload, ModelReplied)]
    charged = [event.payload for event in events if isinstance(event.payload, BudgetCharged)]
    problem = "" if decision.made else _problem(result, replies)
    return Outcome(
        agents=decision.agents,
        invalid=decision.invalid,
        knows=decision.knows,
        announced=decision.announced,
        values=decision.values,
        scores=decision.scores,
        tokens=result.tokens_used,
        tokens_estimated=any(charge.estimated for charge in charged),
        seconds=decision.seconds,
        tries=max(decision.tries, 1),
        problem=problem,
    )


def _problem(result: SessionResult, replies: list[ModelReplied]) -> str:
    said = [reply.error for reply in replies if reply.error]
    reason = said[-1] if said else result.result.notes or result.reason
    return reason or f"no decision: {result.status.value}"


def _scores(model: Model, call: ModelCall) -> tuple[AgentScore, ...]:
    return _best(model.scores(call)) if isinstance(model, Bm25) else ()


def _best(scores: Sequence[Score]) -> tuple[AgentScore, ...]:
    return tuple(
        AgentScore(item.target, item.score, tuple(item.matched)) for item in scores[:BEST_SHOWN]
    )


def _named(call: ToolCall) -> str:
    """Return the agent that a handoff asks for by the tool's name, which nobody offered."""
    name = call["name"]
    return next(name.removeprefix(p) for p in HANDOFF_PREFIXES if name.startswith(p)) or name


_SCORING = (Bm25, WordLlama)
"""Routers whose decision is their best score."""
_NOBODY = Rules(lambda _call: say(""), name="nobody")
