"""The events of a session, one line each, and where to jump."""

from bisect import bisect_right
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from handoff_console.console.viewmodels.sentences import KIND_WORDS, sentence
from handoff_console.console.viewmodels.text import one_line, signed
from handoff_console.runtime.events import Event
from handoff_console.store.analysis.budget import Entry, Ledger, LedgerRow
from handoff_console.store.analysis.findings import Finding, Severity
from handoff_console.store.analysis.nodes import HandoffTree

WINDOW_ROWS = 600
"""How many events a page holds at once."""

_PROBLEM_KINDS = frozenset(
    {
        "handoff_rejected",
        "tool_denied",
        "tool_returned_late",
        "output_rejected",
        "cycle_stopped",
        "budget_overdrawn",
        "replay_diverged",
    }
)


@dataclass(frozen=True, slots=True)
class StepRow:
    """One event as the stepper prints it."""

    seq: int
    elapsed: str
    """Seconds since the session started."""
    kind: str
    """The kind of event in plain words."""
    agent: str
    what: str
    """One line that says what happened."""
    delta: str
    """What it did to the free part of the pool, signed; empty for nothing."""
    handoff_id: str | None
    free: int | None
    """The pool after it; None before there was one. So are the next two."""
    open: int | None
    spent: int | None
    problem: bool = False


@dataclass(frozen=True, slots=True)
class StepWindow:
    """A stretch of a session's events, and where to jump in all of it."""

    rows: Sequence[StepRow]
    """Without gaps, by seq."""
    total: int
    """The session's last seq; 0 for a session without events."""
    problems: Sequence[int]
    """The events at which something went wrong, in order."""
    handoffs: Sequence[int]
    """The events at which a handoff was asked for, in order."""
    pool_tokens: int
    """The pool of the request in sight; 0 where there is none."""
    missing: int = 0
    """The event that was asked for, where the session has none of this number; otherwise 0."""


class StepGuide:
    """What a line about any event needs to know of the whole session.

    Made once a session; then any stretch of its events becomes rows without reading the rest.
    """

    def __init__(
        self,
        tree: HandoffTree,
        ledgers: Iterable[Ledger],
        findings: Iterable[Finding],
        *,
        is_rerun: bool = False,
    ) -> None:
        self._is_rerun = is_rerun
        self.total = tree.seq
        self.agents: Mapping[str | None, str] = {
            node.handoff_id: one_line(node.agent, 40) for node in tree.nodes
        }
        self.handoffs: tuple[int, ...] = tuple(sorted(node.first_seq for node in tree.nodes))
        self.problems: tuple[int, ...] = problem_seqs(findings)
        self._ledgers = tuple(ledgers)
        self._rows = [row for ledger in self._ledgers for row in ledger.rows]
        self._seqs = [row.seq for row in self._rows]
        self._starts = [ledger.rows[0].seq for ledger in self._ledgers]

    def pool_at(self, seq: int) -> LedgerRow | None:
        """Return the last entry of the pool up to an event; None before there was a pool."""
        place = bisect_right(self._seqs, seq)
        return self._rows[place - 1] if place else None

    def pool_tokens_at(self, seq: int) -> int:
        """Return how large the pool of the request is that an event belongs to; 0 before any."""
        place = bisect_right(self._starts, seq)
        return self._ledgers[place - 1].total_tokens if place else 0

    def window(self, events: Sequence[Event]) -> StepWindow:
        """Return a stretch of the session's events as rows, with where to jump in all of it."""
        rows = tuple(self.row(event) for event in events)
        at = events[-1].seq if events else 0
        return StepWindow(
            rows, max(self.total, at), self.problems, self.handoffs, self.pool_tokens_at(at)
        )

    def row(self, event: Event) -> StepRow:
        """Return one event as a line."""
        pool = self.pool_at(event.seq)
        moved = pool is not None and pool.seq == event.seq and pool.entry is not Entry.POOL
        return StepRow(
            seq=event.seq,
            elapsed=f"{event.elapsed_seconds:.2f}",
            kind=KIND_WORDS.get(event.kind, one_line(event.kind.replace("_", " "), 40)),
            agent=self.agents.get(event.handoff_id, ""),
            what=f"{sentence(event)}{self._ran(event)}",
            delta=signed(pool.delta_free) if pool and moved else "",
            handoff_id=event.handoff_id,
            free=pool.free if pool else None,
            open=pool.open if pool else None,
            spent=pool.spent if pool else None,
            problem=event.kind in _PROBLEM_KINDS or self._is_problem(event.seq),
        )

    def _ran(self, event: Event) -> str:
        """Return that an answer was really asked for, in a re-run, where others are replayed."""
        is_answer = event.kind in {"model_replied", "tool_returned"}
        replayed = getattr(event.payload, "replayed", False)
        return ", ran" if self._is_rerun and is_answer and not replayed else ""

    def _is_problem(self, seq: int) -> bool:
        place = bisect_right(self.problems, seq)
        return place > 0 and self.problems[place - 1] == seq


def window_around(seq: int | None, total: int, rows: int = WINDOW_ROWS) -> tuple[int, int]:
    """Return the first and last seq of the stretch to load so that `seq` has room on both sides.

    None is the end. A session with fewer events is given whole; one without any gives (1, 0).
    """
    at = total if seq is None else min(max(seq, 1), max(total, 1))
    first = max(1, min(at - rows // 2, total - rows + 1))
    return first, min(total, first + rows - 1)


def problem_seqs(findings: Iterable[Finding]) -> tuple[int, ...]:
    """Return the events that findings rest on, in order; what is only worth knowing is left out."""
    seqs = {
        evidence.seq
        for finding in findings
        if finding.severity is not Severity.INFO
        for evidence in finding.evidence
    }
    return tuple(sorted(seqs))


def step_window(
    load: Callable[[int, int], Sequence[Event]],
    guide: StepGuide,
    *,
    around: int | None = None,
    rows: int = WINDOW_ROWS,
) -> StepWindow:
    """Return the rows around an event.

    Args:
        load: Gives the session's events from one seq to another, both included.
        guide: The session's.
        around: The event the reader stands at; None for the end.
        rows: How many rows at most.
    """
    window = guide.window(load(*window_around(around, guide.total, rows)))
    return replace(window, missing=around) if around and around > guide.total else window
