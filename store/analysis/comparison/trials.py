"""One trial: what a prompt version did with one case, and an experiment: all trials together."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from handoff_console.runtime.frozen import quickly_made
from handoff_console.store.analysis.comparison.cases import RouteCase


class Decided(StrEnum):
    """What the first decision of the first agent was."""

    AGENTS = "agents"
    """It handed off, to `Trial.agents`."""
    DIRECT = "direct"
    """It answered itself, and that was wanted."""
    ABSTAIN = "abstain"
    """It said that nobody is for it, or did not know."""
    NONE = "none"
    """It answered itself where it should have handed off."""
    VERBAL = "verbal"
    """It announced a handoff in words and asked for none."""
    INVALID = "invalid"
    """It asked for an agent that does not exist or that it may not hand off to."""


class TrialStatus(StrEnum):
    """Whether there is a decision."""

    DONE = "done"
    ERROR = "error"
    """The model could not be asked. It counts for nobody and is run again by the next command."""
    MISSING = "missing"
    """Not run: the budget ended, or somebody stopped it."""


@quickly_made
@dataclass(frozen=True, slots=True)
class AgentScore:
    """How well one agent fitted, to a router that scores."""

    agent: str
    score: float
    matched: tuple[str, ...] = ()
    """The words that fitted."""


@dataclass(frozen=True)
class SessionFigures:
    """What a whole session came to; only trials of mode `full` have it."""

    first_pass: bool | None
    """The first handoff was also the last; None where it cannot be said (`Routing.eligible`)."""
    handoffs: int
    depth: int
    corrective: int
    """Handoffs that somebody after them put right."""
    completeness: float | None
    """Of the required values, the share that went along; None where none are required."""
    misroute_tokens: int
    """Used by agents that handed the request on before the one that kept it."""
    transition_seconds: tuple[float, ...] = ()
    """Of each transfer, until its receiver began to answer."""
    streamed: bool = False
    """The receivers' first tokens were seen; otherwise whole replies were waited for."""
    final_agent: str = ""
    """Who answered."""
    outcome: str = ""
    asked_again: int = 0
    """Handoffs whose agent asked for what it had been told."""


@quickly_made
@dataclass(frozen=True, slots=True)
class Trial:
    """One run of one case with one prompt version."""

    case_id: str
    number: int
    """1, 2 … of the same case and version."""
    status: TrialStatus
    decided: Decided | None = None
    """None without a decision."""
    agents: tuple[str, ...] = ()
    """Whom it handed off to, in order; as asked for, where that was invalid."""
    right: bool | None = None
    """Whether that is what the case expects; None without a decision."""
    scores: tuple[AgentScore, ...] = ()
    """The best three of a router that scores, best first."""
    tokens: int = 0
    tokens_estimated: bool = False
    seconds: float = 0.0
    """Until the decision (`route`) or the end (`full`)."""
    tries: int = 1
    """2 when a transient error was followed by another try."""
    session_id: str = ""
    """Its recorded session; mode `full` only."""
    problem: str = ""
    """Why there is no decision."""
    ran_at: float = 0.0
    """Seconds since 1970 (UTC)."""
    reused: bool = False
    """It was run for an earlier experiment of the same content."""
    figures: SessionFigures | None = None
    completeness: float | None = None
    """Of the values that the case, else the flow, requires, the share that went along; None where
    none are required, or nothing was handed off, or the router writes no values."""

    @property
    def decision(self) -> str:
        """The decision in a word or two: agents joined by +, or what else it was; `?` for none."""
        if self.decided is None:
            return "?"
        named = self.agents and self.decided is Decided.AGENTS
        return " + ".join(self.agents) if named else self.decided.value


@dataclass(frozen=True)
class AgentText:
    """What one prompt version says of one agent."""

    description: str
    examples: tuple[str, ...] = ()
    instructions: str = ""
    targets: tuple[str, ...] = ()
    """Whom it may hand off to."""
    model: str = ""
    threshold: float = 0.0
    digest: str = ""


@dataclass(frozen=True)
class Version:
    """One side of a comparison, as it was when it ran."""

    label: str
    """As the user calls it: `v2`; with something else varied `v2+triage=openai:gpt-5`."""
    version_hash: str
    """Of everything a prompt version says; equal text, equal hash, whatever the label."""
    routing_hash: str
    """Of what decides about routing alone."""
    agents: Mapping[str, AgentText]
    """By agent, as the flow had them with this version."""
    model: str
    """Who routed: `offline:bm25`."""
    offline: bool
    """The router is no language model (`offline:…`): it scores descriptions."""
    flow: str = ""
    changed_since: bool = False
    """The label points to another text by now."""


@dataclass(frozen=True)
class DatasetRef:
    """Which data set, as it was when it was read."""

    name: str
    digest: str
    cases: int
    path: str = ""


@dataclass(frozen=True)
class Experiment:
    """Cases × versions × trials: all that a comparison is made from."""

    experiment_id: str
    """Sorts by time; any unique beginning of it is accepted."""
    flow: str
    """Its name."""
    flow_source: str
    """A sample's name, or `file.py:name`."""
    dataset: DatasetRef
    mode: str
    """`route` (the first decision) or `full` (the whole session)."""
    trials_each: int
    """How often each case was to be run with each version."""
    versions: tuple[Version, ...]
    """The baseline first."""
    cases: tuple[RouteCase, ...]
    trials: Mapping[str, tuple[Trial, ...]]
    """By version label, in the order of the cases; those that did not run are `missing`."""
    created_at: float
    """Seconds since 1970 (UTC)."""
    finished_at: float | None = None
    """None while it runs, or when it was stopped."""
    settings: Mapping[str, object] = field(default_factory=dict)
    """The options it was started with: seed, jobs, tags, `max_drop_points`, `alpha` …"""
    command: str = ""
    """What goes on with it, ready to be copied."""
