"""Sessions that were not right first time, each with what became of it."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from handoff_console.console.viewmodels.text import amount, count, one_line
from handoff_console.store.analysis.routing import ANSWERED, HandedOn, Routing
from handoff_console.store.analysis.routing_groups import is_expected

MOST_CONFUSED = 3
"""Pairs of agents that are named."""


@dataclass(frozen=True, slots=True)
class MissedSession:
    """One session that was not right first time."""

    session_id: str
    asked: str
    first: str
    """Who got it first."""
    what: str
    """What became of it then: `handed on to billing`."""


def missed_sessions(routings: Iterable[Routing], labels: Mapping[str, str]) -> tuple[Routing, ...]:
    """Return the sessions that were not right first time, as they show it or as their label says.

    The newest stands first.

    Args:
        routings: All that are looked at.
        labels: Session → who should have got it.
    """
    found = [
        it
        for it in routings
        if it.first_pass is False
        or (it.session_id in labels and not is_expected(it, labels[it.session_id]))
    ]
    return tuple(sorted(found, key=lambda it: it.started_at, reverse=True))


def missed_sentence(missed: Sequence[Routing]) -> str:
    """Return which agents are confused most often; empty where nothing was handed on."""
    pairs = Counter(pair for it in missed for pair in _elsewhere(it))
    if not pairs:
        return ""
    said = [
        f"{one_line(first, 40)}, handed on to {one_line(kept, 40)} ({amount(times)})"
        for (first, kept), times in sorted(pairs.items(), key=lambda it: (-it[1], it[0]))
    ]
    left = len(said) - MOST_CONFUSED
    more = f"; and {count(left, 'other pair')}" if left > 0 else ""
    return f"Confused most often: {'; '.join(said[:MOST_CONFUSED])}{more}."


def missed_session(routing: Routing, asked: str, label: str) -> MissedSession:
    """Return a session as a line of the list.

    Args:
        routing: Its figures.
        asked: What the user said.
        label: Who should have got it; empty where that is not known.
    """
    return MissedSession(
        routing.session_id, one_line(asked, 160), _first(routing), _what_became(routing, label)
    )


def _what_became(routing: Routing, label: str) -> str:
    wrong = bool(label) and not is_expected(routing, label)
    wanted = f"; the label says {one_line(label, 60)}" if wrong else ""
    if routing.first_pass is None:
        return f"{_without_result(routing.not_eligible)}{wanted}"
    if routing.first_pass:
        return f"not handed on{wanted}"
    if routing.route_unknown:
        return f"a limit was reached: it is not known who was right{wanted}"
    elsewhere = dict.fromkeys(one_line(kept, 40) for _, kept in _elsewhere(routing))
    if elsewhere:
        return f"handed on to {' + '.join(elsewhere)}{wanted}"
    if routing.handed_on:
        return f"handed on, and back{wanted}"
    all_the_same = "; answered all the same" if routing.outcome in ANSWERED else ""
    return f"failed there{all_the_same}{wanted}"


_WITHOUT_RESULT = {
    "no handoff": "handed to nobody",
    "transient error": "failed there, by an error that may pass",
    "waiting": "waiting for an answer",
    "rerun": "a re-run",
}


def _without_result(why: str) -> str:
    return _WITHOUT_RESULT.get(why, one_line(why.replace("_", " "), 40))


def _elsewhere(routing: Routing) -> list[HandedOn]:
    """Return the first handoffs that somebody else had in the end."""
    return [it for it in routing.handed_on if it.kept != it.first]


def _first(routing: Routing) -> str:
    return " + ".join(one_line(name, 40) for name in routing.first_targets) or "nobody"
