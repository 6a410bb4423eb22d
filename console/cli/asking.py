"""What a session waits for, as a person reads it, and asking the one who sits at the terminal."""

import json
import sys
from argparse import Namespace
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from handoff_console.console.cli.places import next_command
from handoff_console.console.cli.terminal import Terminal, fitted, width_of, wrapped
from handoff_console.console.commands.left_out_values import marks_in
from handoff_console.console.commands.saying import answer, decide, decision_about
from handoff_console.console.commands.waiting import (
    Pending,
    PendingApproval,
    PendingQuestion,
    UnknownEffect,
)
from handoff_console.console.viewmodels.asking import act_words, readable
from handoff_console.console.viewmodels.text import as_name, block, one_line
from handoff_console.runtime import Decision

YES = "y"
"""The one answer that lets something be done."""

Write = Callable[[str], None]


def is_interactive(terminal: Terminal) -> bool:
    """Say whether somebody sits there who can be asked."""
    return sys.stdin.isatty() and terminal.err.isatty()


class Said(NamedTuple):
    """What somebody at the terminal said."""

    anything: bool
    decisions: tuple[Decision, ...] = ()
    """Those that are not put down yet: values that were left out of their acts come first."""


def ask_person(store_path: Path, found: Pending, terminal: Terminal) -> Said:
    """Ask for everything that waits, and return what was said.

    Only `y` is a yes; every other line is a no. The end of input, or Ctrl-C, leaves it for later.
    """
    said = Said(anything=False)
    for act in found.approvals:
        if act.said is None and not act.is_expired:
            approved = _ask_yes(act, terminal)
            if approved is None:
                return said
            said = Said(True, (*said.decisions, *_kept(store_path, found, act, approved)))
    for question in found.questions:
        if question.said is None:
            text = _ask_answer(question, terminal)
            if not text:
                return said
            answer(store_path, found.session_id, text, handoff_id=question.handoff_id)
            said = Said(True, said.decisions)
    return said


def _kept(
    store_path: Path, found: Pending, act: PendingApproval, approved: bool
) -> tuple[Decision, ...]:
    """Put down what was decided, but for a yes that waits for what was left out of its act."""
    if approved and act.left_out:
        return (decision_about(found.session_id, act, approved=True, is_said=True),)
    decide(store_path, found.session_id, act.approval_id, approved=approved)
    return ()


def write_pending(found: Pending, arguments: Namespace, terminal: Terminal, flow: str = "") -> None:
    """Write what a session waits for, and the commands that answer it; nothing for nothing."""
    session_id = found.session_id
    for act in found.approvals:
        terminal.line()
        # Whoever reads this says yes in another process, which knows what is recorded.
        write_act(replace(act, arguments=act.recorded), terminal.line, terminal)
        if act.said is not None:
            terminal.line(
                f"  {'yes' if act.said.approved else 'no'}, says {_name(act.said.decided_by)}"
            )
        elif act.is_expired:
            terminal.line("  it is too late for a yes, which is a no")
        else:
            unsaid = [w for name in marks_in(act.recorded) for w in ("--value", f"{name}=VALUE")]
            goes_on = [*unsaid, *_flow_words(flow)] if unsaid else []
            for more in (goes_on, ["--no"]):
                words = ("approve", session_id, act.approval_id, *more)
                _hint(next_command(arguments, *words), terminal)
    for question in found.questions:
        terminal.line()
        _write_question(question, terminal.line, terminal)
        if question.said is None:
            which = ("--handoff", question.handoff_id) if len(found.questions) > 1 else ()
            _hint(next_command(arguments, "answer", session_id, "TEXT", *which), terminal)
        else:
            terminal.line("  answered: ", one_line(question.said, terminal.columns - 12))
    for effect in found.effects:
        terminal.line()
        _write_effect(effect, terminal)
        for option in ("--happened", "--not-happened"):
            said = ("resume", session_id, option, effect.place, *_flow_words(flow))
            _hint(next_command(arguments, *said), terminal)
    if found.approvals or found.questions:
        terminal.line()
        terminal.line("then go on:")
        _hint(next_command(arguments, "resume", session_id, *_flow_words(flow)), terminal)


def write_going_on(session_id: str, flow: str, arguments: Namespace, terminal: Terminal) -> None:
    """Write the command that goes on with a session whose process is gone."""
    terminal.line()
    terminal.line("To go on where it stopped:")
    _hint(next_command(arguments, "resume", session_id, *_flow_words(flow)), terminal)


