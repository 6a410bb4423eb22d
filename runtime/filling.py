"""Values that were left out of a record, said again by a person.

A value is put where its mark stands, and counts only if leaving it out once more gives the record
to the byte. Nothing of it is written.
"""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import chain
from typing import Any

from handoff_console.runtime.canonical import canonical_text
from handoff_console.runtime.errors import RequestError, choices
from handoff_console.runtime.events import Recording, SessionStarted
from handoff_console.runtime.gaps import derived, gaps_in, gaps_of, said_in, sources
from handoff_console.runtime.recorded_rules import other_redaction, redaction_rules, tells_rules
from handoff_console.runtime.redaction import MARK, Redaction


def filled(
    recording: Recording, values: Mapping[str, Sequence[str]], redaction: Redaction
) -> Recording:
    """Return a recording that says what was said, with the values in the place of their marks.

    Only what was redacted as it was written: what the gate removed on its way to a worker, that
    worker has never read.

    Args:
        recording: The session.
        values: By the mark's name, for all places, or by `NAME in PLACE`. Several values of a name
            go to the marks of a text in order; one goes to all of them.
        redaction: The flow's rules. Where they are others than it was recorded with, a right value
            may be refused, and is said to be.

    Raises:
        RequestError: There is no such mark, or the value is not what was left out there.
    """
    known = names_left_out(recording)
    for name in values:
        if name not in known:
            names = [one for one in known if " in " not in one]
            raise RequestError(
                f"No value {redaction.clean_text(name)!r} was left out of session "
                f"{recording.session_id!r}; left out were: {choices(names, 'none')}."
            )
    return with_bodies(recording, _bodies(recording, values, redaction))


def names_left_out(recording: Recording) -> list[str]:
    """Return every name that a value can be given by, also with its place."""
    names: dict[str, None] = {}
    for source in (*sources(recording), *derived(recording)):
        for gap in gaps_of(recording, source):
            names |= dict.fromkeys((gap.name, f"{gap.name} in {gap.place}"))
    return list(names)


def filled_together(
    recordings: Sequence[Recording], values: Mapping[str, Sequence[str]], redaction: Redaction
) -> list[Recording]:
    """Return recordings that belong together with the values, each with those that it misses.

    Raises:
        RequestError: A value is missed by none of them, or is not what was left out.
    """
    known = [names_left_out(one) for one in recordings]
    unknown = {name: given for name, given in values.items() if name not in {*chain(*known)}}
    if unknown:
        filled(recordings[0], unknown, redaction)  # says what there is
    return [
        filled(one, {name: values[name] for name in values if name in names}, redaction)
        for one, names in zip(recordings, known, strict=True)
    ]


def with_bodies(recording: Recording, texts: Mapping[str, str]) -> Recording:
    """Return a recording of which some bodies are known as they were before they were redacted.

    Args:
        recording: The session.
        texts: Their JSON, by the digest of what was written; an empty one is not known.
    """

    def body(digest: str) -> Any:
        text = texts.get(digest)
        return json.loads(text) if text else recording.body(digest)

    return replace(recording, body=body) if texts else recording


def _bodies(
    recording: Recording, values: Mapping[str, Sequence[str]], redaction: Redaction
) -> dict[str, str]:
    """Return the JSON of every body that a value was left out of, with the values in it."""
    bodies: dict[str, str] = {}
    for source in (*sources(recording), *derived(recording)):
        if source.digest in bodies or not gaps_of(recording, source):
            continue
        filling = _Filling(source.place, values, redaction)
        text = filling.text(said_in(recording, source))
        if text is None:
            raise RequestError(f"{filling.refusal}{_of_rules(recording, redaction)}")
        if source.keys:
            text = canonical_text({**recording.body(source.digest), **json.loads(text)})
        bodies[source.digest] = text
    return bodies


def _of_rules(recording: Recording, redaction: Redaction) -> str:
    """Return what is to be known of the rules where a value is refused."""
    started = recording.events[0].payload
    recorded = recording.body(started.flow_digest) if isinstance(started, SessionStarted) else {}
    if not tells_rules(recorded):
        return (
            " This record does not say by which redaction rules it was written: if the flow's are "
            "others by now, put the former ones back into it."
        )
    how = other_redaction(redaction_rules(redaction), recorded["redaction"])
    if not how:
        return ""
    return (
        f" The redaction rules differ from the recorded ones: {how}. As long as they do, a right "
        "value is refused too: put the recorded rules back into the flow, or leave the mark."
    )


class _Filling:
    """Puts values into one body."""

    def __init__(
        self, place: str, values: Mapping[str, Sequence[str]], redaction: Redaction
    ) -> None:
        self._place, self._values, self._redaction = place, values, redaction
        self._left: dict[str, list[str]] = {}
        """Values that are still to be put in, by name."""

    def text(self, body: Any) -> str | None:
        """Return the body's JSON with the values in it; None where they were not left out of it.

        Raises:
            RequestError: There are more or fewer of them than marks.
        """
        for gap in gaps_in(self._place, body):
            given = self._values.get(f"{gap.name} in {self._place}") or self._values.get(gap.name)
            if given and len(given) not in (1, gap.marks):
                raise RequestError(
                    f"{gap.name!r} was left out {gap.marks} times in {self._place}, and "
                    f"{len(given)} values are given for it; give one for all, or {gap.marks}."
                )
            if given:
                self._left[gap.name] = list(given) * (gap.marks if len(given) == 1 else 1)
        whole = self._filled(body)
        if canonical_text(self._redaction.clean(json.loads(canonical_text(whole)))) != (
            canonical_text(body)
        ):
            return None
        return canonical_text(whole)

    @property
    def refusal(self) -> str:
        """What to say where they are not what was left out."""
        return (
            f"What is given for {choices(self._left)} is not what was left out in {self._place}: "
            "written down it would not stand there as it does. Give the value as it was said, with "
            "all that belongs to it."
        )

    def _filled(self, value: Any) -> Any:
        if isinstance(value, str):
            return MARK.sub(self._value_of, value)
        if isinstance(value, Mapping):
            return {self._filled(key): self._filled(value[key]) for key in sorted(value)}
        if isinstance(value, list | tuple):
            return [self._filled(item) for item in value]
        return value

    def _value_of(self, mark: re.Match[str]) -> str:
        left = self._left.get(mark[1])
        return left.pop(0) if left else mark[0]
