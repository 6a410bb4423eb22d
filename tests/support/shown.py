"""What the documents show of the command line, and what it prints now.

As a program it puts what is printed now into the documents: `make examples`.
"""

import re
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from support.command import Done, program

from handoff_console.sample_runs.shipped import unpack

ROOT = Path(__file__).parents[2]
README, COMMAND_LINE = ROOT / "README.md", ROOT / "docs" / "command-line.md"

_FENCE = re.compile(r"```(?:console)?\n\$ (handoff .*?)\n(.*?)```", re.DOTALL)
_RUN = re.compile(
    r"handoff (list|show|why|budget|run (support|frontdesk|desk\.py:flow) --message)\b"
)
"""What prints the same everywhere: on the samples, or by a run that depends on nothing."""
_VARIES = (
    (r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC", "WHEN"),
    (r"(?<=[ /])\d{8}-\d{6}-[0-9a-f]{8}", "SESSION"),
    (r" *\d+(?:\.\d+)? (?:ms|s|µs)\b", " TIME"),
    (r"\d+ \w+ ago *", "AGE "),
)


class Example(NamedTuple):
    """A command, and what stands below it."""

    command: str
    output: str

    @property
    def words(self) -> list[str]:
        """The command without the program's name."""
        return [a or b for a, b in re.findall(r'"([^"]*)"|(\S+)', self.command)][1:]


def examples(document: Path) -> list[Example]:
    """Return the examples of a document whose output can be compared."""
    found = (Example(*match.groups()) for match in _FENCE.finditer(document.read_text("utf-8")))
    return [example for example in found if _RUN.match(example.command)]


def prepare(example: Example, folder: Path) -> None:
    """Put into an empty folder what an example needs: the README's flow, or the samples."""
    code = re.search(r"```python\n(# desk\.py\n.*?)```", README.read_text("utf-8"), re.DOTALL)
    assert code
    (folder / "desk.py").write_text(code[1], "utf-8")
    if not example.command.startswith("handoff run"):
        unpack(folder / "handoff.db")


def printed(example: Example, folder: Path) -> Done:
    """Carry out an example as a program, in an empty folder."""
    prepare(example, folder)
    return program(folder, *example.words)


def without_what_varies(text: str) -> list[str]:
    """Return the lines of an output without times, ages and ids of this run."""
    for pattern, name in _VARIES:
        text = re.sub(pattern, name, text)
    return [line.rstrip() for line in text.strip().splitlines()]


def _rewritten(document: Path) -> str:
    def now(match: re.Match[str]) -> str:
        example = Example(*match.groups())
        if not _RUN.match(example.command):
            return match[0]
        with tempfile.TemporaryDirectory() as folder:
            out = printed(example, Path(folder)).out
        if without_what_varies(out) == without_what_varies(example.output):
            return match[0]
        return match[0].replace(example.output, out)

    return _FENCE.sub(now, document.read_text("utf-8"))


def main(say: Callable[[str], object] = print) -> None:
    """Write what is printed now into the documents."""
    for document in (README, COMMAND_LINE):
        text = _rewritten(document)
        if text != document.read_text("utf-8"):
            document.write_text(text, "utf-8")
            say(f"{document.relative_to(ROOT)} is changed")


if __name__ == "__main__":
    main()
