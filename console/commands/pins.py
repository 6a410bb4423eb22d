"""A recorded handoff as a test: with its recorded answers it has to come to its recorded result.

`handoff export SESSION --to pytest HANDOFF` writes the test and, beside it, the recording; the test
calls `verify_pinned`. No model and no tool is asked, so it takes no key, no network and no time.
"""

import asyncio
import difflib
import io
import json
import os
import re
import tempfile
import zipfile
from collections.abc import Callable, Mapping
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from handoff_console.console.commands.errors import CommandError
from handoff_console.console.commands.flow_files import file_reference
from handoff_console.console.commands.moving import export_sessions, import_file, whole_file
from handoff_console.console.commands.recorded_flows import flow_for, record_read, started_of
from handoff_console.runtime import EventList, Recording
from handoff_console.runtime.errors import ReplayDiverged
from handoff_console.runtime.events import context_chain
from handoff_console.runtime.recorded import find_handoff, recorded_result
from handoff_console.runtime.rerun import rerun
from handoff_console.runtime.taping import read_tape
from handoff_console.store import reader
from handoff_console.store.db import open_reader
from handoff_console.store.recordings import recording_of

_LINE = 88
"""Characters of a line of the test, about."""
_PINNED = ("status", "data", "notes")
"""Of a result, what its reader reads."""


@dataclass(frozen=True)
class Verified:
    """What a recorded handoff comes to now, given its recorded answers."""

    result: Mapping[str, Any] | None
    """Status, data and notes; None where it asked for something else than was recorded."""
    explanation: str
    """Where it parts from the recording, and in what; empty where it does not."""


class Pin(NamedTuple):
    """The two files of a pinned handoff."""

    test: Path
    recording: Path


def verify_pinned(flow: str, recording_file: Path, handoff_id: str) -> Verified:
    """Run a handoff of a recorded session against its recorded answers.

    Args:
        flow: A sample, or `path/to/file.py:name`.
        recording_file: The session, as `handoff export` writes it.
        handoff_id: Which of its handoffs.

    Raises:
        HandoffConsoleError: The file, the flow or the handoff cannot be used; the text says why.
    """
    with tempfile.TemporaryDirectory(prefix="handoff-pin-") as folder:
        store = Path(folder) / "pinned.db"
        session_id, *_ = import_file(store, recording_file).new
        with closing(open_reader(store)) as db:
            recording = recording_of(db, session_id)
            named = flow if file_reference(flow) else ""
            recorded = flow_for(recording, named)
            sink = EventList(reader.digest_key(db))
            try:
                came = asyncio.run(rerun(recorded.flow, recording, handoff_id, sink=sink))
            except ReplayDiverged:
                return Verified(None, _explanation(recording, sink))
    result = came.session.result.model_dump(mode="json")
    return Verified({name: result[name] for name in _PINNED}, "")


def write_pin(
    store_path: Path, asked: str, handoff_id: str, *, named: str = "", output: Path | None = None
) -> Pin:
    """Write a test that pins a recorded handoff, and its recording beside it.

    Args:
        store_path: The store.
        asked: The session, or how its id begins or ends.
        handoff_id: Which of its handoffs.
        named: The flow: `path/to/file.py:name`; empty where a sample ran.
        output: The test's file; by default named after flow, agent and handoff, in the current
            folder, where it must not be there yet.

    Raises:
        RequestError: There is no such handoff.
        FlowNotNamed: The session ran a file, and the file is not named.
        CommandError: The handoff has no result, or the file is there already.
    """
    drawn = _drawn(store_path, asked, handoff_id, named)
    path = (output or Path(drawn.name)).absolute()
    if output is None and path.exists():
        raise CommandError(f"{path} is there already; name another file with -o FILE.")
    pin = Pin(path, path.with_suffix(".jsonl"))
    flow = _relative(named, path) if named else drawn.flow
    with whole_file(pin.recording) as file:
        export_sessions(store_path, [drawn.session_id], file.write)
    with whole_file(pin.test) as file:
        file.write(drawn.test(flow, pin.recording.name).encode())
    return pin


def zipped_pin(store_path: Path, session_id: str, handoff_id: str, *, named: str = "") -> bytes:
    """Return a ZIP file with a test that pins a recorded handoff, and its recording.

    Nobody knows where it will be unpacked, so a flow of the user's own is named by its whole path.

    Raises:
        HandoffConsoleError: As `write_pin`.
    """
    drawn = _drawn(store_path, session_id, handoff_id, named)
    reference = file_reference(named)
    flow = _quoted(f"{reference.path.absolute()}:{reference.name}") if reference else drawn.flow
    recording = Path(drawn.name).with_suffix(".jsonl").name
    lines, packed = io.BytesIO(), io.BytesIO()
    export_sessions(store_path, [drawn.session_id], lines.write)
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr(drawn.name, drawn.test(flow, recording))
        file.writestr(recording, lines.getvalue())
    return packed.getvalue()


