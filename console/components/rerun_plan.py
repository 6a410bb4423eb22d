"""What a re-run will take, before it starts: what is asked, what is written, what to know."""

from collections.abc import Mapping, Sequence

from handoff_console.console.components.form_state import LIMIT_WORDS
from handoff_console.console.components.panel import Node, panel, status, tag
from handoff_console.console.components.rerun_form import TABS
from handoff_console.console.viewmodels.rerun_plan import PlanView


def show_plan(plan: PlanView) -> None:
    """Draw what it will take."""
    nodes: list[Node] = [tag("h3", "What it will take")]
    nodes.append(tag("ul", *(tag("li.number.text", line) for line in plan.lines)))
    if plan.repeats:
        again = f"Done again, each after your yes: {', '.join(plan.repeats)}"
        nodes.append(tag("p.text.problem", again, outcome="error"))
    nodes += flow_changes(plan.flow_changes)
    nodes += [tag("div.verdict.text", said, outcome="needs_input") for said in plan.warnings]
    nodes.append(tag("h3", "What is changed"))
    if plan.edits:
        nodes.append(tag("ul", *(tag("li.text", edit) for edit in plan.edits)))
    else:
        nodes.append(tag("p.quiet", "Nothing: the same question is put again."))
    panel("plan", nodes)


def flow_changes(changes: Sequence[str]) -> list[Node]:
    """Return what is said of a flow that has changed; nothing where it has not."""
    if not changes:
        return []
    return [
        tag(
            "div.verdict",
            tag("b", "This flow is not quite the one that was recorded"),
            tag("ul", *(tag("li.text", change) for change in changes)),
            outcome="needs_input",
        )
    ]


def show_problems(problems: Mapping[str, str]) -> None:
    """Say that nothing can start, and what has to be mended.

    Args:
        problems: A sentence for each field that is wrong.
    """
    lines = [
        tag("li.text", *([tag("b", f"{_name(field)}: ")] if field else []), said, *_where(field))
        for field, said in problems.items()
    ]
    panel(
        "plan",
        [tag("div.verdict", tag("b", "This cannot start yet"), tag("ul", *lines), outcome="error")],
    )


def _where(field: str) -> list[Node]:
    """Return under which tab a field stands: it may be out of sight."""
    tab = _TABS.get(field.partition(".")[0])
    return [tag("span.quiet", f" ({tab})")] if tab else []


_TABS = {
    name: tab
    for tab, names in zip(
        TABS,
        (
            ("task", "inputs", "more_inputs", "goal", "summary", "claimed", "leave_marks"),
            ("tools", "limits", "output_schema", "armed", "denied"),
            ("prompt", "model"),
            ("tool_results", "results"),
        ),
        strict=True,
    )
    for name in names
}


def _name(field: str) -> str:
    kind, _, name = field.partition(".")
    if kind == "limits" and name in LIMIT_WORDS:
        return LIMIT_WORDS[name]
    if kind == "tool_results":
        step, _, call = name.partition(".")
        further = f", call {int(call) + 1}" if call.isdigit() and int(call) else ""
        return f"Result of step {step}{further}"
    return f"{_KINDS.get(kind, kind.replace('_', ' '))} {name}".strip().capitalize()


_KINDS = {"inputs": "input", "more_inputs": "further inputs"}


def show_subject(title: str, outcome: str, task: str, where: Sequence[str]) -> None:
    """Draw which handoff it is, and how it came out when it was recorded."""
    panel(
        "subject",
        [
            tag(
                "div.row",
                tag("span.big.text", title),
                tag("span.quiet", "recorded as"),
                status(outcome),
                *(tag("span.chip.text", one) for one in where),
            ),
            tag("p.quiet.text", task),
        ],
    )
