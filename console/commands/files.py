"""A file that a user named, opened for reading."""

import csv
from io import TextIOWrapper
from pathlib import Path
from typing import BinaryIO

from handoff_console.console.commands.errors import InputRefused

LONGEST_CHARACTERS = 1_000_000
"""The longest message, and the longest cell of a table, that is read."""


def opened(path: Path) -> BinaryIO:
    """Open a file for reading bytes.

    Raises:
        InputRefused: It is not there, or cannot be read.
    """
    try:
        return path.open("rb")
    except FileNotFoundError:
        problem = "there is no such file; check the path."
    except IsADirectoryError:
        problem = "it is a folder; name a file in it."
    except OSError as error:
        problem = f"it cannot be read ({error.strerror or error})."
    raise InputRefused(str(path), None, problem)


def utf8_text(path: Path) -> str:
    """Return the text of a file, its lines ended as on every system.

    Raises:
        InputRefused: It is not there, cannot be read, or is not UTF-8.
    """
    with TextIOWrapper(opened(path), encoding="utf-8-sig") as file:
        try:
            return file.read()
        except UnicodeDecodeError:
            raise InputRefused(str(path), None, "it is not UTF-8; save it as UTF-8.") from None


def csv_problem(error: csv.Error) -> str:
    """Say what is wrong with a line of CSV."""
    if "field limit" in str(error):
        return f"a cell of it has more than {LONGEST_CHARACTERS:,} characters"
    return f"it is no row of CSV ({error})"


def read_cells_bounded() -> None:
    """Let the process read cells of CSV up to `LONGEST_CHARACTERS`; for each reader anew.

    The bound belongs to the process, and libraries change it when they are imported.
    """
    csv.field_size_limit(LONGEST_CHARACTERS)
