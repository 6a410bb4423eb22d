"""A store in a fresh folder, and the sink that writes it."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from handoff_console.store.db import open_reader, open_store
from handoff_console.store.writer import StoreSink, open_sink


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "handoff.db"


@pytest.fixture
def sink(path: Path) -> Iterator[StoreSink]:
    with open_sink(path, create=True) as sink:
        yield sink


@pytest.fixture
def db(path: Path) -> Iterator[sqlite3.Connection]:
    """A store that nobody records into."""
    with closing(open_store(path, create=True)) as db:
        yield db


@pytest.fixture
def reading(sink: StoreSink, path: Path) -> Iterator[sqlite3.Connection]:
    """A reader beside the sink."""
    with closing(open_reader(path)) as db:
        yield db