class _Drawn(NamedTuple):
    """A handoff that can be pinned, and the words of its test."""

    session_id: str
    name: str
    """Of the test's file."""
    flow: str
    """The expression that names the flow that the record names; a sample."""
    agent: str
    handoff_id: str
    pinned: Mapping[str, Any]

    def test(self, flow: str, recording: str) -> str:
        """Return the test's text."""
        return _TEST.format(
            agent=_word(self.agent),
            handoff=_word(self.handoff_id),
            session=_word(self.session_id, "[^A-Za-z0-9._-]"),
            flow=flow,
            recording=_quoted(recording),
            handoff_id=_quoted(self.handoff_id),
            result=_literal(self.pinned),
        )


def _drawn(store_path: Path, asked: str, handoff_id: str, named: str) -> _Drawn:
    with closing(open_reader(store_path)) as db:
        session_id = reader.resolve_session(db, asked)
        recording = recording_of(db, session_id)
        with record_read(session_id):
            found = find_handoff(recording, handoff_id)
            flow_for(recording, named)
            place = found.event.path or "", found.event.attempt
            result = recorded_result(recording, read_tape(recording), *place)
        started = started_of(recording)
    if result is None:
        raise CommandError(
            f"The handoff {handoff_id!r} has no result yet that could be held; resume the session "
            "first."
        )
    agent = found.opened.target
    words = "_".join(map(_word, (started.flow, agent, handoff_id)))
    return _Drawn(
        session_id=session_id,
        name=f"test_{words}.py",
        flow=_quoted(started.flow_source),
        agent=agent,
        handoff_id=handoff_id,
        pinned={name: result.model_dump(mode="json")[name] for name in _PINNED},
    )


_TEST = '''\
"""What {agent} ({handoff}) of session {session} came to, held by its recorded answers.

Written by `handoff export --to pytest`. No model and no tool is asked: what they answered is in the
file beside this one. When the flow is meant to ask for something else, record and export it anew.
"""

from pathlib import Path

from handoff_console.console.commands.pins import verify_pinned

HERE = Path(__file__).parent


def test_{agent}_{handoff}_comes_to_its_recorded_result():
    came = verify_pinned({flow}, HERE / {recording}, {handoff_id})

    assert not came.explanation, came.explanation
    assert came.result == {result}
'''


def _literal(value: Any, indent: int = 4) -> str:
    """Return a JSON value as Python source, a line an item where it is long."""
    if isinstance(value, str):
        return _quoted(value)
    short = repr(value)
    inside = " " * (indent + 4)
    if isinstance(value, dict):
        items = [f"{_quoted(name)}: {_literal(item, indent + 4)}" for name, item in value.items()]
        opening, closing = "{", "}"
    elif isinstance(value, list):
        items = [_literal(item, indent + 4) for item in value]
        opening, closing = "[", "]"
    else:
        return short
    if indent + len(short) <= _LINE and not any("\n" in item for item in items):
        return f"{opening}{', '.join(items)}{closing}"
    lines = "".join(f"{inside}{item},\n" for item in items)
    return f"{opening}\n{lines}{' ' * indent}{closing}"


def _quoted(text: str) -> str:
    shown = repr(text)  # escapes whatever cannot be printed
    return shown if "'" in text or '"' in text else f'"{shown[1:-1]}"'


def _word(text: str, others: str = "[^A-Za-z0-9]") -> str:
    """Return text as a part of a name: it may be anything, and stands in code."""
    return re.sub(others, "_", text)[:60] or "_"


def _relative(named: str, test: Path) -> str:
    """Return the expression that names the user's file from beside the test."""
    reference = file_reference(named)
    if reference is None:
        return _quoted(named)
    way = Path(os.path.relpath(reference.path.absolute(), test.parent)).as_posix()
    place = f"str(HERE / {_quoted(way)})"
    return f"{place} + {_quoted(':' + reference.name)}" if reference.name else place


def _explanation(recording: Recording, sink: EventList) -> str:
    """Return where the questions part, with both of them side by side."""
    parted = next(e.payload for e in sink.events if e.kind == "replay_diverged")
    place, was, now = (getattr(parted, name) for name in ("place", "recorded", "asked"))
    before = _lines(was, recording.body) if was else ["(nothing)"]
    after = _lines(now, lambda name: _either(name, sink, recording))
    shown = list(difflib.unified_diff(before, after, "recorded", "now", lineterm="", n=1))
    return "\n".join([f"At {place} the flow asks for something else than was recorded:", *shown])


def _either(name: str, sink: EventList, recording: Recording) -> Any:
    return sink.body(name) if name in sink.bodies else recording.body(name)


def _lines(name: str, body: Callable[[str], Any]) -> list[str]:
    """Return what a digest stands for as lines: the messages of a context, or a value."""
    value = body(name)
    if not isinstance(value, dict) or value.keys() != {"previous", "messages"}:
        return json.dumps(value, indent=2, ensure_ascii=False).split("\n")
    digests, _ = context_chain(name, body)
    return [
        line
        for message in map(body, digests)
        for line in f"{message['role']}: {message['content']}".split("\n")
    ]
