"""The labelling queue: which case comes next, who may be named, and how far two people agree."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from handoff_console.console.viewmodels.routing_matrix import place_word
from handoff_console.console.viewmodels.shares import interval_words, percent
from handoff_console.console.viewmodels.text import amount, block, count, one_line
from handoff_console.store.analysis.agreement import Agreement
from handoff_console.store.analysis.comparison.cases import RouteCase

QUEUE_SENT = 40
"""Cases that are sent ahead, so that labelling never waits for the server."""
TEXT_CHARACTERS = 2_000
NOBODY, ITSELF = "abstain", "direct"


@dataclass(frozen=True, slots=True)
class Choice:
    """Who may be named, and by which key."""

    key: str
    """`1` to `9`, `0`, `d`; empty for the tenth agent and later ones, which are clicked."""
    value: str
    name: str
    says: str
    """The agent's description."""


@dataclass(frozen=True, slots=True)
class QueuedCase:
    """One case to label."""

    case_id: str
    text: str
    why: str
    """`v2 → billing, v3 → orders`; nothing where no version was asked."""
    guesses: tuple[str, ...]
    """Where versions sent it."""


@dataclass(frozen=True, slots=True)
class LabellingView:
    """The queue of one labeller."""

    queue: tuple[QueuedCase, ...]
    """The next ones: those that versions disagree about first."""
    choices: tuple[Choice, ...]
    labeller: str
    done: int
    total: int
    disagreeing: int
    """Cases still to label that versions disagree about."""


def source_words(kind: str, name: str) -> str:
    """Return what is labelled in words: `sessions of support`, `data set clinc`."""
    return f"{'sessions of' if kind == 'sessions' else 'data set'} {one_line(name, 60)}"


def choices(agents: Mapping[str, str]) -> tuple[Choice, ...]:
    """Return who may be named: the agents in their order, then nobody, then no handoff.

    Args:
        agents: Description by name.
    """
    named = [
        Choice(
            str(place) if place <= 9 else "",
            name,
            one_line(name, 40),
            one_line(description, 200),
        )
        for place, (name, description) in enumerate(agents.items(), 1)
    ]
    return (
        *named,
        Choice("0", NOBODY, "nobody", "No agent is for this."),
        Choice("d", ITSELF, "no handoff", "The first agent should answer this itself."),
    )


def labelling_view(
    cases: Sequence[RouteCase],
    decisions: Mapping[str, Mapping[str, str]],
    labels: Mapping[str, str],
    *,
    agents: Mapping[str, str],
    labeller: str,
) -> LabellingView:
    """Return the queue of one labeller.

    Args:
        cases: All that are to be labelled.
        decisions: By case, where each version sent it.
        labels: What this labeller has said already, by case.
        agents: Description by name.
        labeller: Who labels.
    """
    open_cases = [case for case in cases if case.case_id not in labels]
    sent = {case.case_id: decisions.get(case.case_id, {}) for case in open_cases}
    disagree = {case_id for case_id, by in sent.items() if len(set(by.values())) > 1}
    open_cases.sort(key=lambda case: case.case_id not in disagree)
    queue = tuple(_queued(case, sent[case.case_id]) for case in open_cases[:QUEUE_SENT])
    return LabellingView(
        queue=queue,
        choices=choices(agents),
        labeller=one_line(labeller, 40),
        done=len(cases) - len(open_cases),
        total=len(cases),
        disagreeing=len(disagree),
    )


def _queued(case: RouteCase, by_version: Mapping[str, str]) -> QueuedCase:
    why = ", ".join(
        f"{one_line(version, 40)} → {place_word(decision)}"
        for version, decision in by_version.items()
    )
    if len(set(by_version.values())) > 1:
        why = f"The versions disagree: {why}"
    guesses = tuple(dict.fromkeys(by_version.values()))
    return QueuedCase(case.case_id, block(case.text, TEXT_CHARACTERS), why, guesses)


@dataclass(frozen=True, slots=True)
class AgreementView:
    """How far two labellers agree, in words."""

    sentence: str
    disagreements: tuple[tuple[str, str, str], ...]
    """Case's text, and what each said: to be talked about."""


def agreement_view(
    found: Agreement, cases: Iterable[RouteCase], *, shown: int = 20
) -> AgreementView:
    """Return how far two labellers agree; of nothing labelled by both, that there is nothing."""
    who = f"{one_line(found.first, 40)} and {one_line(found.second, 40)}"
    if not found.both:
        return AgreementView(f"{who} have not labelled the same case yet.", ())
    share = found.agreed
    kappa = "" if found.kappa is None else f"; beyond chance (Cohen's kappa) {found.kappa:.2f}"
    sentence = (
        f"{who} agree on {amount(share.passed)} of {count(share.total, 'case')}: "
        f"{percent(share.share)} {interval_words(share.low, share.high)}{kappa}. "
        f"No version can be told to route better than people agree."
    )
    texts = {case.case_id: one_line(case.text, 160) for case in cases}
    rows = tuple(
        (texts.get(case_id, one_line(case_id, 60)), place_word(first), place_word(second))
        for case_id, first, second in found.disagreements[:shown]
    )
    return AgreementView(sentence, rows)
