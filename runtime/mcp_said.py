"""What an MCP server says, as data and as text that may stand in a note."""

from typing import IO, Any

MAX_NOTE_CHARACTERS = 200
"""Of what a server says in an error."""


def content(result: Any) -> Any:
    """Return what a tool came back with: its structured content, or else its text."""
    if result.structured_content is not None and not result.is_error:
        return result.structured_content
    return "\n".join(
        part.text if part.type == "text" else f"({part.type}, left out)" for part in result.content
    )


def last_line(said: IO[str]) -> str:
    """Return the last line that a server printed, as `printable` gives it; empty without any."""
    said.seek(0)
    lines = [line for line in said.read().splitlines() if line.strip()]
    return printable(lines[-1]) if lines else ""


def printable(text: str) -> str:
    """Return text of a server on one line, short, and without what a terminal would act on."""
    line = " ".join("".join(char if char.isprintable() else " " for char in text).split())
    return line if len(line) <= MAX_NOTE_CHARACTERS else f"{line[:MAX_NOTE_CHARACTERS]}…"
