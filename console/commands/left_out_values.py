"""Values that were left out of a record, for a session that goes on: known here, or asked for.

A process that ran a session until it waited for somebody still knows what it was told, and goes on
with that. Any other is told the values by a person. Neither writes them anywhere.
"""

import json
from collections import Counter
from collections.abc import Mapping, MutableMapping, Sequence
from dataclasses import dataclass
from threading import Lock
from typing import Any

from handoff_console.console.commands.errors import CommandError, ValuesLeftOut
from handoff_console.runtime import Recording, Redaction
from handoff_console.runtime.errors import HandoffConsoleError
from handoff_console.runtime.filling import filled_together, with_bodies
from handoff_console.runtime.gaps import Gap, gaps, gaps_in
from handoff_console.runtime.redaction import mark_of

_SESSIONS_KEPT = 500
_originals: dict[str, Mapping[str, str]] = {}
"""Of sessions that wait, what was left out of their record, as `RunOptions.originals` has it."""
_changing = Lock()


@dataclass(frozen=True)
class Asked:
    """A value that a person is asked for."""

    gap: Gap
    number: int
    """Which of the marks of its name in this place, from 1."""
    is_first: bool
    """No other of its name is asked for before; a later one may be the same value."""


def keep_while_waiting(
    session_id: str, originals: MutableMapping[str, str], *, waits: bool
) -> None:
    """Keep what was left out of a session's record while it waits; forget it when it does not."""
    with _changing:  # sessions run in threads of their own
        _originals.pop(session_id, None)
        if waits:
            _originals[session_id] = originals
            while len(_originals) > _SESSIONS_KEPT:
                _originals.pop(next(iter(_originals)))


def made_whole(
    recordings: Sequence[Recording],
    values: Mapping[str, Sequence[str]],
    redaction: Redaction,
    *,
    leave_marks: bool = False,
    says_more: bool = False,
) -> list[Recording]:
    """Return records as they were said, to go on with the first.

    Args:
        recordings: The session so far, and of a re-run what it repeats.
        values: What a person says, as `filled` takes it.
        redaction: The rules of its flow.
        leave_marks: What is still missing is read as marks.
        says_more: The user will say more after its last turn.

    Raises:
        ValuesLeftOut: Something is missing.
        RequestError: A value is not what was left out.
    """
    session_id = recordings[0].session_id
    said = filled_together(recordings, values, redaction) if values else recordings
    whole = [known_here(one, of=session_id) for one in said]
    missing = [] if leave_marks else gaps(whole[0], says_more=says_more)
    if missing:
        raise ValuesLeftOut(session_id, missing)
    return whole


def left_out(recording: Recording) -> list[Gap]:
    """Return what a person has to say before a session goes on, as far as nobody here knows it.

    A record that cannot be read misses nothing: what is wrong with it is said when it goes on.
    """
    try:
        return gaps(known_here(recording, of=recording.session_id))
    except HandoffConsoleError:
        return []


def known_here(recording: Recording, *, of: str) -> Recording:
    """Return a record with what this process knows of it, since it was said to session `of`."""
    return with_bodies(recording, _originals.get(of, {}))


def known_body(session_id: str, digest: str) -> Any:
    """Return a body as this process knows that it was before it was redacted; None where not."""
    text = _originals.get(session_id, {}).get(digest)
    return json.loads(text) if text else None


def marks_in(values: Mapping[str, Any]) -> list[str]:
    """Return what was left out of some values, by the names in its marks."""
    return [gap.name for gap in gaps_in("", values)]


def asked_for(missing: Sequence[Gap]) -> list[Asked]:
    """Return which values a person is asked for: what was said anew, of the rest each name once.

    What models and tools say mostly repeats what they were told. Of several values of a name that
    had been said by then nobody knows which one they repeat, so there they are asked about too.
    """
    values_said = Counter[str]()
    asked: list[Asked] = []
    for gap in missing:
        is_known = any(one.gap.name == gap.name for one in asked)
        values_said[gap.name] += 0 if gap.repeats else gap.marks
        said = values_said[gap.name]
        if gap.repeats and (said == 1 or (is_known and not said)):
            continue
        for number in range(1, gap.marks + 1):
            asked.append(Asked(gap, number, not is_known and number == 1))
    return asked


def said_values(asked: Sequence[Asked], said: Sequence[str]) -> dict[str, list[str]]:
    """Return what a person said, as `filled` takes it.

    Args:
        asked: What was asked for.
        said: The answers; an empty one takes the first value of the same name, or leaves the mark.
    """
    values: dict[str, list[str]] = {}
    for one, text in zip(asked, said, strict=True):
        if text:
            values.setdefault(one.gap.name, [text])
        value = text or values.get(one.gap.name, [mark_of(one.gap.name)])[0]
        values.setdefault(f"{one.gap.name} in {one.gap.place}", []).append(value)
    return values


def values_of(words: Sequence[str]) -> dict[str, list[str]]:
    """Return the values of `NAME=VALUE` and `NAME in PLACE=VALUE`, in order.

    Raises:
        CommandError: One is no such word.
    """
    values: dict[str, list[str]] = {}
    for word in words:
        name, mark, value = word.partition("=")
        if not mark or not name.strip() or not value:
            # The word itself is not said again: it may be the value, and the name is missing.
            raise CommandError(
                "A value has to be given with its name; write --value NAME=VALUE, or NAME in "
                "PLACE=VALUE."
            )
        values.setdefault(name.strip(), []).append(value)
    return values