def write_act(act: PendingApproval, write: Write, terminal: Terminal) -> None:
    """Write exactly what will be done, or was to be before a no, and who wants to do it."""
    is_refused = act.is_expired if act.said is None else not act.said.approved
    write(
        f"{as_name(act.agent)} wants to use {as_name(act.tool)} ({act.effect.value}); this "
        f"{'was to' if is_refused else 'is what will'} be {act_words(act.effect).done}:"
    )
    values = (act.said.arguments if act.said else None) or act.arguments
    in_order = (name for name in dict.fromkeys((*act.arguments, *values)) if name in values)
    write_arguments({name: values[name] for name in in_order}, write, terminal)


def write_arguments(values: dict[str, Any], write: Write, terminal: Terminal) -> None:
    """Write arguments in full, a line or more each."""
    if not values:
        write("  (no arguments)")
        return
    longest = min(max(len(one_line(name, 30)) for name in values), 24)
    for name, value in values.items():
        text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
        text = text.replace("\r\n", "\n")
        seen = readable(text)
        shown = block(seen, len(seen))
        room = terminal.columns - longest - 4
        first, *rest = [part for line in shown.split("\n") for part in _cut(line, room)]
        write(f"  {fitted(one_line(name, 30), longest + 2)}{first}")
        for line in rest:
            write(" " * (longest + 4) + line)
        if seen != text:
            write(" " * (longest + 4) + "(it has signs that cannot be shown; they stand as [U+…])")


def _ask_yes(act: PendingApproval, terminal: Terminal) -> bool | None:
    terminal.note("")
    write_act(act, terminal.note, terminal)
    if act.left_out:
        terminal.note(
            f"The value of {', '.join(act.left_out)} was left out of the record; after a yes it is "
            "asked for."
        )
    verb, done = act_words(act.effect)
    line = read_line(f"{verb.capitalize()} it? Only {YES} is a yes. [y/N] ", terminal)
    if line is None:
        return None
    approved = line.strip() == YES
    if not (approved and act.left_out):
        terminal.note(f"It will be {done}." if approved else f"It is not {done}.")
    return approved


def _ask_answer(question: PendingQuestion, terminal: Terminal) -> str:
    terminal.note("")
    _write_question(question, terminal.note, terminal)
    return (read_line("Answer (an empty line leaves it for later): ", terminal) or "").strip()


def read_line(prompt: str, terminal: Terminal, *, is_secret: bool = False) -> str | None:
    """Return the line that somebody types; None at the end of input, or for Ctrl-C."""
    try:
        line = terminal.ask(prompt, is_secret=is_secret)
    except KeyboardInterrupt:  # nothing runs now: what waits goes on waiting
        line = ""
    if not line:
        terminal.note("")
        return None
    return line


def _write_question(question: PendingQuestion, write: Write, terminal: Terminal) -> None:
    write(f"{as_name(question.agent)} ({question.handoff_id}) asks:")
    for line in block(question.text, 10_000).split("\n"):
        for part in wrapped(line, terminal.columns - 2) or [""]:
            write(f"  {part}")


def _write_effect(effect: UnknownEffect, terminal: Terminal) -> None:
    terminal.line(
        f"{as_name(effect.agent)} used {as_name(effect.tool)} ({effect.place}) when the process "
        "ended, and nobody knows whether it happened:"
    )
    write_arguments(dict(effect.arguments), terminal.line, terminal)


def _cut(line: str, columns: int) -> list[str]:
    """Return a line in pieces that fit, every space kept: it is shown exactly."""
    pieces = [""]
    for sign in line:
        if width_of(pieces[-1] + sign) > columns:
            # Spaces at the end of a line are not seen: they begin the next one.
            kept = pieces[-1].rstrip(" ")
            spaces = pieces[-1][len(kept) :] if kept else ""
            pieces[-1] = kept or pieces[-1]
            pieces.append(spaces)
        pieces[-1] += sign
    return pieces


def _flow_words(flow: str) -> tuple[str, ...]:
    return ("--flow", flow) if flow else ()


def _hint(command: str, terminal: Terminal) -> None:
    terminal.line(terminal.styled(f"  {command}", "dim"))


def _name(text: str) -> str:
    return one_line(text, 60) or "somebody"
