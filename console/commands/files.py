"""A file that a user named, opened for reading."""

from io import TextIOWrapper
from pathlib import Path
from typing import BinaryIO

from handoff_console.console.commands.errors import InputRefused


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
