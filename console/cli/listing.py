"""`list`: the sessions of a store, failed ones first."""

from argparse import Namespace
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from handoff_console.console.cli.looking import check_outcomes, write_json
from handoff_console.console.cli.places import next_command, store_of
from handoff_console.console.cli.terminal import Terminal, fitted
from handoff_console.console.cli.tree_text import outcome_text
from handoff_console.console.commands import forms
from handoff_console.console.commands.errors import CommandError
from handoff_console.console.commands.listing import Page, moment_since, session_page
from handoff_console.console.commands.looking import wanted_findings
from handoff_console.console.viewmodels.inbox import InboxRow, showing
from handoff_console.console.viewmodels.text import count, one_line
from handoff_console.runtime.errors import choices
from handoff_console.store.session_filter import SessionFilter

_OUTCOME_COLUMNS, _AGE_COLUMNS, _SESSION_COLUMNS = 17, 11, 26


def list_sessions(arguments: Namespace, terminal: Terminal) -> int:
    """Carry out `handoff list`."""
    wanted = _filter(arguments)
    page = session_page(store_of(arguments), wanted, limit=arguments.limit, offset=arguments.offset)
    if arguments.json:
        write_json([forms.line_form(session) for session in page.sessions], terminal)
        return 0
    for row, session in zip(page.rows, page.sessions, strict=True):
        _write(row, session, terminal)
    _write_end(page, arguments, terminal, filtered=wanted != SessionFilter())
    return 0


def _filter(arguments: Namespace) -> SessionFilter:
    check_outcomes(arguments.outcome)
    if arguments.search is not None and not arguments.search.strip():
        raise CommandError("There is nothing to search for; write some words after --search.")
    if arguments.finding is not None:
        wanted_findings([arguments.finding])
    since = moment_since(arguments.since, datetime.now(UTC)) if arguments.since else None
    return SessionFilter(
        outcomes=tuple(arguments.outcome),
        flow=arguments.flow,
        agent=arguments.agent,
        finding=arguments.finding,
        label=_label(arguments.label),
        text=arguments.search or "",
        since=since,
        reruns=arguments.reruns,
        trials=arguments.trials,
    )


def _label(text: str | None) -> tuple[str, str] | None:
    if text is None:
        return None
    key, mark, value = text.partition("=")
    if not mark or not key:
        raise CommandError(f"{text!r} is no label; write KEY=VALUE, such as intent=refund.")
    return key, value


def _write(row: InboxRow, session: Mapping[str, Any], terminal: Terminal) -> None:
    room = terminal.columns - _OUTCOME_COLUMNS - _AGE_COLUMNS - _SESSION_COLUMNS
    terminal.line(
        outcome_text(row.outcome, "", terminal, columns=_OUTCOME_COLUMNS),
        fitted(row.age, _AGE_COLUMNS),
        fitted(row.session_id, max(_SESSION_COLUMNS, len(row.session_id) + 2)),
        terminal.styled(one_line(f"{row.flow}{_reruns(session)}", max(room, 8)), "dim"),
    )
    terminal.line("  ", terminal.styled(one_line(row.asked, terminal.columns - 2), "strong"))
    terminal.line("  ", one_line(row.verdict, terminal.columns - 2))


def _reruns(session: Mapping[str, Any]) -> str:
    if session["rerun_of"]:
        return f", {session['rerun_handoff']} again ({session['rerun_mode']})"
    return f", {count(session['reruns'], 're-run')}" if session["reruns"] else ""


def _write_end(page: Page, arguments: Namespace, terminal: Terminal, *, filtered: bool) -> None:
    shown, first = len(page.rows), arguments.offset + 1
    if page.total and not shown:
        terminal.line(
            f"There are {page.total:,}; --offset {arguments.offset} leaves out all of them."
        )
        return
    if shown:
        terminal.line()
    terminal.line(showing(shown, first, page.total, filtered))
    if shown:
        ids = (page.rows[0].session_id,)
        terminal.line(terminal.styled(next_command(arguments, "why", *ids), "dim"))
    elif arguments.flow and page.flows and arguments.flow not in page.flows:
        known = choices(page.flows)
        terminal.paragraph(f"No session is of the flow {arguments.flow!r}; there are: {known}.")
    elif not filtered:
        command = next_command(arguments, "run", "support")
        terminal.line(terminal.styled(f"Record one: {command}", "dim"))
