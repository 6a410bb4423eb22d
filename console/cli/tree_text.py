"""The handoff tree as lines of text: who, how it came out, and what it took."""

from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby

from handoff_console.console.cli.terminal import Terminal, fitted, wrapped
from handoff_console.console.commands.looking import SessionRecord
from handoff_console.console.theme import look
from handoff_console.console.viewmodels.text import amount, count, one_line, seconds
from handoff_console.console.viewmodels.tree import TreeRow, tree_rows
from handoff_console.runtime.contract import State
from handoff_console.runtime.events import HandoffRejected
from handoff_console.store.analysis.nodes import HandoffNode

_OUTCOME, _STEPS, _TOKENS, _TIME = 27, 6, 9, 9
_MOST_ROWS = 500

_Place = tuple[TreeRow, HandoffNode, str]
"""A row, its handoff, and the lines that tie it to its caller."""


def write_tree(record: SessionRecord, terminal: Terminal) -> None:
    """Write the tree of a session; one without handoffs says so."""
    rows = tree_rows(
        record.tree, findings=record.judgement.findings, verdict=record.judgement.verdict
    )
    if not rows:
        terminal.line(terminal.styled("no handoff yet", "dim"))
        return
    refusals = {
        event.handoff_id: event.payload.reason
        for event in record.events
        if isinstance(event.payload, HandoffRejected)
    }
    agent_columns = terminal.columns - _OUTCOME - _STEPS - _TOKENS - _TIME
    terminal.line(terminal.styled(_heading(agent_columns), "dim"))
    nodes = record.tree.nodes
    places = list(zip(rows, nodes, _branches(nodes), strict=True))[:_MOST_ROWS]
    for alike in _folded(places, refusals):
        row, node, branch = alike[0]
        terminal.line(_row(row, node, branch, agent_columns, terminal, times=len(alike)))
        if node.outcome is State.REFUSED and row.handoff_id in refusals:
            _write_reason(refusals[row.handoff_id], alike[-1][2], terminal)
    if len(rows) > _MOST_ROWS:
        terminal.line(
            f"… {count(len(rows) - _MOST_ROWS, 'more handoff')}; the console shows them all"
        )


def _folded(
    places: Sequence[_Place], refusals: Mapping[str | None, str]
) -> Iterable[Sequence[_Place]]:
    """Yield the rows one by one, but what was refused again and again as one."""
    number = 0

    def alike(place: _Place) -> object:
        nonlocal number
        row, node, _ = place
        if node.outcome is State.REFUSED and row.handoff_id in refusals:
            return node.parent_id, node.source, node.agent, refusals[row.handoff_id]
        number += 1
        return number

    for _, group in groupby(places, alike):
        yield list(group)


def outcome_text(outcome: str, note: str, terminal: Terminal, *, columns: int = _OUTCOME) -> str:
    """Return an outcome as glyph and word in its colour, with a word or two beside it."""
    word = f"{look(outcome).glyph} {outcome}"
    more = f": {note}" if note else ""
    filled = fitted(one_line(f"{word}{more}", columns - 2), columns)
    return terminal.styled(filled.rstrip(), outcome) + " " * (columns - len(filled.rstrip()))


def _heading(agent_columns: int) -> str:
    return (
        fitted("agent", agent_columns)
        + fitted("outcome", _OUTCOME)
        + fitted("steps", _STEPS, right=True)
        + fitted("tokens", _TOKENS, right=True)
        + fitted("time", _TIME, right=True)
    )


def _row(
    row: TreeRow,
    node: HandoffNode,
    branch: str,
    agent_columns: int,
    terminal: Terminal,
    *,
    times: int = 1,
) -> str:
    opened = node.opened_seconds is not None
    ended = node.closed_seconds if opened else None
    took = seconds(ended - (node.opened_seconds or 0.0)) if ended is not None else ""
    hop = "↳ " if node.hop else ""
    tokens = f"{'' if node.measured else '~'}{amount(row.tokens)}" if opened else ""
    note = _note(row, node)
    repeated = f" ({times} times)" if times > 1 else ""
    return (
        fitted(f"{branch}{hop}{row.agent}{repeated}", agent_columns - 2)
        + (terminal.styled("◂ ", "error") if row.mark == "cause" else "  ")
        + outcome_text(row.outcome, note, terminal)
        + fitted(str(node.steps_used) if opened else "", _STEPS, right=True)
        + fitted(tokens, _TOKENS, right=True)
        + fitted(took, _TIME, right=True)
    )


def _note(row: TreeRow, node: HandoffNode) -> str:
    """The row's words without those that the arrow of a transfer says already."""
    words = [*row.note.split(" · "), row.end_note]
    return " · ".join(word for word in words if word and word != f"transfer {node.hop}")


def _branches(nodes: Sequence[HandoffNode]) -> Iterable[str]:
    """Return what stands before each name: the lines that tie it to its caller."""
    last: list[bool] = [True] * len(nodes)
    seen: set[int] = set()
    for place in range(len(nodes) - 1, -1, -1):
        depth = nodes[place].depth
        last[place] = depth not in seen
        seen = {other for other in seen if other < depth} | {depth}
    open_lines: list[bool] = []
    for place, node in enumerate(nodes):
        del open_lines[node.depth :]
        open_lines.append(not last[place])
        above = "".join("│  " if going_on else "   " for going_on in open_lines[1:-1])
        yield above + ("└─ " if last[place] else "├─ ") if node.depth else ""


def _write_reason(reason: str, branch: str, terminal: Terminal) -> None:
    indent = branch.replace("├─", "│ ").replace("└─", "  ") + "  "
    for part in wrapped(one_line(reason, 300), terminal.columns - len(indent)):
        terminal.line(indent, terminal.styled(part, "dim"))
