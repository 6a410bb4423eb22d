"""The command line as a test uses it: in this process for speed, or as a program of its own."""

import os
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import NamedTuple

import pytest

from handoff_console.console.cli import main

PROGRAM = [sys.executable, "-m", "handoff_console.console.cli"]


class Done(NamedTuple):
    """How a command ended."""

    status: int
    out: str
    err: str


def in_process(capsys: pytest.CaptureFixture[str]) -> Callable[..., Done]:
    """Return a function that carries out one command line in this process."""

    def handoff(*words: str | Path) -> Done:
        capsys.readouterr()
        status = main([str(word) for word in words])
        return Done(status, *capsys.readouterr())

    return handoff


def environment(**variables: str) -> Mapping[str, str]:
    """Return an environment in which output looks the same everywhere."""
    kept = {
        name: value
        for name, value in os.environ.items()
        if name not in {"NO_COLOR", "FORCE_COLOR", "COLUMNS", "HANDOFF_DB", "HANDOFF_DEBUG"}
    }
    return {**kept, "PYTHONIOENCODING": "utf-8", **variables}


def program(folder: Path, *words: str | Path, stdin: str = "", **variables: str) -> Done:
    """Run one command line as a program of its own, started in a folder."""
    done = subprocess.run(
        [*PROGRAM, *map(str, words)],
        cwd=folder,
        input=stdin,
        capture_output=True,
        text=True,
        encoding="utf-8",
        env=environment(**variables),
        check=False,
        timeout=120,
    )
    return Done(done.returncode, done.stdout, done.stderr)


def started(folder: Path, *words: str | Path, **variables: str) -> "subprocess.Popen[str]":
    """Start one command line as a program and leave it running; the test ends it."""
    return subprocess.Popen(
        [*PROGRAM, *map(str, words)],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        encoding="utf-8",
        env=environment(**variables),
    )
