"""The card of one handoff: what was asked, what the gate said, what came back, what it read."""

from collections.abc import Callable, Iterable, Sequence

from handoff_console.console.components.panel import Node, button, panel, pressed, status, tag
from handoff_console.console.viewmodels.handoff_card import GateView, HandoffCard, ResultView
from handoff_console.console.viewmodels.request import Line, RequestView
from handoff_console.console.viewmodels.seen import ContextView, MessageView, PacketView
from handoff_console.console.viewmodels.text import count

TITLE, BODY = "card_title", "card_body"
PROBLEMS_SHOWN = 1
"""Beside the verdict; how many more there are is said."""


def show_title(card: HandoffCard, verdict: str) -> None:
    """Draw who it is, how it ended and what is wrong with it beside the verdict."""
    found = [problem for problem in card.problems if problem.sentence != verdict]
    problems = [
        tag(
            "div.small.text.problem.one-line",
            problem.sentence,
            outcome=_color_of(problem.severity),
            title=problem.sentence,
        )
        for problem in found[:PROBLEMS_SHOWN]
    ]
    more = len(found) - PROBLEMS_SHOWN
    if more > 0:
        problems.append(tag("div.small.quiet", f"and {more} more"))
    title = tag(
        "div.row.tight",
        tag("span.big.text.one-line", card.title, title=card.title),
        tag("span.chip", card.handoff_id),
        status(card.outcome),
        tag("span.quiet.one-line.grow.text", card.task, title=card.task),
    )
    panel(TITLE, [title, *problems])


def show_part(card: HandoffCard, part: str, height: str) -> None:
    """Draw one of `Request`, `Gate` and `Result`."""
    nodes = {
        "Request": lambda: _request(card.request),
        "Gate": lambda: _gate(card.gate),
        "Result": lambda: _result(card.result),
    }[part]()
    panel(BODY, list(nodes), subject=f"{card.handoff_id} {part}", height=height)


def show_context(
    handoff_id: str, context: ContextView, height: str, on_call: Callable[[], None]
) -> None:
    """Draw what the agent read; `on_call` runs when another call was chosen (`picked_seq`)."""
    panel(
        BODY,
        list(_context(context)),
        subject=f"{handoff_id} context {context.seq}",
        height=height,
        on_action=on_call,
    )


def show_missing(
    handoff_id: str | None, at: int | None, asked_seq: int | None, height: str
) -> None:
    """Say why there is no card: nothing is selected, it does not exist, or it is not there yet.

    Args:
        handoff_id: The selected handoff; None when the session has none.
        at: The event the reader stands at; None for the end.
        asked_seq: The event that asks for the handoff; None when none does.
        height: A CSS length.
    """
    if handoff_id is None:
        said = "This session has no handoff yet."
    elif asked_seq is None:
        said = f"There is no handoff {handoff_id!r} in this session; choose one in the tree."
    else:
        said = f"At event {at} nobody had asked for {handoff_id} yet; event {asked_seq} does."
    panel(TITLE, [tag("div.row", tag("span.big", handoff_id or "No handoff"))])
    panel(BODY, [tag("p.text", said)], subject=said, height=height)


def picked_seq() -> int | None:
    """Return the event of the model call that was just chosen; only inside `on_call`."""
    action = pressed(BODY) or ""
    return int(action) if action.isdigit() else None


def _request(request: RequestView) -> Iterable[Node]:
    yield tag("p.text", tag("b", request.route))
    if request.refusal:
        yield tag("p.text.problem", request.refusal, outcome="error")
    if request.choices:
        yield tag("p.text", f"Allowed instead: {', '.join(request.choices)}")
    yield tag("p.text.lines", request.task)
    if request.reason and request.reason != request.task:
        yield tag("p.quiet.text", f"Why: {request.reason}")
    if request.inputs:
        yield tag("h3", "Inputs")
        yield tag("pre", request.inputs)
    yield _lines(request.lines)
    if request.origin:
        yield tag("p.quiet.small.text", request.origin)


