"""Every exception of the store, in one place; the text of each is one sentence for the user.

```
StoreError (HandoffConsoleError)
├── SqliteTooOld         this Python's SQLite lacks what a store needs
├── OpenError            the file cannot be opened as a store
│   ├── StoreMissing         there is no such file, or no such folder
│   ├── StoreIsFolder        the path names a folder
│   ├── FolderNotWritable    nothing can be created or written there
│   ├── FileNotWritable      the file may be read only
│   ├── FileNotReadable      the file may not be read
│   ├── NetworkDrive         several processes cannot share it safely there
│   ├── NotSqlite            the file is something else
│   ├── StoreBroken          a SQLite file that is damaged from its first page on
│   ├── ForeignStore         a SQLite file of another program
│   ├── StoreTooNew          written by a newer version of this program
│   └── StoreTooOld          has to be migrated first, and a reader may not
├── WriteFailed          a transaction was given up; nothing of it was written
│   ├── StoreBusy            another process kept the store locked
│   └── SinkUnusable         what records is closed, or belongs to another thread
├── StoreDamaged         a row cannot be read
├── BodyConflict         one digest, two contents
├── SessionError         about one session
│   ├── SessionUnknown
│   ├── SessionAmbiguous
│   ├── SessionExists        the same id with other content
│   ├── SessionRunning       it is being written now
│   ├── SessionHeld          another process goes on with it now
│   └── AlreadySaid          a person decided or answered before
├── ExperimentUnknown    there is no such experiment, or several
└── ImportRefused        a file cannot be imported; `line` is where
```
"""

from collections.abc import Sequence
from pathlib import Path

from handoff_console.runtime.errors import HandoffConsoleError


class StoreError(HandoffConsoleError):
    """Something about a store of sessions."""


class SqliteTooOld(StoreError):
    """This Python was built with a SQLite that lacks what a store needs."""

    def __init__(self, found: str, needed: str) -> None:
        self.found, self.needed = found, needed
        super().__init__(
            f"This Python has SQLite {found}, and a store needs {needed} with full-text search; "
            "use another build of Python."
        )


class OpenError(StoreError):
    """A file cannot be opened as a store; nothing was changed."""

    def __init__(self, path: Path, sentence: str) -> None:
        self.path = path
        super().__init__(sentence)


class StoreMissing(OpenError):
    """There is no file at this path."""

    def __init__(self, path: Path) -> None:
        if path.parent.is_dir():
            what = (
                f"There is no store at {path}; check the path, or make one with `handoff run` or "
                "`handoff import` (`handoff demo` shows samples without one)."
            )
        else:
            what = f"There is no folder {path.parent}; create it first or choose another path."
        super().__init__(path, what)


class StoreIsFolder(OpenError):
    """The path names a folder."""

    def __init__(self, path: Path) -> None:
        super().__init__(path, f"{path} is a folder; name the store's file inside it.")


class FolderNotWritable(OpenError):
    """The folder does not let this user create or change files."""

    def __init__(self, path: Path) -> None:
        super().__init__(
            path,
            f"The folder {path.parent} may not be written to, which a store needs; choose another "
            "path or change the folder's permissions.",
        )


class FileNotWritable(OpenError):
    """The file may be read only."""

    def __init__(self, path: Path) -> None:
        super().__init__(
            path,
            f"{path} may be read only; copy it to where you may write, or change its permissions.",
        )


class FileNotReadable(OpenError):
    """The file may not be read by this user."""

    def __init__(self, path: Path) -> None:
        super().__init__(
            path,
            f"{path} may not be read; ask its owner, or change its permissions.",
        )


class NetworkDrive(OpenError):
    """The file lies on a network drive, where processes cannot share it safely."""

    def __init__(self, path: Path, file_system: str) -> None:
        self.file_system = file_system
        super().__init__(
            path,
            f"{path} is on a network drive ({file_system}), where a store can be damaged; copy it "
            "to a disk of this machine and open the copy.",
        )


class NotSqlite(OpenError):
    """The file is no SQLite database."""

    def __init__(self, path: Path) -> None:
        super().__init__(
            path,
            f"{path} is not a store; name a file that this program wrote, or a new one. To read "
            "recorded sessions of another form, use `handoff import`.",
        )


class StoreBroken(OpenError):
    """The file is damaged where SQLite begins to read it."""

    def __init__(self, path: Path) -> None:
        super().__init__(
            path,
            f"{path} is damaged, so that nothing in it can be read; restore a copy of it, together "
            "with no older `-wal` file beside it.",
        )


class ForeignStore(OpenError):
    """The file is a SQLite database of another program."""

    def __init__(self, path: Path) -> None:
        super().__init__(
            path,
            f"{path} is a SQLite database of another program, which is left alone; name a file "
            "that this program wrote, or a new one.",
        )


