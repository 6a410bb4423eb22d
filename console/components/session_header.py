"""The top of a session's page: what was asked, how it ended, and why, in the words of the rules."""

from collections.abc import Callable

from handoff_console.console.components.panel import Node, button, panel, pressed, status, tag
from handoff_console.console.viewmodels.about import AboutSession
from handoff_console.console.viewmodels.header import SessionHeader

KEY = "header"
LABELS_SHOWN = 4
"""While it is folded; all of them stand inside."""

_LOOKS = {"error": "error", "warning": "needs_input"}
"""Severity → the outcome whose colour the verdict has; a healthy session has its own."""


def show_header(
    header: SessionHeader, on_evidence: Callable[[], None], *, answer: str = ""
) -> None:
    """Draw the top of the page.

    Args:
        header: What it says.
        on_evidence: Runs when a chip was pressed (`picked_evidence`).
        answer: What the user was told, on one line; empty leaves it out.
    """
    told = [_told(answer)] if answer else []
    nodes = [_asked(header), *told, _verdict(header), _about(header.about)]
    panel(KEY, nodes, on_action=on_evidence)


def picked_evidence() -> int | None:
    """Return the event of the chip that was just pressed; only inside `on_evidence`."""
    action = pressed(KEY) or ""
    return int(action) if action.isdigit() else None


def _asked(header: SessionHeader) -> Node:
    limit = [tag("span.chip", header.limit, title="Which limit")] if header.limit else []
    facts = [header.flow, header.prompt_version, header.counts, header.duration]
    return tag(
        "div.row.one-row",
        tag("span.big", status(header.outcome)),
        *limit,
        tag("span.big.one-line.grow.text", header.request, title=header.request_in_full[:2_000]),
        tag("span.quiet.number.one-line.text", " · ".join(filter(None, facts))),
        tag(
            "span.number.pool",
            tag("span.gauge", tag("span.fill", style_share=f"{min(header.used_share, 1):.3f}")),
            tag("span.quiet", f"{header.pool}"),
            title="What the last request spent of its pool",
        ),
        tag("span.quiet.one-line", header.started, title=f"Session {header.session_id}"),
    )


def _told(answer: str) -> Node:
    return tag(
        "div.row.one-row", tag("span.quiet", "Answer"), tag("span.one-line.grow.text", answer)
    )


def _verdict(header: SessionHeader) -> Node:
    chips = [
        button(
            f"→ event {chip.seq}: {chip.text}",
            str(chip.seq),
            title=f"Go to event {chip.seq}",
            link=True,
        )
        for chip in header.chips
    ]
    others = (
        [tag("span.quiet.small", f"and {header.other_findings} more, marked in the tree")]
        if header.other_findings
        else []
    )
    advice = [tag("div.small.quiet.text", f"What to do: {header.advice}")] if header.advice else []
    after = [tag("div.small.text", header.next_step)] if header.next_step else []
    return tag(
        "div.verdict",
        tag("b.text", header.verdict),
        *([tag("div.row.small", *chips, *others)] if chips or others else []),
        *advice,
        *after,
        outcome=_LOOKS.get(header.severity, header.outcome),
        role="status",
    )


def _about(about: AboutSession) -> Node:
    labels = [tag("span.chip.text", f"{line.name}: {line.value}") for line in about.labels]
    groups = []
    for group in about.facts:
        lines = [
            (tag("dt.text", line.name), tag("dd.text", line.value))
            for line in (*group.lines, *(about.labels if group is about.facts[0] else ()))
        ]
        groups.append(
            tag(
                "section",
                tag("h3", group.title),
                tag("dl", *(part for pair in lines for part in pair)),
            )
        )
    return tag(
        "details.about",
        tag("summary.small", tag("span.quiet", "About this session "), *labels[:LABELS_SHOWN]),
        tag("div.columns", *groups),
    )
