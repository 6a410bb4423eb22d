"""What a comparison comes to: the verdict, the tiles, the rows, the matrices. Shapes only.

Shares are `Proportion`s (0 to 1, Wilson's interval); differences are in points (100 × a share).
Everything is B − A, A being the baseline: above zero, B is better.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from handoff_console.store.analysis.comparison.cases import RouteCase
from handoff_console.store.analysis.comparison.trials import Experiment, Trial, Version
from handoff_console.store.analysis.proportions import Proportion
from handoff_console.store.analysis.quantiles import Median


class Outcome(StrEnum):
    """What the gate says. One function decides it, for the page, the texts and the exit status."""

    PASS = "pass"
    INCONCLUSIVE = "inconclusive"
    FAIL = "fail"
    INCOMPLETE = "incomplete"
    """Cases are missing or failed: what is missing never passes."""
    NO_TEST = "no test"
    """The sides cannot be paired: another model class, other cases, or nothing differs."""


class Direction(StrEnum):
    """Which side routes better, as far as the data can tell."""

    BETTER = "better"
    WORSE = "worse"
    NO_DIFFERENCE = "no difference"
    """Every case came out alike."""
    UNCLEAR = "unclear"
    """There is a difference, and chance would do as well."""


class Change(StrEnum):
    """What became of one case from A to B."""

    REGRESSED = "regressed"
    IMPROVED = "improved"
    BOTH_RIGHT = "both right"
    BOTH_WRONG = "both wrong"
    MISSING = "missing"
    """One side has no decision."""


@dataclass(frozen=True)
class Interval:
    """A difference in points with its confidence interval."""

    points: float
    low: float
    high: float


@dataclass(frozen=True)
class Verdict:
    """What the gate says about B beside A, and why."""

    outcome: Outcome
    direction: Direction
    sentence: str
    """For the page, the terminal and the pull request alike."""
    reasons: tuple[str, ...]
    """Why it failed or is inconclusive, or what a pass is to be read with; a sentence each."""
    difference: Interval | None
    """B − A in labelled accuracy; None without a pair."""
    p: float | None
    """Exact McNemar; None without a pair."""
    p_adjusted: float | None
    """After Holm, over all candidates of the experiment; equal to `p` for one."""
    paired: int
    """Cases with a decision on both sides."""
    improved: int
    regressed: int
    critical_regressed: int
    needed_cases: int | None
    """How many cases would show `max_drop` points with 80 % power, at as many flips as seen."""


@dataclass(frozen=True)
class Best:
    """Which of three or more versions is best."""

    label: str
    """The one that is ahead of each of the others; empty where none is for sure."""
    level: tuple[str, ...]
    """Where none is: those that get most right, and those that cannot be told from them."""
    sentence: str
    """For the page, the terminal and the pull request alike."""
    note: str
    """Whether they differ at all: a test over all of them."""


@dataclass(frozen=True)
class Tile:
    """One figure of both sides."""

    key: str
    """`accuracy`, `observed`, `abstain_recall`, `false_abstain`, `fork_coverage`, `handoffs`,
    `churn`, `completeness`, `tokens`, `misroute_tokens`, `transition_p50`, `transition_p95`,
    `pass_k`, `errors`, `missing`."""
    name: str
    """As shown: "Right first time"."""
    a: float | None
    """None: not measured."""
    b: float | None
    unit: str
    """`share`, `tokens`, `seconds`, `handoffs` or `cases`."""
    higher_is_better: bool
    difference: Interval | None = None
    """In points for shares, else in the unit; None where no interval can be given."""
    a_range: Proportion | None = None
    b_range: Proportion | None = None
    note: str = ""
    """What it is of, in a few words: "240 cases"; "estimated"."""


@dataclass(frozen=True)
class CaseRow:
    """One case on both sides."""

    case: RouteCase
    change: Change
    a: Trial | None
    """Its first trial; None where there is none."""
    b: Trial | None
    a_right: float | None
    """Share of its trials that were right."""
    b_right: float | None
    flaky: bool
    """Trials of one side disagree."""
    other_target: bool
    """The two sides decided differently, right or wrong."""


@dataclass(frozen=True)
class Matrix:
    """Expected × first decision."""

    rows: tuple[str, ...]
    """Labels: agents by name, then `direct`, `abstain`, and joined ones."""
    columns: tuple[str, ...]
    """Decisions: agents, then `direct`, `abstain`, `none`, `verbal`, `invalid`, `several`."""
    counts: tuple[tuple[int, ...], ...]
    """Cases; for a difference, B − A."""


@dataclass(frozen=True)
class AgentFigures:
    """How well one agent is found, on both sides."""

    agent: str
    recall_a: Proportion
    """Of the cases that are its, those that it got."""
    recall_b: Proportion
    precision_a: Proportion
    """Of the cases that it got, those that are its."""
    precision_b: Proportion
    p: float
    """Exact McNemar over its cases."""
    p_adjusted: float
    """After Holm, over the agents shown."""


@dataclass(frozen=True)
class Abstention:
    """How a side deals with what nobody is for."""

    recall: Proportion
    """Of the cases for nobody, those handed to nobody."""
    precision: Proportion
    """Of the cases handed to nobody, those that are for nobody."""
    false_abstain: Proportion
    """Of the cases for somebody, those handed to nobody."""
    accuracy_when_routed: Proportion
    auroc: float | None
    """How well the best score tells the two apart; None without scores or one of the two."""


@dataclass(frozen=True)
class ThresholdPoint:
    """What would be if an agent had to score at least this much."""

    threshold: float
    coverage: Proportion
    """Of the cases for somebody, those still handed off."""
    accuracy: Proportion
    """Of those, the right ones."""
    abstain_recall: Proportion


@dataclass(frozen=True)
class ForkFigures:
    """How a side deals with messages that ask for several things."""

    coverage: float | None
    """Mean share of the wanted agents that were reached; None without such cases."""
    exact: Proportion
    """Exactly the wanted ones."""
    over_forked: Proportion
    """Somebody was asked who is not wanted, of all cases."""


@dataclass(frozen=True)
class Stability:
    """How repeatable a side is."""

    trials: int
    pass_1: float | None
    pass_k: float | None
    """The share of cases that `trials` runs in a row would all get right."""
    flaky: Proportion
    deterministic: bool
    """The same in every trial by its nature: one trial was run and stands for all."""


@dataclass(frozen=True)
class DescriptionChange:
    """What differs between two versions for one agent."""

    agent: str
    field: str
    """`description`, `examples`, `instructions`, `targets`, `model`, `threshold`."""
    before: str
    after: str
    routes: bool
    """Whoever routes reads it."""


@dataclass(frozen=True)
class Comparison:
    """B beside A, complete."""

    experiment: Experiment
    a: Version
    b: Version
    verdict: Verdict
    warnings: tuple[str, ...]
    """What the reader has to know first, a sentence each."""
    tiles: tuple[Tile, ...]
    """The three that matter first."""
    rows: tuple[CaseRow, ...]
    """In the order of the data set."""
    counts: Mapping[str, int]
    """Of rows, by chip: `all`, each `Change`, `other target`, `flaky`, `critical`."""
    matrix_a: Matrix
    matrix_b: Matrix
    matrix_difference: Matrix
    agents: tuple[AgentFigures, ...]
    abstention_a: Abstention
    abstention_b: Abstention
    thresholds_a: tuple[ThresholdPoint, ...]
    """Empty where the router does not score."""
    thresholds_b: tuple[ThresholdPoint, ...]
    forks_a: ForkFigures
    forks_b: ForkFigures
    stability_a: Stability
    stability_b: Stability
    changes: tuple[DescriptionChange, ...]
    best: Best | None = None
    """Over all versions of the experiment; None of two."""


@dataclass(frozen=True)
class TrendPoint:
    """One side of one earlier experiment on the same data set."""

    experiment_id: str
    at: float
    """Seconds since 1970 (UTC)."""
    label: str
    version_hash: str
    model: str
    accuracy: Proportion
    is_baseline: bool = False
    offline: bool = False
    tokens: Median | None = None
    """A case, in the middle; None where no case has a decision."""
    tokens_estimated: bool = False
