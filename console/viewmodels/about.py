"""What else is to be known of a session: labels, limits, models, and what its handoffs cost."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from handoff_console.console.viewmodels.request import Line
from handoff_console.console.viewmodels.text import amount, as_name, count, money, one_line, seconds
from handoff_console.runtime.contract import USER, State
from handoff_console.runtime.events import (
    Event,
    HandoffOpened,
    SessionStarted,
    UserMessageReceived,
)
from handoff_console.store.analysis.bodies import Body, read_fields
from handoff_console.store.analysis.economics import Totals, totals, transfer_costs
from handoff_console.store.analysis.nodes import HandoffTree
from handoff_console.store.analysis.waste import waste

_ORIGINS = {
    "run": "a run of its own",
    "sample": "a recorded sample",
    "batch": "one request of a file",
}


@dataclass(frozen=True, slots=True)
class Facts:
    """Some facts under one heading."""

    title: str
    lines: tuple[Line, ...]


@dataclass(frozen=True, slots=True)
class AboutSession:
    """What is folded away at the top of a session's page."""

    labels: tuple[Line, ...]
    """What the caller noted about the request, in sight while the rest is folded."""
    facts: tuple[Facts, ...]
    currency: str = ""
    """Of its costs; empty where no model had a price."""
    cost: str = ""
    """What it cost, in words; empty where nothing has a price."""


def about_session(
    events: Sequence[Event],
    tree: HandoffTree,
    *,
    body: Body | None = None,
    is_whole: bool = True,
    source: str = "",
) -> AboutSession:
    """Return what else is to be known of a session; one without events has nothing to tell.

    Args:
        events: Of the session, by `seq`.
        tree: Its handoffs.
        body: Gives the flow that was recorded; without it no currency is known.
        is_whole: False: the events of models and tools were left out, as of a very large session;
            what they alone could tell is not said.
        source: The file it came from; empty for what was recorded here.
    """
    started = next((e.payload for e in events if isinstance(e.payload, SessionStarted)), None)
    asked = [e.payload for e in events if isinstance(e.payload, UserMessageReceived)]
    known = started.metadata if started else {}
    flow = read_fields(body, started.flow_digest if started else None)
    currency = one_line(str(flow.get("currency", "")), 8)
    has_prices = bool(flow.get("prices")) or body is None
    took = totals(events)
    cost = _cost(took.cost, currency, has_prices) if tree.nodes else ""
    groups = (
        Facts("Session", tuple(_session(events, started, len(asked), source))),
        Facts(
            "Limits of the request", tuple(_limits(asked[-1], events, currency)) if asked else ()
        ),
        Facts("What it took", tuple(_took(took, events, tree, is_whole, cost))),
    )
    return AboutSession(
        tuple(Line(one_line(name, 40), one_line(value, 120)) for name, value in known.items()),
        tuple(group for group in groups if group.lines),
        currency,
        cost,
    )


def _session(
    events: Sequence[Event], started: SessionStarted | None, requests: int, file: str
) -> Iterable[Line]:
    if started is None:
        return
    yield Line("id", one_line(events[0].session_id, 80))
    source = one_line(started.flow_source, 80)
    flow = one_line(started.flow, 60)
    yield Line("flow", f"{flow} ({source})" if source and source != flow else flow)
    origin = _ORIGINS.get(started.origin, one_line(started.origin, 20))
    yield Line("origin", f"imported from {one_line(file, 60)}" if file else origin)
    yield Line("prompts", one_line(started.prompt_version, 40) or "as they stand in the flow")
    if started.models:
        models = Counter(as_name(model) for model in started.models.values())
        yield Line(
            "models", ", ".join(f"{name} ({count(n, 'agent')})" for name, n in models.most_common())
        )
    if started.python_version:
        versions = (f"Python {started.python_version}", *started.packages)
        yield Line("ran with", ", ".join(one_line(version, 60) for version in versions))
    if requests > 1:
        yield Line("requests", amount(requests))


def _limits(asked: UserMessageReceived, events: Iterable[Event], currency: str) -> Iterable[Line]:
    floor = asked.finish_floor_tokens
    kept = f", {amount(floor)} of them kept for the answer" if floor else ""
    yield Line("pool", f"{count(asked.pool_tokens, 'token')}{kept}")
    root = None
    for event in events:
        if isinstance(event.payload, HandoffOpened) and event.payload.source == USER:
            root = event.payload
    if root is not None:
        steps, deadline = count(root.max_steps, "step"), seconds(root.deadline_seconds)
        yield Line(
            as_name(root.target), f"{steps} · {count(root.max_tokens, 'token')} · {deadline}"
        )
    yield Line("calls", f"at most {amount(asked.max_workers)}, {count(asked.depth, 'level')} deep")
    again = asked.max_edge_repeats
    repeats = f"the same way again {count(again, 'time')}" if again else "never the same way twice"
    yield Line("transfers", f"at most {amount(asked.max_handoffs)}, {repeats}")
    if asked.max_cost is not None:
        yield Line("cost", f"at most {asked.max_cost:g} {currency}".rstrip())


def _took(
    took: Totals, events: Sequence[Event], tree: HandoffTree, is_whole: bool, cost: str
) -> Iterable[Line]:
    if not tree.nodes:
        return
    yield Line("time", seconds(took.seconds))
    yield Line("tokens", amount(took.tokens))
    if is_whole:
        yield Line("model calls", amount(took.model_calls))
    if cost:
        yield Line("cost", cost)
    transfers = transfer_costs(events) if is_whole else ()
    if transfers:
        read = sum(transfer.first_prompt_tokens for transfer in transfers)
        whole = sum(transfer.overhead_tokens for transfer in transfers)
        receivers = count(len(transfers), "receiver")
        asking = f", {amount(whole)} with the asking" if whole != read else ""
        yield Line("transfers", f"{receivers} read {count(read, 'token')} to begin with{asking}")
    lost = waste(tree, events)
    if lost.failed:
        share = _share(lost.failed_tokens, took.tokens)
        handoffs = count(lost.failed, "handoff")
        yield Line(
            "no result", f"{count(lost.failed_tokens, 'token')} in {handoffs} without one{share}"
        )
    if lost.repeated:
        share = _share(lost.repeated_tokens, took.tokens)
        handoffs = count(lost.repeated, "handoff")
        yield Line(
            "repeated",
            f"{count(lost.repeated_tokens, 'token')} in {handoffs} for what was answered{share}",
        )
    made = [node for node in tree.nodes if node.source != USER and node.opened_seq]
    if made and not (lost.failed or lost.repeated or any(n.outcome in _OPEN for n in made)):
        yield Line("wasted", "nothing: every handoff came back, and none was repeated")


def _cost(cost: float | None, currency: str, has_prices: bool) -> str:
    if cost is not None and (cost or has_prices):
        return money(cost, currency)
    return "unknown: a model has no price" if has_prices else ""


_OPEN = frozenset({State.RUNNING, State.WAITING, State.ASKED_FOR})


def _share(part: int, whole: int) -> str:
    return f" ({part / whole:.0%})" if whole else ""
