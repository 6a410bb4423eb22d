"""`open` and `demo`: the console in a browser, until Ctrl-C."""

import signal
from argparse import Namespace
from pathlib import Path

from handoff_console.console.cli.places import store_of
from handoff_console.console.cli.terminal import Terminal
from handoff_console.console.commands.errors import CommandError
from handoff_console.console.commands.samples import fresh_samples
from handoff_console.console.commands.stores import full_session_id, ready_store
from handoff_console.console.server import serve


def open_console(arguments: Namespace, terminal: Terminal) -> int:
    """Carry out `handoff open`."""
    if arguments.file and arguments.db:
        raise CommandError("The store is named twice; give either FILE or --db FILE.")
    if arguments.file:
        arguments.db = arguments.file
    path = ready_store(store_of(arguments))
    session_id = full_session_id(path, arguments.session) if arguments.session else None
    _serve(path, arguments, terminal, session_id=session_id)
    return 0


def demo(arguments: Namespace, terminal: Terminal) -> int:
    """Carry out `handoff demo`."""
    if arguments.db:
        raise CommandError(
            "The demo has a store of its own, which is removed at its end; to look into another "
            f"one, use `handoff open {arguments.db}`."
        )
    with fresh_samples() as path:
        terminal.note("Sample sessions are ready; one of them failed: find out why.")
        _serve(path, arguments, terminal)
    return 0


def _serve(
    path: Path, arguments: Namespace, terminal: Terminal, *, session_id: str | None = None
) -> None:
    # A service that is stopped cleans up as one that is interrupted does.
    signal.signal(signal.SIGTERM, signal.default_int_handler)

    def announce(page: str) -> None:
        terminal.line(f"The console is at {page}")
        terminal.out.flush()
        terminal.note("Ctrl-C ends it.")

    serve(
        path,
        port=arguments.port,
        session_id=session_id,
        open_browser=not arguments.no_browser,
        announce=announce,
    )
