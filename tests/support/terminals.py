"""The command line in a terminal, where somebody sits and types."""

import os
import pty
import select
from collections.abc import Sequence
from pathlib import Path

from support.command import PROGRAM, environment

PROMPTS = (b"[y/N]", b"later):", b"leaves the mark:", b"takes the first again:")
"""How the questions end that a command asks."""


def typed(folder: Path, words: Sequence[str], lines: Sequence[str]) -> tuple[int, str]:
    """Carry out a command line in a terminal; each line is typed at a prompt.

    Returns:
        The exit status, and what the terminal showed.
    """
    command = [*PROGRAM, *words]
    pid, terminal = pty.fork()
    if pid == 0:
        os.chdir(folder)
        os.execve(command[0], command, dict(environment(NO_COLOR="1")))
    out, left = b"", list(lines)
    while select.select([terminal], [], [], 60)[0]:
        try:
            data = os.read(terminal, 4_096)
        except OSError:  # it has ended
            break
        if not data:
            break
        out += data
        if left and out.rstrip(b" ").endswith(PROMPTS):
            os.write(terminal, left.pop(0).encode())
    os.close(terminal)
    _, status = os.waitpid(pid, 0)
    return os.waitstatus_to_exitcode(status), out.decode().replace("\r\n", "\n")
