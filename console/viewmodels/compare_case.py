"""One case of a comparison: both decisions with their scores, and the descriptions involved."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from handoff_console.console.viewmodels.compare_rows import Went, change_look, went
from handoff_console.console.viewmodels.header import moment
from handoff_console.console.viewmodels.routing_matrix import place_word
from handoff_console.console.viewmodels.shares import percent
from handoff_console.console.viewmodels.text import block, count, one_line, seconds
from handoff_console.store.analysis.comparison.result import (
    CaseRow,
    Comparison,
    DescriptionChange,
)
from handoff_console.store.analysis.comparison.trials import AgentScore, Decided, Trial, Version
from handoff_console.store.analysis.text_diff import Segment, text_diff

FIELD_WORDS = {
    "description": "description",
    "examples": "examples",
    "instructions": "instructions",
    "targets": "may hand off to",
    "model": "model",
    "threshold": "threshold",
}
TEXT_CHARACTERS = 6_000


@dataclass(frozen=True, slots=True)
class ScoreLine:
    """How well one agent fitted."""

    agent: str
    score: str
    share: float
    """Of the best score that either side gave, 0 to 1: the length of its bar."""
    matched: str
    is_wanted: bool


@dataclass(frozen=True, slots=True)
class SideView:
    """What one version did with the case."""

    version: str
    went: Went
    scores: tuple[ScoreLine, ...]
    why_nobody: str
    """Why a router that scores chose nobody; empty where it chose, or does not score."""
    figures: str
    """`249 tokens (estimated) · 1.2 s · 2 tries`; of a whole session also its handoffs."""
    session_id: str
    """Its recorded session; empty where only the decision was run."""
    reused: str
    """That it ran for an earlier experiment; or nothing."""


@dataclass(frozen=True, slots=True)
class TextChange:
    """What one agent's description (or another field) says in A and in B."""

    agent: str
    field: str
    segments: tuple[Segment, ...]
    """One for both when the two are the same."""
    is_same: bool
    decides: bool
    """The router reads it."""


@dataclass(frozen=True, slots=True)
class CaseView:
    """A case in full."""

    case_id: str
    sign: str
    change: str
    tone: str
    text: str
    expected: str
    facts: tuple[str, ...]
    """Tags, group, split, note, where it came from."""
    source: str
    """The session it was taken from; empty where it was written."""
    a: SideView
    b: SideView
    changes: tuple[TextChange, ...]
    unchanged: str
    """What to say when no description involved differs."""


def case_view(found: Comparison, case_id: str) -> CaseView | None:
    """Return a case in full; None when the comparison has no such case."""
    row = next((row for row in found.rows if row.case.case_id == case_id), None)
    if row is None:
        return None
    sign, tone = change_look(row.change)
    trials = found.experiment.trials_each
    best = max((it.score for trial in (row.a, row.b) if trial for it in trial.scores), default=0.0)
    changes = tuple(_changes(found, row))
    return CaseView(
        case_id=row.case.case_id,
        sign=sign,
        change=row.change.value,
        tone=tone,
        text=block(row.case.text, TEXT_CHARACTERS),
        expected=place_word(row.case.label),
        facts=_facts(row),
        source=row.case.source,
        a=_side(found.a, row.a, went(row.a, row.a_right, trials), row, best),
        b=_side(found.b, row.b, went(row.b, row.b_right, trials), row, best),
        changes=changes,
        unchanged="" if any(not it.is_same for it in changes) else _unchanged(found),
    )


def involved_agents(row: CaseRow) -> tuple[str, ...]:
    """Return the agents whose descriptions the case depends on: wanted, and chosen by a side."""
    chosen = [agent for trial in (row.a, row.b) if trial for agent in trial.agents]
    return tuple(dict.fromkeys((*row.case.wanted, *chosen)))


def all_changes(found: Comparison) -> tuple[TextChange, ...]:
    """Return everything that differs between the two versions, what decides about routing first."""
    ordered = sorted(found.changes, key=lambda it: (not it.routes, it.agent))
    return tuple(_change(it) for it in ordered)


