"""`open` and `demo`: the console in a browser, until Ctrl-C."""

import signal
from argparse import Namespace
from collections.abc import Sequence
from pathlib import Path

from handoff_console.console.cli.places import store_of
from handoff_console.console.cli.terminal import Terminal
from handoff_console.console.commands.errors import CommandError
from handoff_console.console.commands.flow_files import file_reference
from handoff_console.console.commands.flows import load_flow
from handoff_console.console.commands.samples import fresh_samples
from handoff_console.console.commands.stores import full_session_id, ready_store
from handoff_console.console.ports import usable_port
from handoff_console.console.server import LOOPBACK, serve


def open_console(arguments: Namespace, terminal: Terminal) -> int:
    """Carry out `handoff open`."""
    if arguments.file and arguments.db:
        raise CommandError("The store is named twice; give either FILE or --db FILE.")
    if arguments.file:
        arguments.db = arguments.file
    path = ready_store(store_of(arguments))
    session_id = full_session_id(path, arguments.session) if arguments.session else None
    for flow in arguments.flow:
        load_flow(flow)  # said now, not on a screen
    _serve(path, arguments, terminal, session_id=session_id, flows=arguments.flow)
    return 0


def open_experiment(
    arguments: Namespace, experiment_id: str, flow_source: str, terminal: Terminal
) -> None:
    """Show a comparison that was just made; its flow is one that the page may load."""
    flows = [flow_source] if file_reference(flow_source) else []
    arguments.port, arguments.no_browser = None, False
    path = ready_store(store_of(arguments))
    _serve(path, arguments, terminal, experiment_id=experiment_id, flows=flows)


def demo(arguments: Namespace, terminal: Terminal) -> int:
    """Carry out `handoff demo`."""
    if arguments.db:
        raise CommandError(
            "The demo has a store of its own, which is removed at its end; to look into another "
            f"one, use `handoff open {arguments.db}`."
        )
    if arguments.port:  # before anything is said to be ready
        usable_port(LOOPBACK[0], arguments.port)
    with fresh_samples() as path:
        terminal.note("Sample sessions are ready. The one on top of the list failed: find out why.")
        _serve(path, arguments, terminal)
    return 0


def _serve(
    path: Path,
    arguments: Namespace,
    terminal: Terminal,
    *,
    session_id: str | None = None,
    experiment_id: str | None = None,
    flows: Sequence[str] = (),
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
        experiment_id=experiment_id,
        flows=flows,
        open_browser=not arguments.no_browser,
        announce=announce,
    )