class StoreTooNew(OpenError):
    """The file was written by a newer version of this program."""

    def __init__(self, path: Path, found: int, known: int) -> None:
        self.found, self.known = found, known
        super().__init__(
            path,
            f"{path} has schema version {found}, and this program knows versions up to {known}; "
            "install the newer version of handoff-console that wrote it.",
        )


class StoreTooOld(OpenError):
    """The file has to be migrated, and it was opened for reading only."""

    def __init__(self, path: Path, found: int, known: int) -> None:
        self.found, self.known = found, known
        super().__init__(
            path,
            f"{path} has schema version {found}, and version {known} is needed; run "
            f"`handoff doctor --db {path}` once, which keeps a backup and migrates it.",
        )


class WriteFailed(StoreError):
    """A transaction was given up; the store is as it was before it."""


class StoreBusy(WriteFailed):
    """Another process kept the store locked for too long."""


class SinkUnusable(WriteFailed):
    """What records into a store is closed, or belongs to another thread; nothing was taken."""

    def __init__(self, why: str) -> None:
        super().__init__(
            f"This sink {why}; open one where it is used: `with open_sink(path) as sink:`. Several "
            "may record into one store."
        )


class StoreDamaged(StoreError):
    """Something in the store cannot be read."""


class BodyConflict(StoreError):
    """A digest stands for other content in the store; only a forged file brings that about."""

    def __init__(self, digest: str) -> None:
        self.digest = digest
        super().__init__(
            f"The store holds other content under the digest {digest}, so an imported session is "
            "not what it claims to be; delete imported sessions, or use another store."
        )


class SessionError(StoreError):
    """A question about one session has no answer."""


class SessionUnknown(SessionError):
    """No session has this id, or an id that begins or ends so."""

    def __init__(self, asked: str) -> None:
        self.asked = asked
        super().__init__(
            f"There is no session {asked!r} in this store; `handoff list` shows those there are."
        )


class SessionAmbiguous(SessionError):
    """Several sessions have an id that begins or ends so."""

    def __init__(self, asked: str, candidates: Sequence[str], more: int) -> None:
        self.asked, self.candidates, self.more = asked, tuple(candidates), more
        rest = f" and {more} more" if more else ""
        super().__init__(
            f"{asked!r} fits several sessions: {', '.join(self.candidates)}{rest}; give more of "
            "the id."
        )


class SessionExists(SessionError):
    """The store has a session of this id already, with other content."""

    def __init__(self, session_id: str) -> None:
        self.session_id = session_id
        super().__init__(
            f"The store has a session {session_id!r} already, with other content; delete it first, "
            "or use another store."
        )


class SessionRunning(SessionError):
    """A process of this machine is writing the session."""

    def __init__(self, session_id: str, pid: int) -> None:
        self.session_id, self.pid = session_id, pid
        super().__init__(
            f"Session {session_id!r} is running in process {pid}; wait for its end, or end the "
            "process, before you delete it."
        )


class SessionHeld(SessionError):
    """Another process goes on with the session."""

    def __init__(self, session_id: str, pid: int, host: str = "") -> None:
        self.session_id, self.pid, self.host = session_id, pid, host
        where = f" on {host!r} (another machine)" if host else ""
        what = "or say --take-over if it is gone" if host else "or end the process"
        super().__init__(
            f"Process {pid}{where} goes on with session {session_id!r} now; wait for it, {what}."
        )


class AlreadySaid(SessionError):
    """A person said something about this before, and it counts once."""

    def __init__(self, session_id: str, subject: str, said_by: str) -> None:
        self.session_id, self.subject, self.said_by = session_id, subject, said_by
        by = f" by {said_by}" if said_by else ""
        super().__init__(
            f"{subject} of session {session_id!r} was dealt with before{by}, and that counts; "
            f"`handoff show {session_id}` says how to go on."
        )


class ImportRefused(StoreError):
    """A file cannot be imported; sessions before the bad one are in the store, it is not."""

    def __init__(self, source: str, line: int | None, problem: str) -> None:
        self.source, self.line, self.problem = source, line, problem
        where = source if line is None else f"{source}, line {line}"
        super().__init__(f"{where}: {problem}")


class ExperimentUnknown(StoreError):
    """No experiment has this id, or an id that begins or ends so; or several have."""

    def __init__(self, asked: str, candidates: Sequence[str]) -> None:
        self.asked, self.candidates = asked, tuple(candidates)
        if candidates:
            sentence = f"{asked!r} may be any of: {', '.join(candidates[:5])}; name one of them."
        elif asked:
            sentence = (
                f"There is no experiment {asked!r} in this store; `handoff compare` runs one."
            )
        else:
            sentence = "There is no experiment in this store yet; `handoff compare` runs one."
        super().__init__(sentence)
