"""What running a handoff again will take, in sentences: before it starts, here and in a shell."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from handoff_console.console.commands.estimates import Plan
from handoff_console.console.commands.rerun_orders import RerunOrder
from handoff_console.console.viewmodels.attempts import edit_lines
from handoff_console.console.viewmodels.text import amount, as_name, count, one_line, seconds
from handoff_console.runtime.rerun_player import Mode

MODE_TITLES: Mapping[Mode, str] = {
    Mode.VERIFY: "Verify",
    Mode.WHAT_IF: "What if",
    Mode.LIVE_READS: "Live reads",
    Mode.LIVE: "Live",
    Mode.CONTINUE: "Continue",
}
"""Every mode, as a choice."""

MODE_SENTENCES: Mapping[Mode, str] = {
    Mode.VERIFY: "Nobody is asked: every answer is the recorded one, and so has to be the result.",
    Mode.WHAT_IF: "The model is asked. Tools and workers answer as recorded. Nothing is written.",
    Mode.LIVE_READS: "The model, the workers, and tools that only read. Nothing is written.",
    Mode.LIVE: "Everything is real. A write happens only after your yes; one that was done before "
    "gives its original result.",
    Mode.CONTINUE: "The whole session to its end: recorded answers where the question is the same, "
    "real ones where it changed.",
}
"""What each mode does, for somebody who reads it for the first time."""


@dataclass(frozen=True, slots=True)
class PlanView:
    """A re-run that has not begun."""

    title: str
    """`billing (h2) again, what-if, 3 times`."""
    recorded_outcome: str
    lines: tuple[str, ...]
    """What it will take, a sentence each."""
    repeats: tuple[str, ...]
    """Acts that would be done again."""
    warnings: tuple[str, ...]
    """What the operator should know before it starts."""
    edits: tuple[str, ...]
    """What is changed; empty when nothing is."""
    flow_changes: tuple[str, ...]
    """What differs from the flow that was recorded."""


def plan_view(plan: Plan, order: RerunOrder) -> PlanView:
    """Return what a re-run will take, as it is shown."""
    found = plan.estimate
    times = f", {order.times} times" if order.times > 1 else ""
    return PlanView(
        title=f"{as_name(plan.agent)} ({order.handoff_id}) again, {order.mode.value}{times}",
        recorded_outcome=plan.recorded_outcome,
        lines=(*_lines(plan), *_graft_lines(plan, order)),
        repeats=tuple(map(as_name, found.repeated)),
        warnings=tuple(one_line(note, 300) for note in found.notes),
        edits=edit_lines(plan.edits),
        flow_changes=tuple(one_line(change, 200) for change in plan.changes)
        if order.mode is not Mode.VERIFY
        else (),
    )


def _lines(plan: Plan) -> Iterator[str]:
    found = plan.estimate
    if found.model_calls:
        calls = count(found.model_calls, "model call")
        yield f"{calls}, about {amount(found.tokens)} tokens if it goes as it went"
        if "limits" in plan.edits:
            yield f"at most {_limits(plan)} each, by its limits"
    else:
        yield f"no model call{' as far as its record goes' if found.goes_beyond else ''}"
    if found.further_model_calls:
        more = count(found.further_model_calls, "further model call")
        where = "where the flow now asks otherwise" if plan.changes else "where its result is read"
        yield f"{more} {where}, if it goes as it went"
    if found.tool_calls:
        verb = "reads" if found.tool_calls == 1 else "read"
        yield f"{count(found.tool_calls, 'tool call')} that only {verb}"
    if found.replayed_answers:
        most = "at most " if found.further_model_calls else ""
        yield f"{most}{count(found.replayed_answers, 'recorded answer')} taken over"
    if found.reused:
        reused = ", ".join(map(as_name, found.reused))
        yield f"not done again, answered as recorded: {reused}"


def _limits(plan: Plan) -> str:
    steps = count(plan.limits.max_steps, "step")
    tokens = f"{amount(plan.limits.max_tokens)} tokens"
    if "deadline_seconds" in plan.edits["limits"]:
        return f"{steps}, {tokens} and {seconds(plan.limits.deadline_seconds)}"
    return f"{steps} and {tokens}"


def _graft_lines(plan: Plan, order: RerunOrder) -> Iterator[str]:
    if order.graft:
        changed = one_line(", ".join(edit_lines(plan.edits)) or "nothing", 300)
        if order.edits.described():
            yield f"more is changed than for the re-run that it takes over, in all: {changed}"
        else:
            yield f"as in the re-run that it takes over, with changed: {changed}"
