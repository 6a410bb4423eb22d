"""How sessions were routed, group by group: by prompt version, by flow, by week.

Source: S2, "Evaluating handoffs"; the formulas and their edge cases are in `docs/routing.md`.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from math import ceil
from typing import Literal

from handoff_console.store.analysis.proportions import Proportion, proportion
from handoff_console.store.analysis.routing import Routing
from handoff_console.store.analysis.unpaired import Stratum, Unpaired, unpaired

GroupBy = Literal["prompt_version", "flow", "week"]
ALERT_SHARE = 0.85
"""The documents warn under this first-pass accuracy; here only when the whole interval is."""


@dataclass(frozen=True)
class Latencies:
    """Seconds from a request to the receiver's answer."""

    count: int
    p50_seconds: float | None
    """None without any; so is the next."""
    p95_seconds: float | None


@dataclass(frozen=True)
class RoutingGroup:
    """Sessions of one kind, and what they say about routing."""

    name: str
    """A prompt version, a flow, or the Monday of a week; empty where a session names none."""
    sessions: int
    first_pass: Proportion
    """Observed: of the eligible first handoffs, those that were answered by whoever got them."""
    not_eligible: Mapping[str, int]
    """Why the others do not count, and how many they are."""
    route_unknown: int
    """First handoffs that ran into a limit: a failure that says nothing about the route."""
    invalid: int
    """Sessions whose first agent asked for somebody it may not hand off to."""
    labelled: Proportion
    """Of the labelled sessions, those whose first decision is what the label says."""
    silent_misroutes: Proportion
    """Of the labelled ones, those that went to the wrong agent, who answered all the same."""
    false_correctives: int
    """Labelled sessions that went to the right agent, who handed them on all the same."""
    handoffs_mean: float | None
    """Of the sessions; None without any."""
    handoffs_p95: float | None
    several: Proportion
    """Sessions with two handoffs or more."""
    depth_most: int
    churn: Proportion
    """Of the accepted handoffs, those that their receiver handed on before answering."""
    ping_pong: int
    cut: int
    """Sessions that a limit on handoffs stopped: there might have been more."""
    completeness: Proportion
    """Of the required values, those that went along."""
    asked_again: int
    streamed: Latencies
    """Where first tokens were seen; never mixed with the next."""
    whole: Latencies
    """Where whole replies were waited for."""
    tokens_mean: float | None
    misroute_tokens: int
    tokens: int

    @property
    def is_low(self) -> bool:
        """The first-pass accuracy is under 85 %, and surely so."""
        return bool(self.first_pass.total) and self.first_pass.high < ALERT_SHARE


def group_name(routing: Routing, by: GroupBy) -> str:
    """Return the group of a session; a week is named by its Monday: `2026-11-23`."""
    if by == "week":
        day = datetime.fromtimestamp(routing.started_at, UTC).date()
        return (day - timedelta(days=day.weekday())).isoformat()
    return routing.flow if by == "flow" else routing.prompt_version


def routing_groups(
    routings: Iterable[Routing], by: GroupBy, labels: Mapping[str, str]
) -> tuple[RoutingGroup, ...]:
    """Return the groups, by name; of no session, none.

    Args:
        routings: Sessions, each once.
        by: What makes a group.
        labels: Session → who should have got it: `billing`, `a or b`, `a + b`, `abstain`, `direct`.
    """
    groups: dict[str, list[Routing]] = {}
    for routing in routings:
        groups.setdefault(group_name(routing, by), []).append(routing)
    return tuple(routing_group(name, groups[name], labels) for name in sorted(groups))


