"""A folder of its own and a command line for each acceptance test."""

from collections.abc import Callable
from pathlib import Path

import pytest
from support.command import Done, in_process


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the folder that commands are typed in, empty."""
    monkeypatch.chdir(tmp_path)
    for name in ("NO_COLOR", "FORCE_COLOR", "COLUMNS", "HANDOFF_DEBUG"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path


@pytest.fixture
def handoff(folder: Path, capsys: pytest.CaptureFixture[str]) -> Callable[..., Done]:
    """Return a function that carries out one command line in `folder`, in this process."""
    return in_process(capsys)