def _side(
    version: Version, trial: Trial | None, place: Went, row: CaseRow, best: float
) -> SideView:
    scores = tuple(
        ScoreLine(
            agent=one_line(it.agent, 40),
            score=f"{it.score:.2f}",
            share=max(0.0, min(1.0, it.score / best)) if best > 0 else 0.0,
            matched=", ".join(one_line(word, 24) for word in it.matched),
            is_wanted=it.agent in row.case.wanted,
        )
        for it in (trial.scores if trial else ())
    )
    return SideView(
        version=one_line(version.label, 60),
        went=place,
        scores=scores,
        why_nobody=(why_nobody(trial.scores) if trial and trial.decided is Decided.ABSTAIN else ""),
        figures=" · ".join(_figures(trial)) if trial else "",
        session_id=trial.session_id if trial else "",
        reused=_reused(trial) if trial and trial.reused else "",
    )


def why_nobody(scores: Sequence[AgentScore]) -> str:
    """Return why a router that scores hands a request to nobody; empty without scores."""
    if not scores:
        return ""
    best = scores[0]
    fits = [one_line(it.agent, 40) for it in scores if it.score == best.score]
    if best.score <= 0:
        return "No description has any of its words."
    if len(fits) > 1:
        return f"{' and '.join(fits)} fit equally well, so it goes to nobody."
    return f"{fits[0]} fits best, but not well enough."


def _reused(trial: Trial) -> str:
    when = f", {moment(trial.ran_at)}" if trial.ran_at else ""
    return f"from an earlier run of the same content{when}"


def _figures(trial: Trial) -> Iterable[str]:
    if trial.tokens:
        estimated = " (estimated)" if trial.tokens_estimated else ""
        yield f"{count(trial.tokens, 'token')}{estimated}"
    if trial.seconds:
        yield seconds(trial.seconds)
    if trial.tries > 1:
        yield f"{trial.tries} tries"
    if trial.figures is not None:
        yield count(trial.figures.handoffs, "handoff")
        if trial.figures.corrective:
            yield f"{trial.figures.corrective} of them put right later"
        if trial.figures.final_agent:
            yield f"answered by {one_line(trial.figures.final_agent, 40)}"
    if trial.completeness is not None:
        yield f"{percent(trial.completeness)} of the required values went along"


def _changes(found: Comparison, row: CaseRow) -> Iterable[TextChange]:
    agents = involved_agents(row)
    involved = [it for it in found.changes if it.agent in agents]
    for it in sorted(involved, key=lambda it: (not it.routes, agents.index(it.agent))):
        yield _change(it)
    differing = {it.agent for it in involved if it.routes}
    for agent in agents:
        text = found.b.agents.get(agent)
        if agent in differing or text is None:
            continue
        same = block(text.description, TEXT_CHARACTERS)
        yield TextChange(one_line(agent, 40), "description", text_diff(same, same), True, True)


def _change(found: DescriptionChange) -> TextChange:
    before, after = (block(text, TEXT_CHARACTERS) for text in (found.before, found.after))
    field = FIELD_WORDS.get(found.field, one_line(found.field, 40))
    segments = text_diff(before, after)
    return TextChange(one_line(found.agent, 40), field, segments, False, found.routes)


def _unchanged(found: Comparison) -> str:
    if found.changes:
        return "The descriptions involved are the same in both versions; others differ."
    return "Both versions say the same of every agent."


def _facts(row: CaseRow) -> tuple[str, ...]:
    case = row.case
    said = ["critical"] if case.critical else []
    said += [one_line(tag, 40) for tag in case.tags]
    said += [f"paraphrase of {one_line(case.group, 40)}"] if case.group else []
    said += [one_line(case.note, 200)] if case.note else []
    if case.required_fields:
        said.append(f"has to go along: {one_line(', '.join(case.required_fields), 200)}")
    if case.state:
        said.append(f"known before: {one_line(', '.join(case.state), 200)}")
    return (*said, f"case {one_line(case.case_id, 60)}")
