"""What could keep this program from working here, found before it does."""

import os
import platform
import sqlite3
import sys
import webbrowser
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from enum import StrEnum
from importlib import metadata
from pathlib import Path

from handoff_console.console.viewmodels.text import count, one_line
from handoff_console.sample_runs.shipped import is_shipped
from handoff_console.store import integrity, reader
from handoff_console.store.analysis.findings import RULES_VERSION
from handoff_console.store.db import open_store
from handoff_console.store.errors import StoreError
from handoff_console.store.maintenance import outdated_lines
from handoff_console.store.schema import VERSION

PACKAGE = "handoff-console"
OLDEST_PYTHON = (3, 11)
PROBLEMS_SHOWN = 3


class Grade(StrEnum):
    """How a check came out."""

    OK = "ok"
    WARN = "warn"
    """Something will be different from what is usual; nothing fails."""
    FAIL = "fail"


@dataclass(frozen=True, slots=True)
class Check:
    """One thing that was looked at."""

    name: str
    grade: Grade
    sentence: str
    remedy: str = ""
    """What to do about it; empty when all is well."""


def doctor(store_path: Path) -> Iterator[Check]:
    """Look at everything that has to be right; a store of an older version is migrated.

    Yields:
        The checks in order, each as soon as it is done.
    """
    yield _python()
    yield _sqlite()
    yield from _packages()
    yield _browser()
    yield _port()
    yield _samples()
    yield from _store(store_path)


def _python() -> Check:
    found = f"Python {platform.python_version()} on {platform.system()} {platform.release()}."
    if sys.version_info < OLDEST_PYTHON:
        return Check("python", Grade.FAIL, found, "Install Python 3.11 or newer.")
    return Check("python", Grade.OK, found)


def _sqlite() -> Check:
    found = f"SQLite {sqlite3.sqlite_version}"
    with closing(sqlite3.connect(":memory:")) as db:
        try:
            db.execute("create virtual table words using fts5 (text)")
        except sqlite3.Error:
            return Check(
                "sqlite", Grade.FAIL, f"{found} has no full-text search.",
                "Use a build of Python whose SQLite has FTS5.",
            )  # fmt: skip
    return Check("sqlite", Grade.OK, f"{found} with full-text search.")


def _packages() -> Iterator[Check]:
    from packaging.requirements import Requirement

    for text in metadata.requires(PACKAGE) or ():
        wanted = Requirement(text)
        if wanted.marker is not None and not wanted.marker.evaluate({"extra": ""}):
            continue
        try:
            found = metadata.version(wanted.name)
        except metadata.PackageNotFoundError:
            yield Check(
                wanted.name, Grade.FAIL, f"{wanted.name} is not installed.",
                f"Run `pip install '{wanted.name}{wanted.specifier}'`.",
            )  # fmt: skip
            continue
        if wanted.specifier.contains(found, prereleases=True):
            yield Check(wanted.name, Grade.OK, f"{wanted.name} {found}.")
        else:
            yield Check(
                wanted.name, Grade.WARN,
                f"{wanted.name} {found} was never tried; {wanted.specifier} is wanted.",
                f"Run `pip install '{wanted.name}{wanted.specifier}'`.",
            )  # fmt: skip


def _browser() -> Check:
    try:
        webbrowser.get()
    except webbrowser.Error:
        return Check(
            "browser", Grade.WARN, "No browser was found that this program could open.",
            "Open the address that `handoff open` prints yourself.",
        )  # fmt: skip
    return Check("browser", Grade.OK, "A browser can be opened.")


def _port() -> Check:
    from handoff_console.console.ports import DEFAULT_PORT, ServerError, free_port
    from handoff_console.console.server import LOOPBACK

    try:
        port = free_port(LOOPBACK[0])
    except ServerError as error:
        return Check("port", Grade.FAIL, str(error), "Name a free one with --port.")
    if port == DEFAULT_PORT:
        return Check("port", Grade.OK, f"Port {port} is free.")
    return Check("port", Grade.OK, f"Port {DEFAULT_PORT} is in use; the console will take {port}.")


def _samples() -> Check:
    if is_shipped():
        return Check("samples", Grade.OK, "The sample sessions of `handoff demo` are there.")
    return Check(
        "samples", Grade.FAIL, "The sample sessions of `handoff demo` are missing.",
        "Install handoff-console again, or run `make samples` in a checkout.",
    )  # fmt: skip


def _store(path: Path) -> Iterator[Check]:
    if not path.exists():
        yield _place_for_a_store(path)
        return
    try:
        with closing(open_store(path)) as db:
            yield from _inside(db, path)
    except StoreError as error:
        yield Check("store", Grade.FAIL, str(error), "See above, or name another with --db FILE.")


def _place_for_a_store(path: Path) -> Check:
    sentence = f"There is no store at {path} yet."
    if path.parent.is_dir() and os.access(path.parent, os.W_OK):
        return Check("store", Grade.OK, f"{sentence} One is made with the first session.")
    return Check(
        "store", Grade.FAIL, f"{sentence} None can be made there.",
        "Name a file in a folder that you may write to, with --db FILE.",
    )  # fmt: skip


def _inside(db: sqlite3.Connection, path: Path) -> Iterator[Check]:
    sessions = sum(1 for _ in reader.session_ids(db))
    size = path.stat().st_size / 1e6
    yield Check(
        "store", Grade.OK,
        f"{path} opens: schema version {VERSION}, {count(sessions, 'session')}, {size:,.1f} MB.",
    )  # fmt: skip
    yield from _integrity(db)
    outdated = outdated_lines(db, RULES_VERSION)
    if outdated:
        yield Check(
            "findings", Grade.WARN,
            f"{count(outdated, 'session was', 'sessions were')} judged by older rules.",
            "Run `handoff rebuild`.",
        )  # fmt: skip
    readable_by_others = path.stat().st_mode & 0o077
    if readable_by_others and os.name == "posix":
        yield Check(
            "privacy", Grade.WARN, "Other users of this machine may read the store.",
            f"Run `chmod 600 {path}`.",
        )  # fmt: skip


def _integrity(db: sqlite3.Connection) -> Iterator[Check]:
    problems = integrity.problems(db)
    if not problems:
        yield Check("integrity", Grade.OK, "The file is whole, and all in it can be read.")
    for problem in problems[:PROBLEMS_SHOWN]:
        yield Check("integrity", Grade.FAIL, one_line(problem, 300), _RESCUE)
    more = len(problems) - PROBLEMS_SHOWN
    if more > 0:
        yield Check("integrity", Grade.FAIL, f"{count(more, 'more problem')} like these.")


_RESCUE = "Restore a copy, or export what can be read (`handoff export SESSION -o FILE`)."