def routing_group(name: str, found: Sequence[Routing], labels: Mapping[str, str]) -> RoutingGroup:
    """Return what some sessions say about routing; of none, that nothing is known."""
    eligible = [routing for routing in found if routing.first_pass is not None]
    counts = [routing.handoffs for routing in found]
    accepted = sum(counts)
    judged = [
        (it, is_expected(it, labels[it.session_id])) for it in found if it.session_id in labels
    ]
    silent = sum(not right and _was_kept(it) for it, right in judged)
    tokens = sum(routing.tokens_used for routing in found)
    return RoutingGroup(
        name=name,
        sessions=len(found),
        first_pass=proportion(sum(bool(it.first_pass) for it in eligible), len(eligible)),
        not_eligible=Counter(it.not_eligible for it in found if it.first_pass is None),
        route_unknown=sum(it.route_unknown for it in found),
        invalid=sum(it.first_invalid for it in found),
        labelled=proportion(sum(right for _, right in judged), len(judged)),
        silent_misroutes=proportion(silent, len(judged)),
        false_correctives=sum(right and _was_handed_on(it) for it, right in judged),
        handoffs_mean=accepted / len(found) if found else None,
        handoffs_p95=_quantile(counts, 0.95),
        several=proportion(sum(n >= 2 for n in counts), len(counts)),
        depth_most=max((it.depth for it in found), default=0),
        churn=_part(sum(it.corrective for it in found), accepted),
        ping_pong=sum(it.ping_pong for it in found),
        cut=sum(it.cut for it in found),
        completeness=_part(sum(it.present for it in found), sum(it.required for it in found)),
        asked_again=sum(it.asked_again for it in found),
        streamed=_latencies(found, lambda it: it.streamed),
        whole=_latencies(found, lambda it: not it.streamed),
        tokens_mean=tokens / len(found) if found else None,
        misroute_tokens=sum(it.misroute_tokens for it in found),
        tokens=tokens,
    )


@dataclass(frozen=True)
class GroupDifference:
    """Two groups beside each other: different sessions, so nothing is paired."""

    difference: Unpaired | None
    """B − A of the first-pass accuracy; None where a side has nothing to compare."""
    by_label: bool
    """Like was compared with like: sessions of the same label."""
    left_out: int
    """Sessions that have no counterpart of the same label on the other side."""


def group_difference(
    a: Sequence[Routing], b: Sequence[Routing], labels: Mapping[str, str]
) -> GroupDifference:
    """Return how two groups of sessions differ in first-pass accuracy.

    Where every eligible session is labelled, only sessions of the same label are compared, because
    the two groups may have been asked different things. Otherwise all are one stratum.
    """
    sides = [[it for it in side if it.first_pass is not None] for side in (a, b)]
    by_label = all(side and all(it.session_id in labels for it in side) for side in sides)
    kinds = [
        Counter((labels[it.session_id] if by_label else "", bool(it.first_pass)) for it in side)
        for side in sides
    ]
    names = sorted({kind for counted in kinds for kind, _ in counted})
    strata = [
        Stratum(
            kinds[0][name, True],
            kinds[0][name, True] + kinds[0][name, False],
            kinds[1][name, True],
            kinds[1][name, True] + kinds[1][name, False],
        )
        for name in names
    ]
    found = unpaired(strata)
    used = found.used_a + found.used_b if found else 0
    return GroupDifference(found, by_label, len(sides[0]) + len(sides[1]) - used)


def is_expected(routing: Routing, label: str) -> bool:
    """Say whether a session's first decision is what its label says.

    Args:
        routing: The session's figures.
        label: `billing`, `a or b`, `a + b`, `abstain` or `direct`.
    """
    targets = set(routing.first_targets)
    if routing.first_invalid:
        return False
    if label in {"direct", "abstain"}:
        return not targets
    if " + " in label:
        return targets == set(label.split(" + "))
    return len(targets) == 1 and targets <= set(label.split(" or "))


def _was_kept(routing: Routing) -> bool:
    return routing.first_pass is True


def _was_handed_on(routing: Routing) -> bool:
    return routing.first_pass is False and routing.corrective > 0


def _part(some: int, whole: int) -> Proportion:
    # A value may have gone along more often than it was required.
    return proportion(min(some, whole), whole)


def _latencies(found: Iterable[Routing], wanted: Callable[[Routing], bool]) -> Latencies:
    values = [seconds for it in found if wanted(it) for seconds in it.transition_seconds]
    return Latencies(len(values), _quantile(values, 0.5), _quantile(values, 0.95))


def _quantile(values: Sequence[float], share: float) -> float | None:
    """Return the nearest-rank quantile; None of nothing."""
    if not values:
        return None
    ordered = sorted(values)
    return float(ordered[max(0, ceil(len(ordered) * share) - 1)])
