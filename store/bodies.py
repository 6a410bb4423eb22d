"""Writing what was said: each body once, and which session it belongs to."""

import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from handoff_console.store.errors import BodyConflict

KEYS_REMEMBERED = 20_000
"""Digests whose row is known without asking; about 3 MB."""


class References(NamedTuple):
    """The bodies that a session names for the first time in this transaction."""

    key: int
    """Of the row: the session's number * 2^32 + which such row of the session it is, from 0."""
    digests: Sequence[str]
    """32 hexadecimal digits each."""


class BodyWriter:
    """Puts bodies into the open transaction of a connection, and remembers where they are."""

    def __init__(self, db: sqlite3.Connection) -> None:
        self._cursor = db.cursor()
        self._keys: dict[str, int] = {}

    def close(self) -> None:
        """Let go of the connection."""
        self._cursor.close()

    def forget(self) -> None:
        """Ask the store again from here on: bodies were deleted, or a transaction was given up."""
        self._keys.clear()

    def write(self, contents: Mapping[str, bytes], references: Iterable[References]) -> None:
        """Insert the bodies that are new, and note which session each belongs to.

        Args:
            contents: Bodies by digest, as canonical JSON; every digest of `references` is in it.
            references: One for each session that names some.

        Raises:
            BodyConflict: A digest stands for other content in the store, which only a file that
                was tampered with and imported brings about.
        """
        keys = self._keys
        if len(keys) > KEYS_REMEMBERED:
            keys.clear()
        unknown = {digest: text for digest, text in contents.items() if digest not in keys}
        if unknown:
            self._insert(unknown)
        self._cursor.executemany(
            "insert into body_refs values (?, ?)",
            [
                (key, f"[{','.join([str(keys[digest]) for digest in digests])}]")
                for key, digests in references
            ],
        )

    def _insert(self, unknown: dict[str, bytes]) -> None:
        # The write lock is held: nobody else can take these keys.
        (last,) = self._cursor.execute("select max(body) from bodies").fetchone()
        first = (last or 0) + 1
        rows = [
            (key, bytes.fromhex(digest), content.decode())
            for key, (digest, content) in enumerate(unknown.items(), first)
        ]
        self._cursor.executemany("insert or ignore into bodies values (?, ?, ?)", rows)
        if self._cursor.rowcount == len(rows):
            self._keys.update(zip(unknown, range(first, first + len(rows)), strict=True))
            return
        for _, digest, content in rows:
            key, found = self._cursor.execute(
                "select body, content from bodies where digest = ?", (digest,)
            ).fetchone()
            if found != content:
                raise BodyConflict(digest.hex())
            self._keys[digest.hex()] = key
