"""Which change flips it: what will be tried, how far that is, and the answer."""

from collections.abc import Sequence

from handoff_console.console.components.panel import Node, panel, tag
from handoff_console.console.components.rerun_plan import flow_changes
from handoff_console.console.viewmodels.flips import FlipAnswer, FlipPlan

KEY = "flip"


def show_flip_plan(plan: FlipPlan) -> None:
    """Draw what will be tried."""
    panel(
        KEY,
        [
            tag("p.text", plan.sentence),
            *(flow_changes(plan.flow_changes) if plan.changes else []),
            *_changes(plan.changes),
            *([tag("p.text", plan.cost)] if plan.changes else []),
            *([tag("p.quiet.text", plan.untried)] if plan.untried else []),
        ],
    )


def show_flip_answer(answer: FlipAnswer) -> None:
    """Draw what was found, and how sure that is."""
    nodes: list[Node] = [
        tag(
            "div.verdict",
            tag("b.text", answer.sentence),
            tag("div.small.text", answer.how_sure),
            outcome=answer.outcome,
            role="status",
        ),
        *_changes(answer.changes),
        *(tag("p.small.text", line) for line in answer.evidence),
        tag("p.small.quiet.number", answer.reruns),
    ]
    panel(KEY, nodes)


def _changes(changes: Sequence[tuple[str, str, str]]) -> list[Node]:
    if not changes:
        return []
    heads = [tag("th", name, scope="col") for name in ("difference", "failed", "went well")]
    rows = [
        tag("tr", tag("td.text", name), tag("td.text", before), tag("td.text", after))
        for name, before, after in changes
    ]
    return [tag("table", tag("thead", tag("tr", *heads)), tag("tbody", *rows))]
