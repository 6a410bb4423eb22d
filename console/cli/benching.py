"""`bench`: what recording and looking cost on this machine."""

import platform
import sqlite3
import time
from argparse import Namespace
from dataclasses import asdict

from handoff_console.console.cli.looking import write_json
from handoff_console.console.cli.places import store_of
from handoff_console.console.cli.terminal import Terminal, fitted
from handoff_console.console.commands import bench as measured
from handoff_console.console.commands.bench import Figure

_TITLE_COLUMNS, _VALUE_COLUMNS = 41, 12


def bench(arguments: Namespace, terminal: Terminal) -> int:
    """Carry out `handoff bench`."""
    began = time.monotonic()
    folder = store_of(arguments).parent
    terminal.note("Measuring; that takes some ten seconds, and other programs should rest.")
    figures = []
    for figure in measured.bench(folder):
        figures.append(figure)
        if not arguments.json:
            _write(figure, terminal)
            terminal.out.flush()
    if arguments.json:
        write_json(
            {
                "figures": [asdict(figure) for figure in figures],
                "python": platform.python_version(),
                "sqlite": sqlite3.sqlite_version,
                "seconds": round(time.monotonic() - began, 1),
            },
            terminal,
        )
    return 0


def _write(figure: Figure, terminal: Terminal) -> None:
    value = f"{figure.value:,.0f}" if figure.value >= 100 else f"{figure.value:.3g}"
    beside = f"  {figure.ratio:.2f} × {figure.beside}" if figure.ratio is not None else ""
    terminal.line(
        fitted(figure.title, _TITLE_COLUMNS),
        fitted(f"{value} {figure.unit}", _VALUE_COLUMNS, right=True),
        terminal.styled(beside, "dim"),
    )
