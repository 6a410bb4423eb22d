"""`show` and `why`: one session, and what went wrong in it."""

import json
from argparse import Namespace
from collections.abc import Sequence
from typing import Any

from handoff_console.console.cli.asking import write_going_on, write_pending
from handoff_console.console.cli.places import next_command, store_of
from handoff_console.console.cli.terminal import Terminal, fitted, wrapped
from handoff_console.console.cli.tree_text import outcome_text, write_tree
from handoff_console.console.commands import forms
from handoff_console.console.commands.errors import CommandError
from handoff_console.console.commands.looking import (
    Explanation,
    SessionRecord,
    every_session,
    explain,
    open_session,
    wanted_findings,
)
from handoff_console.console.commands.waiting import pending_of
from handoff_console.console.theme import LOOKS
from handoff_console.console.viewmodels.sentences import KIND_WORDS, sentence
from handoff_console.console.viewmodels.text import amount, as_name, block, count, one_line
from handoff_console.runtime.contract import State
from handoff_console.store.analysis.findings import Finding, Severity


def show(arguments: Namespace, terminal: Terminal) -> int:
    """Carry out `handoff show`."""
    with open_session(store_of(arguments), arguments.session) as record:
        if arguments.json:
            whole = {"events": forms.event_forms(record)} if arguments.events else {}
            write_json({**forms.session_form(record), **whole}, terminal)
        elif arguments.events:
            _write_events(record, terminal)
        elif arguments.transcript:
            _write_transcript(record, terminal)
        elif arguments.printed:
            _write_printed(record, terminal)
        else:
            write_session(record, arguments, terminal)
    return 0


def why(arguments: Namespace, terminal: Terminal) -> int:
    """Carry out `handoff why`; 1 when a finding of `--fail-on` was found."""
    wanted = wanted_findings(arguments.fail_on)
    if arguments.all:
        found = False
        for record in every_session(store_of(arguments)):
            explanation = explain(record)
            found = found or explanation.has(wanted)
            _write_line(explanation, arguments, terminal)
        return int(found)
    with open_session(store_of(arguments), arguments.session) as record:
        explanation = explain(record)
        if arguments.json:
            write_json(forms.explanation_form(explanation), terminal)
        else:
            _write_explanation(record, explanation, arguments, terminal)
    return int(explanation.has(wanted))


def check_outcomes(words: Sequence[str]) -> None:
    """Refuse words that are no outcome.

    Raises:
        CommandError: One is none; the text lists those there are.
    """
    known = [word for word in LOOKS if word not in _OF_HANDOFFS]
    for word in words:
        if word not in known:
            raise CommandError(f"There is no outcome {word!r}; there are: {', '.join(known)}.")


_OF_HANDOFFS = (State.ASKED_FOR, State.REFUSED, State.TRANSFERRED)
"""What a handoff can be, but no session."""


def write_session(record: SessionRecord, arguments: Namespace, terminal: Terminal) -> None:
    """Write a session as a person reads it: request, tree, answer, pool, what it waits for."""
    head = record.header
    terminal.paragraph(one_line(record.message, 400), style="strong")
    told = [head.flow, head.prompt_version, head.started, head.duration]
    terminal.line(terminal.styled(" · ".join(filter(None, told)), "dim"))
    terminal.line()
    write_tree(record, terminal)
    terminal.line()
    if record.answer:
        terminal.paragraph(block(record.answer, 4_000), indent="  ")
        terminal.line()
    for ledger in record.ledgers:
        turn = f" of turn {ledger.turn}" if len(record.ledgers) > 1 else ""
        last = ledger.rows[-1]
        reserved = f", {amount(last.open)} reserved" if last.open else ""
        terminal.line(
            f"pool{turn}     {amount(last.spent)} of {count(ledger.total_tokens, 'token')} used, "
            f"{amount(last.free)} free{reserved}"
        )
    if head.about.cost:
        terminal.line("cost     ", head.about.cost)
    _write_verdict(record, arguments, terminal)
    terminal.line("session  ", record.session_id)
    terminal.line(
        terminal.styled(
            f"         {next_command(arguments, 'open', '--session', record.session_id)}", "dim"
        )
    )
    found = pending_of(record.db, record.session_id)
    write_pending(found, arguments, terminal, record.flow_file)
    if record.tree.outcome is State.INTERRUPTED and not found.effects:
        write_going_on(record.session_id, record.flow_file, arguments, terminal)


