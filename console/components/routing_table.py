"""What happened, on the page: a group a row, its figures with how sure they are."""

from collections.abc import Sequence

from handoff_console.console.components.compare_panel import compare_panel
from handoff_console.console.components.panel import Node, tag
from handoff_console.console.viewmodels.routing_happened import COLUMNS, Figure, GroupRow


def show_groups(rows: Sequence[GroupRow], by: str, alert: str) -> None:
    """Draw the groups; a warning over them where one is surely low."""
    heads = [tag("th", by.lower(), scope="col"), tag("th.number", "sessions", scope="col")]
    heads += [tag("th", name, scope="col", title=meaning) for name, meaning in COLUMNS]
    nodes = [tag("div.verdict.text", f"⚠ {alert}", outcome="error", role="status")] if alert else []
    table = tag(
        "table.groups",
        tag("thead", tag("tr", *heads)),
        tag("tbody", *map(_row, rows)),
        aria_label="What happened",
    )
    nodes += [table, _meanings()]
    compare_panel("routing_groups", nodes)


def _row(row: GroupRow) -> Node:
    figures = (
        row.first_pass,
        row.labelled,
        row.handoffs,
        row.churn,
        row.completeness,
        row.latency,
        row.tokens,
    )
    return tag(
        "tr",
        tag("td.text", tag("b", row.name)),
        tag("td.number", row.sessions),
        *map(_figure, figures),
    )


def _figure(figure: Figure) -> Node:
    alert = (
        [tag("span.problem.small", f" ▼ {figure.alert}", outcome="error")] if figure.alert else []
    )
    parts = [tag("div.number", tag("b", figure.value), *alert)]
    if figure.share is not None:
        parts.append(
            tag(
                "div.range",
                tag("span.fill", style_share=f"{figure.share:.3f}"),
                aria_hidden="true",
            )
        )
    if figure.small:
        parts.append(tag("div.small.quiet.number.text", figure.small))
    return tag("td", *parts, title=figure.title)


def _meanings() -> Node:
    lines = [(tag("dt", name), tag("dd", meaning)) for name, meaning in COLUMNS]
    return tag(
        "details",
        tag("summary.small", "What the columns mean"),
        tag("dl.small", *(part for line in lines for part in line)),
    )
