"""What happened: the four metrics of recorded sessions, a group a row, in words."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date

from handoff_console.console.viewmodels.shares import interval_words, percent
from handoff_console.console.viewmodels.text import amount, count, one_line, seconds
from handoff_console.store.analysis.proportions import Proportion
from handoff_console.store.analysis.routing_groups import (
    ALERT_SHARE,
    GroupBy,
    GroupDifference,
    Latencies,
    RoutingGroup,
)

GROUP_WORDS: Mapping[GroupBy, str] = {
    "prompt_version": "Prompt version",
    "flow": "Flow",
    "week": "Week",
}


@dataclass(frozen=True, slots=True)
class Figure:
    """One figure of a group: what it is, how sure, and what it is of."""

    value: str
    small: str
    """The interval, or what it is of; on a second line."""
    share: float | None = None
    """0 to 1, for a bar; None draws none."""
    low: float = 0.0
    high: float = 0.0
    alert: str = ""
    """Why somebody should look; nothing where nobody needs to."""
    title: str = ""


@dataclass(frozen=True, slots=True)
class GroupRow:
    """A prompt version, a flow or a week."""

    name: str
    key: str
    sessions: str
    first_pass: Figure
    labelled: Figure
    handoffs: Figure
    churn: Figure
    completeness: Figure
    latency: Figure
    tokens: Figure


COLUMNS: Sequence[tuple[str, str]] = (
    (
        "right first time",
        "Of the first handoffs that can be judged, those that were answered by whoever got them "
        "(first-pass routing accuracy, observed).",
    ),
    (
        "right by label",
        "Of the sessions that somebody labelled, those whose first handoff went where the label "
        "says. Silent: wrong, and answered all the same.",
    ),
    ("handoffs a session", "Without the user's own request. Two or more is depth to ask about."),
    (
        "handed on again",
        "Of all handoffs, those whose receiver passed them on before answering (churn).",
    ),
    ("facts that went along", "Of the values a handoff had to take along (payload completeness)."),
    (
        "until the next agent answers",
        "Half of the handoffs took no longer; and 95 % took no longer (transition latency).",
    ),
    ("tokens a session", "And how much of all tokens went to agents that passed the request on."),
)
"""Name and meaning of every column after group and sessions."""


def group_rows(groups: Sequence[RoutingGroup], by: GroupBy) -> tuple[GroupRow, ...]:
    """Return the groups as rows, the newest week (or the last name) first; of none, none."""
    return tuple(_row(group, by) for group in reversed(groups))


def group_words(name: str, by: GroupBy) -> str:
    """Return a group's name as a screen says it: `week of 23 November 2026`."""
    if by == "week":
        day = date.fromisoformat(name)
        return f"{day.day} {day:%B %Y}"
    if not name:
        return "the flow's own prompts" if by == "prompt_version" else "no name"
    return one_line(name, 60)


def difference_sentence(
    found: GroupDifference, a: RoutingGroup, b: RoutingGroup, by: GroupBy
) -> str:
    """Return how two groups differ, that they had different sessions, and what that means."""
    left, right = (group_words(group.name, by) for group in (a, b))
    if found.difference is None:
        return f"{right} and {left} have no session that can be compared."
    points = [
        100 * it
        for it in (found.difference.difference, found.difference.low, found.difference.high)
    ]
    size = f"{abs(points[0]):.1f} points [{_signed(points[1])}, {_signed(points[2])}]"
    shares = f"{percent(b.first_pass.share)} beside {percent(a.first_pass.share)}"
    if points[1] > 0:
        said = f"{right} is right first time more often than {left}: {shares}, +{size}."
    elif points[2] < 0:
        said = f"{right} is right first time less often than {left}: {shares}, −{size}."
    else:
        said = (
            f"These sessions cannot tell {right} from {left}: {shares}, "
            f"{_signed(points[0])} points [{_signed(points[1])}, {_signed(points[2])}]."
        )
    if found.by_label:
        return (
            f"{said} They had different sessions; only those of the same label were compared"
            f"{f', {amount(found.left_out)} left out' if found.left_out else ''}."
        )
    return (
        f"{said} The traffic differed: each had its own sessions, so part of this may be what was "
        "asked. To know, compare both on the same cases."
    )