def write_json(value: Any, terminal: Terminal) -> None:
    """Write a JSON value, indented, in ASCII: safe in every terminal and every locale."""
    terminal.out.write(json.dumps(value, indent=2) + "\n")


def _write_verdict(record: SessionRecord, arguments: Namespace, terminal: Terminal) -> None:
    verdict = record.judgement.verdict
    style = verdict.severity.value if verdict.severity is not Severity.INFO else ""
    first, *rest = _under("verdict", verdict.sentence, terminal)
    terminal.line(first[:9], terminal.styled(first[9:], style) if style else first[9:])
    for line in rest:
        terminal.line(line)
    if style:
        command = next_command(arguments, "why", record.session_id)
        terminal.line(terminal.styled(f"         {command}", "dim"))


def _under(name: str, text: str, terminal: Terminal) -> list[str]:
    lines = wrapped(text, terminal.columns - 9) or [""]
    return [f"{name:<9}{lines[0]}", *(" " * 9 + line for line in lines[1:])]


def _write_events(record: SessionRecord, terminal: Terminal) -> None:
    numbers = len(str(len(record.events)))
    for event in record.events:
        head = f"{event.seq:>{numbers}} {event.elapsed_seconds:>9.3f} s  "
        kind = fitted(KIND_WORDS.get(event.kind, as_name(event.kind)), 20)
        who = fitted(event.handoff_id or "", 5)
        room = terminal.columns - len(head) - 26
        terminal.line(terminal.styled(head, "dim"), kind, who, " ", one_line(sentence(event), room))


def _write_transcript(record: SessionRecord, terminal: Terminal) -> None:
    from handoff_console.store.analysis.transcript import transcript

    for line in transcript(record.events, record.body):
        terminal.line(block(line, 100_000))


def _write_printed(record: SessionRecord, terminal: Terminal) -> None:
    from handoff_console.store.analysis.printed import printed_lines

    for line in printed_lines(record.events, record.body):
        terminal.line(line)


def _write_line(explanation: Explanation, arguments: Namespace, terminal: Terminal) -> None:
    if arguments.json:
        terminal.out.write(json.dumps(forms.explanation_form(explanation)) + "\n")
        return
    terminal.line(
        outcome_text(explanation.outcome, "", terminal, columns=17),
        terminal.styled(explanation.session_id, "dim"),
    )
    terminal.paragraph(explanation.verdict, indent="  ")


def _write_explanation(
    record: SessionRecord, explanation: Explanation, arguments: Namespace, terminal: Terminal
) -> None:
    terminal.paragraph(one_line(record.message, 200), style="strong")
    terminal.line(
        outcome_text(explanation.outcome, one_line(record.tree.limit, 20), terminal),
        terminal.styled(f"{record.header.flow} · {record.header.duration}", "dim"),
    )
    if not any(finding.sentence == explanation.verdict for finding in explanation.findings):
        terminal.line()
        terminal.paragraph(explanation.verdict)
    for finding in explanation.findings:
        _write_finding(finding, terminal)
    if explanation.look_first:
        place = explanation.look_first[0]
        who = f" ({as_name(place.agent)})" if place.agent else ""
        where = f"{place.handoff_id}{who}, " if place.handoff_id else ""
        terminal.line()
        terminal.line(f"Look first at {where}event {place.seq}:")
        command = next_command(arguments, "open", "--session", record.session_id)
        terminal.line(terminal.styled(f"  {command}", "dim"))
    if explanation.outcome == State.INTERRUPTED:
        write_going_on(record.session_id, record.flow_file, arguments, terminal)


def _write_finding(finding: Finding, terminal: Terminal) -> None:
    terminal.line()
    severity = terminal.styled(finding.severity.value, finding.severity.value)
    where = f"  {finding.handoff_id}" if finding.handoff_id else ""
    terminal.line(severity, f"  {finding.code}", terminal.styled(where, "dim"))
    terminal.paragraph(finding.sentence, indent="  ")
    for evidence in finding.evidence[:6]:
        terminal.line(
            f"    event {evidence.seq:>4}  ", one_line(evidence.reason, terminal.columns - 16)
        )
    if len(finding.evidence) > 6:
        terminal.line(f"    and {len(finding.evidence) - 6} more")
    first, *rest = wrapped(finding.advice, terminal.columns - 4) or [""]
    terminal.line("  → ", first)
    for line in rest:
        terminal.line("    ", line)
