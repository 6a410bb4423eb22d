"""One case of a comparison on the page: both decisions, and the descriptions involved."""

from collections.abc import Callable, Iterable

from handoff_console.console.components.compare_panel import changed_text, compare_panel
from handoff_console.console.components.panel import Node, button, pressed, tag
from handoff_console.console.viewmodels.compare_case import (
    CaseView,
    ScoreLine,
    SideView,
    TextChange,
)

KEY = "compare_case"


def show_case(case: CaseView, height: str, on_action: Callable[[], None]) -> None:
    """Draw a case.

    Args:
        case: What to say of it.
        height: A CSS length.
        on_action: Runs when a session was chosen (`chosen_session`).
    """
    title = tag(
        "div.row",
        tag("b.problem", f"{case.sign} {case.change}", outcome=case.tone),
        tag("span", "should go to ", tag("b.text", case.expected)),
    )
    nodes = [
        title,
        tag("div.quote.text", case.text),
        tag("div.small.quiet.text", " · ".join(case.facts)),
        tag("div.decisions", *(_side(side) for side in (case.a, case.b))),
        *_changes(case),
    ]
    if case.source:
        link = button("Open the session it was taken from", f"source:{case.source}", link=True)
        nodes.append(tag("p.small", link))
    compare_panel(KEY, nodes, subject=case.case_id, height=height, on_action=on_action)


def show_no_case(said: str, height: str) -> None:
    """Say why no case is shown."""
    compare_panel(KEY, [tag("p.quiet.text", said)], subject=said, height=height)


def chosen_session() -> tuple[str, str]:
    """Return what was just pressed, and the session it is about; only inside `on_action`.

    The first is `open`, `source` or `rerun`; both are empty when nothing was pressed.
    """
    verb, _, session_id = (pressed(KEY) or "").partition(":")
    return verb, session_id


def _side(side: SideView) -> Node:
    went = side.went
    nodes = [
        tag("div.small.quiet.text", side.version),
        tag(
            "div.row",
            tag("b.problem.text", f"{went.sign} {went.name}", outcome=went.tone, title=went.title),
        ),
        *(node for score in side.scores for node in _score(score)),
    ]
    if side.why_nobody:
        nodes.append(tag("div.small.text", side.why_nobody))
    if side.figures:
        nodes.append(tag("div.small.quiet.number.text", side.figures))
    if side.reused:
        nodes.append(tag("div.small.quiet", side.reused))
    if side.session_id:
        nodes.append(
            tag(
                "div.row.small",
                button("Open session", f"open:{side.session_id}", link=True),
                button(
                    "Re-run this handoff",
                    f"rerun:{side.session_id}",
                    title="Opens the session at the handoff that routed it, ready to be run again",
                    link=True,
                ),
            )
        )
    return tag("div.decision", *nodes)


def _score(score: ScoreLine) -> Iterable[Node]:
    wanted = "wanted" if score.is_wanted else ""
    name = f"{score.agent} (wanted)" if score.is_wanted else score.agent
    yield tag(
        "div.score",
        tag("span.name.text", name, title=wanted),
        tag("span.number", score.score),
        tag("span.bar", tag("span.fill", style_share=f"{score.share:.3f}")),
    )
    if score.matched:
        yield tag("div.matched.text", f"words that fit: {score.matched}")


def _changes(case: CaseView) -> Iterable[Node]:
    yield tag("h3", "What the descriptions involved say")
    if case.unchanged:
        yield tag("p.quiet.small", case.unchanged)
    for change in case.changes:
        yield from change_nodes(change)


def change_nodes(change: TextChange) -> Iterable[Node]:
    """Return one text of both versions with what was removed and added."""
    same = "the same in both" if change.is_same else "removed is struck out, added is underlined"
    decides = "" if change.decides else " · the router does not read it"
    yield tag(
        "div.small",
        tag("b.text", f"{change.agent}: {change.field}"),
        tag("span.quiet", f" · {same}{decides}"),
    )
    yield changed_text(change.segments)
