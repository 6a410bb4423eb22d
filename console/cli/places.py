"""Which store a command line means, and how to name it in the next one."""

import shlex
from argparse import Namespace
from pathlib import Path

from handoff_console.console.settings import store_path


def store_of(arguments: Namespace) -> Path:
    """Return the store: `--db`, else $HANDOFF_DB, else handoff.db in the current folder."""
    return Path(arguments.db).absolute() if arguments.db else store_path()


def next_command(arguments: Namespace, *words: str) -> str:
    """Return a command on the same store, ready to be copied."""
    named = ["--db", arguments.db] if arguments.db else []
    return shlex.join(["handoff", *words, *named])