def _gate(gate: GateView) -> Iterable[Node]:
    outcome = {True: "ok", False: "error", None: "running"}[gate.passed]
    yield tag("p.text.problem", tag("b", gate.sentence), outcome=outcome)
    if gate.choices:
        yield tag("p.text", f"Allowed instead: {', '.join(gate.choices)}")
    rows = []
    for check in gate.checks:
        sign, look = {True: ("✓", "ok"), False: ("✕", "error"), None: ("–", "running")}[
            check.passed
        ]
        word = {True: "passed", False: "failed", None: "open"}[check.passed]
        rows.append(
            tag(
                "tr",
                tag("td", tag("span.glyph", sign, outcome=look, aria_label=word, title=word)),
                tag("td", check.name),
                tag("td.text", check.says),
            )
        )
    if rows:
        yield tag("table", tag("tbody", *rows))


def _result(result: ResultView) -> Iterable[Node]:
    yield tag("div.row", status(result.outcome), tag("span.text", result.sentence))
    if result.answer:
        yield tag("h3", "Answer")
        yield tag("p.text.lines", result.answer)
    if result.data:
        yield tag("h3", "Values")
        yield tag("pre", result.data)
    if result.notes:
        yield tag("h3", "Notes")
        yield tag("p.text.lines", result.notes)
    for answer in result.rejected:
        yield tag("p.text.problem", f"Rejected: {answer.problem}", outcome="error")
        if answer.text:
            yield tag("p.quiet.small", "What it said; no agent has read this:")
            yield tag("pre", answer.text)
    yield _lines(result.lines)
    if not result.is_whole:
        yield tag("p.quiet.small", "The result itself is not in this record.")


def _context(context: ContextView) -> Iterable[Node]:
    if len(context.calls) > 1:
        calls = [
            button(call.label, str(call.seq), title=f"Go to event {call.seq}", link=True)
            if call.seq != context.seq
            else tag("b", call.label, aria_current="true")
            for call in context.calls
        ]
        yield tag("div.row.small", *calls)
    yield tag("p.quiet.text", context.sentence)
    if not context.reads_prompt:
        yield tag("p.quiet", "This worker follows rules; it does not read its prompt.")
    yield from _messages(context)
    if context.error:
        yield tag("p.text.problem", f"The model failed: {context.error}", outcome="error")
    if context.packet:
        yield from _packet(context.packet)
    if context.prompt:
        version = f" · version {context.prompt_version}" if context.prompt_version else ""
        yield _folded(f"Instructions{version}", tag("pre", context.prompt))
    if context.tools:
        tools = tag("ul", *(tag("li.text", tool) for tool in context.tools))
        yield _folded(f"Tools and handoffs it was offered ({len(context.tools)})", tools)


def _messages(context: ContextView) -> Iterable[Node]:
    half = (len(context.messages) + 1) // 2
    for place, message in enumerate(context.messages):
        if context.left_out and place == half:
            left_out = count(context.left_out, "message in between is", "messages in between are")
            yield tag("p.quiet", f"… {left_out} not shown")
        yield _message(message)
    if context.reply:
        yield tag("h3", "It replied")
        yield _message(context.reply)


def _message(message: MessageView) -> Node:
    who = tag(
        "div.row.small",
        tag("b.text", message.who),
        *([tag("span.chip", "new")] if message.is_new else []),
    )
    text = [tag("pre", message.text)] if message.text else []
    calls = [tag("pre", f"→ {call}") for call in message.calls]
    return tag("div.message.new" if message.is_new else "div.message", who, *text, *calls)


def _packet(packet: PacketView) -> Iterable[Node]:
    yield tag("h3", "Packet that came along")
    rows = [("goal", packet.goal), ("summary", packet.summary)]
    yield _lines([Line(name, value) for name, value in rows if value])
    if packet.facts:
        cells = [
            tag(
                "tr",
                tag("td.text", fact.name),
                tag("td", fact.fate),
                tag("td.text", fact.before),
                tag("td.text", fact.after),
            )
            for fact in packet.facts
        ]
        names = [tag("th", name, scope="col") for name in ("fact", "fate", "before", "after")]
        yield tag("table", tag("thead", tag("tr", *names)), tag("tbody", *cells))


def _lines(lines: Sequence[Line]) -> Node:
    pairs = [(tag("dt", line.name), tag("dd.text", line.value)) for line in lines]
    return tag("dl", *(part for pair in pairs for part in pair))


def _folded(title: str, content: Node) -> Node:
    return tag("details", tag("summary.small", title), content)


def _color_of(severity: str) -> str:
    return {"error": "error", "warning": "needs_input"}.get(severity, "running")
