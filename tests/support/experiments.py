"""Experiments made by hand: cases with an expected agent, and what each version did with them."""

from collections.abc import Mapping, Sequence

from handoff_console.store.analysis.comparison.cases import Expect, RouteCase
from handoff_console.store.analysis.comparison.judging import is_right
from handoff_console.store.analysis.comparison.trials import (
    AgentScore,
    AgentText,
    DatasetRef,
    Decided,
    Experiment,
    Trial,
    TrialStatus,
    Version,
)

WENT = {
    "?": None,
    "-": Decided.ABSTAIN,
    "direct": Decided.DIRECT,
    "none": Decided.NONE,
    "verbal": Decided.VERBAL,
    "invalid": Decided.INVALID,
}
"""Words for what is no agent: `?` is a model that could not be asked."""


def case(number: int, label: str, **fields: object) -> RouteCase:
    """`a`, `a or b`, `a + b`, `direct` or `-` for nobody."""
    name, text = f"c{number}", f"request {number}"
    if label == "-":
        return RouteCase(name, text, expect=Expect.ABSTAIN, **fields)  # type: ignore[arg-type]
    if label == "direct":
        return RouteCase(name, text, expect=Expect.DIRECT, **fields)  # type: ignore[arg-type]
    if " + " in label:
        return RouteCase(name, text, expected_all=tuple(label.split(" + ")), **fields)  # type: ignore[arg-type]
    return RouteCase(name, text, tuple(label.split(" or ")), **fields)  # type: ignore[arg-type]


def trial(of: RouteCase, went: str, number: int = 1, score: float | None = None) -> Trial:
    """An agent's name, several joined by +, or one of `WENT`."""
    if went == "?":
        return Trial(of.case_id, number, TrialStatus.ERROR, problem="the server is down")
    decided = WENT.get(went, Decided.AGENTS) or Decided.AGENTS
    agents = tuple(went.split("+")) if decided is Decided.AGENTS else ()
    scores = () if score is None else (AgentScore(agents[0] if agents else "a", score),)
    return Trial(
        of.case_id,
        number,
        TrialStatus.DONE,
        decided,
        agents,
        is_right(of, decided, agents),
        scores,
        tokens=100,
    )


def version(label: str, *, offline: bool = False, reads: str = "", **texts: str) -> Version:
    """A version that is told from others by its label, unless `reads` says what it reads."""
    agents = {name: AgentText(description=text) for name, text in texts.items()}
    model = "offline:bm25" if offline else "openai:small"
    return Version(label, label, reads or label, agents, model, offline)


def experiment(
    expected: Sequence[str],
    went: Mapping[str, Sequence[str]],
    *,
    offline: bool = False,
    critical: Sequence[int] = (),
    groups: Sequence[str] = (),
    mode: str = "route",
    trials_each: int = 1,
) -> Experiment:
    """Each version with what it did, case by case; several trials of a case joined by a space."""
    cases = tuple(
        case(
            number,
            label,
            critical=number in critical,
            group=groups[number] if groups else "",
        )
        for number, label in enumerate(expected)
    )
    trials = {
        label: tuple(
            trial(of, word, number)
            for of, words in zip(cases, decisions, strict=True)
            for number, word in enumerate(words.split(), 1)
        )
        for label, decisions in went.items()
    }
    return Experiment(
        "e1", "desk", "desk", DatasetRef("cases", "d", len(cases)), mode, trials_each,
        tuple(version(label, offline=offline) for label in went), cases, trials, 0.0, 1.0,
    )  # fmt: skip
