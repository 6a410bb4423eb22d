"""`import`, `export`, `delete` and `prune`: sessions into a store, out of it, gone from it."""

import json
import os
import re
import shlex
import sys
from argparse import Namespace
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, BinaryIO

from handoff_console.console.cli.exit_status import NO
from handoff_console.console.cli.looking import write_json
from handoff_console.console.cli.places import next_command, store_of
from handoff_console.console.cli.progress import sessions_counted
from handoff_console.console.cli.terminal import Terminal, shown_names
from handoff_console.console.commands import forms, keeping
from handoff_console.console.commands.errors import CommandError
from handoff_console.console.commands.keeping import Doomed
from handoff_console.console.commands.listing import moment_since
from handoff_console.console.commands.moving import (
    export_sessions,
    import_file,
    read_file,
    whole_file,
)
from handoff_console.console.commands.pins import write_pin
from handoff_console.console.viewmodels.text import amount, count, one_line

_SHOWN = 10


def import_sessions(arguments: Namespace, terminal: Terminal) -> int:
    """Carry out `handoff import`."""
    if arguments.dry_run:
        for name in arguments.files:
            _read_only(Path(name), arguments, terminal)
        return 0
    forms_of_files: list[dict[str, Any]] = []
    new: list[str] = []
    for name in arguments.files:
        with sessions_counted(terminal) as progress:
            done = import_file(store_of(arguments), Path(name), progress)
        new += done.new
        forms_of_files.append({"file": name, "new": done.new, "unchanged": done.unchanged})
        if not arguments.json:
            known = f", {amount(len(done.unchanged))} known before" if done.unchanged else ""
            terminal.line(f"{one_line(name, 60)}: {count(len(done.new), 'new session')}{known}")
    if arguments.json:
        write_json(forms_of_files, terminal)
    elif new:
        command = ("open", "--session", new[0]) if len(new) == 1 else ("open",)
        terminal.line(terminal.styled(next_command(arguments, *command), "dim"))
    return 0


def export(arguments: Namespace, terminal: Terminal) -> int:
    """Carry out `handoff export`."""
    form, *more = arguments.to  # `--to pytest h2` may stand before or after the session
    words = [*arguments.sessions, *more]
    if form == "pytest":
        return _pin(words, arguments, terminal)
    if form != "jsonl":
        raise CommandError(f"There is no form {form!r}; there are: jsonl, pytest.")
    if arguments.flow:
        raise CommandError("--flow names what a test runs; it goes with --to pytest.")
    arguments.sessions = words
    if bool(arguments.sessions) == arguments.all:
        raise CommandError("Which sessions to export is not clear; name them, or say --all.")
    path = store_of(arguments)
    if arguments.output:
        with whole_file(Path(arguments.output)) as file, sessions_counted(terminal) as progress:
            done = export_sessions(path, arguments.sessions, file.write, progress)
        terminal.note(f"{count(done, 'session')} in {one_line(arguments.output, 200)}")
        return 0
    export_sessions(path, arguments.sessions, _writer(terminal))
    return 0


def _pin(words: Sequence[str], arguments: Namespace, terminal: Terminal) -> int:
    if len(words) != 2 or arguments.all:
        raise CommandError(
            "A test holds one handoff of one session; write `handoff export SESSION --to pytest "
            "HANDOFF`."
        )
    pin = write_pin(
        store_of(arguments),
        *words,
        named=arguments.flow,
        output=Path(arguments.output) if arguments.output else None,
    )
    terminal.note(f"{one_line(pin.test.name, 200)}, with its recording beside it. Run it:")
    terminal.line(shlex.join(["pytest", os.path.relpath(pin.test)]))
    return 0


def delete(arguments: Namespace, terminal: Terminal) -> int:
    """Carry out `handoff delete`; 1 when the person says no."""
    path = store_of(arguments)
    return _delete(path, keeping.doomed_sessions(path, arguments.sessions), arguments, terminal)


def prune(arguments: Namespace, terminal: Terminal) -> int:
    """Carry out `handoff prune`; 1 when the person says no."""
    path = store_of(arguments)
    doomed, kept = keeping.old_sessions(path, moment_since(arguments.before, datetime.now(UTC)))
    if kept:
        them = "runs or waits, and stays" if kept == 1 else "run or wait, and stay"
        terminal.note(f"{count(kept, 'session')} of that time still {them}.")
    if not doomed:
        terminal.line("No session is that old; nothing was deleted.")
        return 0
    return _delete(path, doomed, arguments, terminal)


def _delete(path: Path, doomed: Sequence[Doomed], arguments: Namespace, terminal: Terminal) -> int:
    """Delete sessions, after a person's yes or with `--yes`."""
    if not arguments.yes:
        if not sys.stdin.isatty():
            raise CommandError(
                f"{count(len(doomed), 'session')} would be deleted for good, and nobody is there "
                "to say yes; confirm with --yes."
            )
        for session in doomed[:_SHOWN]:
            terminal.note(f"  {session.session_id}  {one_line(session.message, 50)}")
        if len(doomed) > _SHOWN:
            terminal.note(f"  and {amount(len(doomed) - _SHOWN)} more")
        if not _says_yes(f"Delete {count(len(doomed), 'session')} for good? [y/N] ", terminal):
            terminal.note("Nothing was deleted.")
            return NO
    gone = keeping.delete_sessions(path, [session.session_id for session in doomed])
    terminal.line(f"Deleted {count(gone.sessions, 'session')} and everything that only they said.")
    if not gone.is_wiped:
        terminal.note(
            "Another program is reading the store: the freed space is wiped when it has finished "
            "and something is written again."
        )
    return 0


def _writer(terminal: Terminal) -> Callable[[bytes], object]:
    """Return what writes exported lines to standard output.

    To a file or a pipe the bytes themselves, whatever the locale; to a terminal what is recorded
    does nothing to it: signs that would are written as the escapes that JSON has for them.
    """
    if terminal.out.isatty():
        return lambda line: terminal.out.write(
            _UNSAFE.sub(lambda sign: f"\\u{ord(sign[0]):04x}", line.decode())
        )
    stream: BinaryIO = terminal.out.buffer
    return stream.write


_UNSAFE = re.compile("[\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]")


def _says_yes(question: str, terminal: Terminal) -> bool:
    return terminal.ask(question).strip().lower() in {"y", "yes"}


def _read_only(file: Path, arguments: Namespace, terminal: Terminal) -> None:
    reading = forms.Reading()
    shown: list[str] = []
    with sessions_counted(terminal) as progress:
        for record in read_file(file, progress):
            reading.add(record)
            if len(shown) < _SHOWN:
                said = one_line(record.header.request, 46)
                shown.append(f"  {record.session_id}  {record.tree.outcome.value:<14} {said}")
    read = reading.form()
    if arguments.json:
        terminal.out.write(json.dumps(read) + "\n")
        return
    made = ", ".join(
        count(len(read[name]), word)
        for name, word in (
            ("handoffs", "transfer"), ("delegations", "call"), ("refused", "refusal"),
            ("tool_calls", "tool call"),
        )
    )  # fmt: skip
    terminal.line(f"{one_line(str(file), 60)}: {count(read['sessions'], 'session')}, {made}")
    terminal.line(f"  agents: {shown_names(read['agents'][:_SHOWN])}")
    for line in shown:
        terminal.line(line)
    if reading.sessions > len(shown):
        terminal.line(f"  and {amount(reading.sessions - len(shown))} more")
