"""The JSON forms of a re-run; `docs/command-line.md` has them, and they are stable."""

from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

from handoff_console.console.commands.estimates import Plan
from handoff_console.console.commands.rerun_orders import RerunOrder
from handoff_console.console.commands.rerun_records import record_of
from handoff_console.console.commands.rerunning import Ran, Rerun
from handoff_console.store.analysis.diff import Comparison, Pair, compare
from handoff_console.store.analysis.differences import ABSENT, Difference
from handoff_console.store.analysis.lineage import attempts
from handoff_console.store.analysis.repeats import Repeats, Spread, repeats
from handoff_console.store.db import open_reader


def plan_form(plan: Plan, order: RerunOrder) -> dict[str, Any]:
    """Return `rerun --plan --json`: what a re-run will take."""
    found = plan.estimate
    return {
        "rerun_of": plan.session_id,
        "handoff_id": order.handoff_id,
        "agent": plan.agent,
        "mode": order.mode.value,
        "times": order.times,
        "edits": plan.edits,
        "recorded_outcome": plan.recorded_outcome,
        "model_calls": found.model_calls,
        "further_model_calls": found.further_model_calls,
        "tokens": found.tokens,
        "tool_calls": found.tool_calls,
        "replayed_answers": found.replayed_answers,
        "effects_reused": list(found.reused),
        "effects_repeated": list(found.repeated),
        "notes": list(found.notes),
        "flow_changes": list(plan.changes),
    }


def rerun_form(store_path: Path, done: Rerun) -> dict[str, Any]:
    """Return `rerun --json`: what came of it, and how it differs from what was recorded."""
    with closing(open_reader(store_path)) as db:
        original = record_of(db, done.session_id, done.order.alone)
        runs = [record_of(db, run.session_id) for run in done.runs]
        made = [one for one in attempts(original, runs, done.order.handoff_id) if one.is_rerun]
        comparison = compare(original, runs[0])
        several = repeats(made) if len(runs) > 1 else None
    return {
        "rerun_of": done.session_id,
        "handoff_id": done.order.handoff_id,
        "mode": done.order.mode.value,
        "edits": done.order.edits.described(),
        "recorded_outcome": done.recorded_outcome,
        "live_model_calls": done.live_model_calls,
        "same_result": done.same_result,
        "first_divergence": done.first_divergence,
        "runs": [_run(run) for run in done.runs],
        "comparison": comparison_form(comparison, ("recorded", "now")),
        "repeats": None if several is None else _repeats(several),
    }


def _run(run: Ran) -> dict[str, Any]:
    return {
        "session_id": run.session_id,
        "outcome": run.outcome,
        "reason": run.reason,
        "answer": run.answer,
        "same_result": run.same_result,
        "live_model_calls": run.live_model_calls,
        "live_tool_calls": run.live_tool_calls,
        "replayed_answers": run.replayed_answers,
        "unanswered_calls": run.unanswered_calls,
        "tokens_used": run.tokens_used,
        "saved_tokens": run.saved_tokens,
        "seconds": run.seconds,
        "first_divergence": run.first_divergence,
    }


def comparison_form(found: Comparison, sides: tuple[str, str]) -> dict[str, Any]:
    """Return how many handoffs differ, what differs first, and all that does.

    Args:
        found: What was compared.
        sides: What the two values of a difference are called.
    """
    first, pair = found.first_difference, found.first_pair
    return {
        "handoffs": dict(found.counts),
        "first_difference": _difference(pair, first, sides) if first and pair else None,
        "differences": [
            _difference(one, difference, sides)
            for one in found.pairs
            for difference in one.differences
        ],
    }


def _difference(pair: Pair, difference: Difference, sides: tuple[str, str]) -> dict[str, Any]:
    values: Mapping[str, Any] = dict(zip(sides, (difference.left, difference.right), strict=True))
    return {
        "path": pair.node.path,
        "agent": pair.node.agent,
        "aspect": difference.aspect.value,
        "name": difference.name,
        **{side: value for side, value in values.items() if value is not ABSENT},
    }


def _repeats(found: Repeats) -> dict[str, Any]:
    return {
        "outcomes": dict(found.outcomes),
        "passed": found.passed.passed,
        "total": found.passed.total,
        "pass_rate": found.passed.share,
        "pass_rate_low": found.passed.low,
        "pass_rate_high": found.passed.high,
        "unfinished": found.unfinished,
        "different_results": found.different_results,
        "tokens": _spread(found.tokens),
        "seconds": _spread(found.seconds),
    }


def _spread(found: Spread | None) -> dict[str, float] | None:
    if found is None:
        return None
    return {
        "least": found.least,
        "median": found.median,
        "most": found.most,
        "mean": found.mean,
        "deviation": found.deviation,
    }