def alert_sentence(groups: Sequence[RoutingGroup], by: GroupBy) -> str:
    """Return which groups are surely under 85 %; nothing when none is."""
    low = [group_words(group.name, by) for group in groups if group.is_low]
    if not low:
        return ""
    names = low[0] if len(low) == 1 else f"{', '.join(low[:-1])} and {low[-1]}"
    return (
        f"Right first time under {100 * ALERT_SHARE:.0f} %, and not by chance: {names}. "
        "Look at the descriptions of the agents that are confused."
    )


def _row(group: RoutingGroup, by: GroupBy) -> GroupRow:
    return GroupRow(
        name=group_words(group.name, by),
        key=group.name,
        sessions=amount(group.sessions),
        first_pass=_first_pass(group),
        labelled=_labelled(group),
        handoffs=_handoffs(group),
        churn=_share(
            group.churn, f"{amount(group.ping_pong)} straight back" if group.ping_pong else ""
        ),
        completeness=_share(
            group.completeness,
            f"{count(group.asked_again, 'question')} too many" if group.asked_again else "",
        ),
        latency=_latency(group),
        tokens=_tokens(group),
    )


def _first_pass(group: RoutingGroup) -> Figure:
    left_out = ", ".join(
        f"{amount(n)} {one_line(why, 30)}" for why, n in sorted(group.not_eligible.items())
    )
    title = f"Not judged: {left_out}." if left_out else ""
    if group.route_unknown:
        title += f" {count(group.route_unknown, 'first handoff')} hit a limit: route unknown."
    figure = _share(group.first_pass, "")
    alert = f"under {100 * ALERT_SHARE:.0f} %" if group.is_low else ""
    return Figure(
        figure.value, figure.small, figure.share, figure.low, figure.high, alert, title.strip()
    )


def _labelled(group: RoutingGroup) -> Figure:
    if not group.labelled.total:
        return Figure("–", "no labels", title="Nobody has labelled these sessions.")
    silent = group.silent_misroutes.passed
    figure = _share(group.labelled, f"{amount(silent)} silently wrong" if silent else "")
    title = "Right, and handed on all the same: "
    title = f"{title}{amount(group.false_correctives)}." if group.false_correctives else ""
    return Figure(figure.value, figure.small, figure.share, figure.low, figure.high, "", title)


def _handoffs(group: RoutingGroup) -> Figure:
    if group.handoffs_mean is None:
        return Figure("–", "")
    small = f"{percent(group.several.share)} have 2 or more"
    most = f"95 % have no more than {group.handoffs_p95:.0f}"
    title = f"{most}; the longest chain has {group.depth_most}."
    if group.cut:
        title += f" {count(group.cut, 'session')} stopped by a limit might have had more."
    return Figure(f"{group.handoffs_mean:.2f}", small, title=title)


def _latency(group: RoutingGroup) -> Figure:
    first, second = _seconds(group.streamed), _seconds(group.whole)
    if not first and not second:
        return Figure("–", "not measured")
    kind = "to the first token" if first else "to the whole reply"
    title = f"{kind}, {amount((group.streamed if first else group.whole).count)} handoffs."
    if first and second:
        title += f" Others sent whole replies: {second}."
    return Figure(first or second, kind, title=title)


def _seconds(found: Latencies) -> str:
    if found.p50_seconds is None or found.p95_seconds is None:
        return ""
    return f"{seconds(found.p50_seconds)} / {seconds(found.p95_seconds)}"


def _tokens(group: RoutingGroup) -> Figure:
    if group.tokens_mean is None:
        return Figure("–", "")
    lost = group.misroute_tokens / group.tokens if group.tokens else 0.0
    small = f"{percent(lost)} lost to misroutes"
    return Figure(amount(round(group.tokens_mean)), small)


def _share(share: Proportion, more: str) -> Figure:
    if share.share is None:
        return Figure("–", more or "nothing to judge")
    interval = interval_words(share.low, share.high)
    of = f"of {amount(share.total)}"
    small = " · ".join(filter(None, (interval, of, more)))
    return Figure(percent(share.share), small, share.share, share.low, share.high)


def _signed(points: float) -> str:
    rounded = round(points, 1)
    if not rounded:
        return "±0"
    return f"{'+' if rounded > 0 else '−'}{abs(rounded):.1f}"
