"""Cases, versions and trials as the JSON that the store keeps of them."""

import dataclasses
import json
from collections.abc import Mapping, Sequence
from typing import Any

from handoff_console.runtime.canonical import canonical, canonical_text, digest
from handoff_console.runtime.frozen import quickly_made
from handoff_console.store.analysis.comparison.cases import Expect, RouteCase
from handoff_console.store.analysis.comparison.judging import is_right, stayed
from handoff_console.store.analysis.comparison.trials import (
    AgentScore,
    AgentText,
    Decided,
    SessionFigures,
    Trial,
    TrialStatus,
    Version,
)


@quickly_made
@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What came of one trial, whatever its label says: labels may be mended afterwards."""

    agents: tuple[str, ...] = ()
    """Whom it asked for, in order."""
    invalid: bool = False
    """One of them does not exist or may not be asked."""
    knows: bool = True
    """Without a handoff: it answered; False says that it did not know whom to ask."""
    announced: bool = False
    """Without a handoff: it said that it hands over."""
    scores: tuple[AgentScore, ...] = ()
    tokens: int = 0
    tokens_estimated: bool = False
    seconds: float = 0.0
    tries: int = 1
    session_id: str = ""
    problem: str = ""
    values: tuple[str, ...] | None = None
    """Names of the values that went along with the first handoff, the empty ones left out; None
    where that is not known."""
    figures: SessionFigures | None = None


def outcome_text(outcome: Outcome) -> str:
    """Return an outcome as JSON, without what is as usual."""
    usual = Outcome()
    fields = {
        field.name: getattr(outcome, field.name)
        for field in dataclasses.fields(outcome)
        if getattr(outcome, field.name) != getattr(usual, field.name)
    }
    if outcome.scores:
        fields["scores"] = [[item.agent, item.score, *item.matched] for item in outcome.scores]
    if outcome.figures:
        fields["figures"] = dataclasses.asdict(outcome.figures)
    return canonical_text(fields)


def read_outcome(text: str | None) -> Outcome:
    """Return the outcome that was written as `text`; an unfinished one where there is none."""
    fields: dict[str, Any] = json.loads(text) if text else {}
    fields["agents"] = tuple(fields.get("agents", ()))
    fields["scores"] = tuple(
        AgentScore(agent, score, tuple(matched))
        for agent, score, *matched in fields.get("scores", ())
    )
    if "values" in fields:
        fields["values"] = tuple(fields["values"])
    if figures := fields.get("figures"):
        seconds = tuple(figures.pop("transition_seconds", ()))
        fields["figures"] = SessionFigures(**figures, transition_seconds=seconds)
    return Outcome(**fields)


def trial_of(
    case: RouteCase,
    number: int,
    state: str,
    outcome: Outcome,
    *,
    ran_at: float = 0.0,
    reused: bool = False,
) -> Trial:
    """Return a trial as its case's label judges it.

    Args:
        case: The case, with the label it has now.
        number: 1, 2 … of the same case and version.
        state: `done`, `error`, or anything else for one that did not run to its end.
        outcome: What came of it.
        ran_at: Seconds since 1970.
        reused: It was run for an earlier experiment.
    """
    status = TrialStatus(state) if state in ("done", "error") else TrialStatus.MISSING
    decided = right = None
    if status is TrialStatus.DONE:
        decided = decided_of(case, outcome)
        right = is_right(case, decided, outcome.agents)
    return Trial(
        case_id=case.case_id,
        number=number,
        status=status,
        decided=decided,
        agents=outcome.agents,
        right=right,
        scores=outcome.scores,
        tokens=outcome.tokens,
        tokens_estimated=outcome.tokens_estimated,
        seconds=outcome.seconds,
        tries=outcome.tries,
        session_id=outcome.session_id,
        problem=outcome.problem,
        ran_at=ran_at,
        reused=reused,
        figures=outcome.figures,
        completeness=_completeness(case, outcome) if decided is Decided.AGENTS else None,
    )


def _completeness(case: RouteCase, outcome: Outcome) -> float | None:
    """Return the share of the required values that went along, as the case says which are.

    A case that says nothing has those that the flow requires of its handoffs.
    """
    wanted = set(case.required_fields)
    if not wanted:
        return outcome.figures.completeness if outcome.figures else None
    return None if outcome.values is None else len(wanted & set(outcome.values)) / len(wanted)


def decided_of(case: RouteCase, outcome: Outcome) -> Decided:
    """Return what a first decision was, for this case."""
    if outcome.invalid:
        return Decided.INVALID
    if outcome.agents:
        return Decided.AGENTS
    return stayed(case, knows=outcome.knows, announced=outcome.announced)


CASE_NAMES = {"case_id": "id", "text": "input"}
"""What a data set calls fields of a case that are called otherwise here."""


def case_fields(case: RouteCase) -> dict[str, Any]:
    """Return a case as the JSON object of a data set's line, without what is as usual."""
    usual = RouteCase("", "")
    return {
        CASE_NAMES.get(field.name, field.name): _plain(getattr(case, field.name))
        for field in dataclasses.fields(case)
        if field.name in CASE_NAMES or getattr(case, field.name) != getattr(usual, field.name)
    }


def read_case(fields: Mapping[str, Any]) -> RouteCase:
    """Return the case that was written as these fields; they were checked when it was read first.

    Raises:
        KeyError: It has no `id` or no `input`.
    """
    rest = {key: value for key, value in fields.items() if key not in ("id", "input")}
    for key in ("expected", "expected_all", "required_fields", "tags"):
        if key in rest:
            rest[key] = tuple(rest[key])
    if "expect" in rest:
        rest["expect"] = Expect(rest["expect"])
    return RouteCase(fields["id"], fields["input"], **rest)


def cases_text(cases: Sequence[RouteCase]) -> str:
    """Return cases as JSON lines."""
    return "\n".join(canonical_text(case_fields(case)) for case in cases)


def read_cases(text: str) -> tuple[RouteCase, ...]:
    """Return the cases that were written as JSON lines."""
    return tuple(read_case(json.loads(line)) for line in text.split("\n") if line)


def dataset_digest(cases: Sequence[RouteCase]) -> str:
    """Return what tells one set of cases from another: equal cases in any order, equal digest."""
    lines = sorted(canonical_text(case_fields(case)) for case in cases)
    return digest(canonical(lines), b"")


def version_text(version: Version) -> str:
    """Return what a version says, as JSON; its label and model stand with the experiment."""
    return canonical_text({name: dataclasses.asdict(text) for name, text in version.agents.items()})


def read_agents(text: str) -> dict[str, AgentText]:
    """Return what the agents of a version say, from its JSON."""
    return {name: _agent_text(fields) for name, fields in json.loads(text).items()}


def _agent_text(fields: dict[str, Any]) -> AgentText:
    for key in ("examples", "targets"):
        fields[key] = tuple(fields[key])
    return AgentText(**fields)


def _plain(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else value
