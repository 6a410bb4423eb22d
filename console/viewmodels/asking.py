"""What a session waits for, as a person sees it who is to decide: every sign of what will be done.

Nothing is left out of an argument here: spaces at the end of a line are marked, and signs that
cannot be seen stand with their number, since a yes is a yes to exactly this.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

from handoff_console.console.commands.json_values import Schema, kinds_of
from handoff_console.console.commands.waiting import Pending, PendingApproval, PendingQuestion
from handoff_console.console.viewmodels.header import moment
from handoff_console.console.viewmodels.text import as_name, block, count, one_line, seconds
from handoff_console.runtime import Decision
from handoff_console.runtime.contract import HUMAN, Effect

LONG_TEXT = 60
"""A text of more characters gets a field of several lines."""
LONG_VALUE = 200
"""A value of more characters says how many it has."""
ROOM_CHARACTERS, ROOM_LINES = 1_000, 12
"""What fits on a small page without scrolling."""

_PARTS = re.compile(r"[ \t]+(?=\n|\Z)|\A[ \t]+|(?<=\n)[ \t]+")
_EFFECTS: Mapping[Effect, str] = {
    Effect.READ: "it only reads",
    Effect.WRITE: "it changes something of yours",
    Effect.EXTERNAL: "it reaches people or systems outside",
}


class ActWords(NamedTuple):
    """The verb for what a yes does, by the act's effect: only what leaves the house is sent."""

    verb: str
    """`send`."""
    done: str
    """`sent`."""


_WORDS: Mapping[Effect, ActWords] = {
    Effect.READ: ActWords("ask for", "asked for"),
    Effect.WRITE: ActWords("write", "written"),
    Effect.EXTERNAL: ActWords("send", "sent"),
}


def act_words(effect: Effect) -> ActWords:
    """Return what is said of an act with such an effect."""
    return _WORDS[effect]


class Piece(NamedTuple):
    """A stretch of an argument."""

    text: str
    kind: Literal["plain", "space", "sign"]
    """`space` at the beginning or end of a line, drawn as `·`; `sign`: one that cannot be seen."""


@dataclass(frozen=True, slots=True)
class ArgumentShown:
    """One argument of an act, as the tool will get it."""

    name: str
    key: str
    """Its name as it is, however long."""
    pieces: tuple[Piece, ...]
    size: str
    """`1,204 characters`, for a long text, and that it has to be scrolled; else empty."""
    typed: str
    """What stands in the field when it is changed."""
    schema: Schema
    is_long: bool
    """The field needs several lines."""
    takes: str
    """What the field takes, in a few words; empty for a text."""
    left_out: bool
    """Its value was left out of the record, so it is said together with a yes."""


@dataclass(frozen=True, slots=True)
class ActShown:
    """An act that waits for a yes."""

    approval_id: str
    shown: str
    """The digest of what is shown: what a yes is bound to."""
    handoff_id: str
    title: str
    """`clerk wants to use letters.send`."""
    effect: str
    words: ActWords
    where: str
    """`h2 · t1/2.0`: the handoff and its place in the tree."""
    asked: str
    expires: str
    """`no answer by … is a no`, or that it is too late."""
    expired: bool
    arguments: tuple[ArgumentShown, ...]
    root: Schema
    """The schema of all arguments together."""
    said: str
    """Who decided what; empty while nobody has."""

    @property
    def left_out(self) -> tuple[str, ...]:
        """Arguments that hold a value which was left out of the record."""
        return tuple(argument.name for argument in self.arguments if argument.left_out)

    @property
    def is_open(self) -> bool:
        """Whether somebody can still decide."""
        return not self.said and not self.expired


@dataclass(frozen=True, slots=True)
class QuestionShown:
    """A question that waits for an answer."""

    subject: str
    handoff_id: str
    title: str
    """`triage asks`."""
    where: str
    text: str
    said: str
    """What somebody answered; empty while nobody has."""

    @property
    def is_open(self) -> bool:
        """Whether somebody can still answer."""
        return not self.said


@dataclass(frozen=True, slots=True)
class Asking:
    """All that a session waits for."""

    session_id: str
    acts: tuple[ActShown, ...] = ()
    questions: tuple[QuestionShown, ...] = ()

    @property
    def is_empty(self) -> bool:
        """Whether it waits for nobody."""
        return not self.acts and not self.questions

    @property
    def left(self) -> int:
        """How many decisions and answers are still missing."""
        return len(self._asked) - len(self._said)

    @property
    def can_go_on(self) -> bool:
        """Whether something was said, or came too late, that the session can go on with."""
        return bool(self._said)

    @property
    def _asked(self) -> tuple[ActShown | QuestionShown, ...]:
        return (*self.acts, *self.questions)

    @property
    def _said(self) -> list[ActShown | QuestionShown]:
        return [one for one in self._asked if not one.is_open]


def asking(found: Pending, *, now: float) -> Asking:
    """Return what a session waits for, ready to be shown.

    Args:
        found: What waits.
        now: The time of day, in seconds since 1970.
    """
    return Asking(
        found.session_id,
        tuple(_act(one, now) for one in found.approvals),
        tuple(_question(one) for one in found.questions),
    )


def pieces(text: str) -> tuple[Piece, ...]:
    """Return a text in pieces that show all of it, to the last space."""
    found: list[Piece] = []
    start = 0
    for match in _PARTS.finditer(text):
        found += _signs(text[start : match.start()])
        if match[0]:
            found.append(Piece(match[0].replace(" ", "·").replace("\t", "→"), "space"))
        start = match.end()
    return (*found, *_signs(text[start:]))


def readable(text: str) -> str:
    """Return a text for a terminal, where signs that nobody could see stand as `[U+001B]`."""
    return "".join(
        f"[{piece.text}]" if piece.kind == "sign" else piece.text for piece in _signs(text)
    )


def _signs(text: str) -> list[Piece]:
    """Return a stretch of text with the signs apart that nobody could see."""
    if text.replace("\n", "").replace("\t", "").isprintable() and block(text, len(text)) == text:
        return [Piece(text, "plain")] if text else []
    found: list[Piece] = []
    plain = ""
    for sign in text:
        if sign in "\n\t" or (sign.isprintable() and block(sign) == sign):
            plain += sign
            continue
        if plain:
            found.append(Piece(plain, "plain"))
        found.append(Piece(f"U+{ord(sign):04X}", "sign"))
        plain = ""
    return [*found, Piece(plain, "plain")] if plain else found


def _act(one: PendingApproval, now: float) -> ActShown:
    said = one.said
    values = {**one.arguments, **(said.arguments or {})} if said else one.arguments
    schema: Mapping[str, Schema] = one.parameters.get("properties", {})
    return ActShown(
        approval_id=one.approval_id,
        shown=one.shown,
        handoff_id=one.handoff_id,
        title=f"{as_name(one.agent)} wants to use {as_name(one.tool)}",
        effect=f"{one.effect.value}: {_EFFECTS[one.effect]}",
        words=act_words(one.effect),
        where=" · ".join(filter(None, (one.handoff_id, one.path))),
        asked=moment(one.asked_at),
        expires=_expires(one, now),
        expired=now > one.expires_at,
        arguments=tuple(
            _argument(name, value, schema.get(name, {}), one.parameters, name in one.left_out)
            for name, value in values.items()
        ),
        root=one.parameters,
        said=_said(said) if said else "",
    )


def _argument(name: str, value: Any, schema: Schema, root: Schema, left_out: bool) -> ArgumentShown:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, indent=2)
    typed = text if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return ArgumentShown(
        name=one_line(name, 40),
        key=name,
        pieces=pieces(text) if isinstance(value, str) else tuple(_signs(text)),
        size=_size(text),
        typed=typed,
        schema=schema,
        is_long=len(typed) > LONG_TEXT or "\n" in typed,
        takes=_takes(schema, kinds_of(schema, root), as_text=isinstance(value, str)),
        left_out=left_out,
    )


def _size(text: str) -> str:
    if len(text) <= LONG_VALUE:
        return ""
    scrolls = len(text) > ROOM_CHARACTERS or text.count("\n") > ROOM_LINES
    return f"{count(len(text), 'character')}{'; scroll to read all of them' if scrolls else ''}"


def _takes(schema: Schema, kinds: set[str], *, as_text: bool) -> str:
    if as_text and kinds in ({"string"}, set()):
        return ""
    if values := schema.get("enum"):
        return f"one of: {', '.join(str(one) for one in values)}"
    words = {"integer": "a whole number", "number": "a number", "boolean": "true or false"}
    said = [words.get(kind, "") for kind in sorted(kinds) if kind != "string"]
    return " or ".join(filter(None, said)) or ("" if "string" in kinds else "JSON")


def _expires(one: PendingApproval, now: float) -> str:
    if now > one.expires_at:
        return f"Nobody answered until {moment(one.expires_at)}, which is a no."
    return f"No answer within {seconds(one.expires_at - now)} is a no."


def _said(said: Decision) -> str:
    word = "Yes" if said.approved else "No"
    changed = ", with changes" if said.approved and said.arguments else ""
    note = f": {one_line(said.note, 200)}" if said.note else ""
    return f"{word}{changed}, says {one_line(said.decided_by, 60) or 'somebody'}{note}"


def _question(one: PendingQuestion) -> QuestionShown:
    to_person = one.agent == HUMAN
    return QuestionShown(
        subject=one.subject,
        handoff_id=one.handoff_id,
        title="A person is asked" if to_person else f"{as_name(one.agent)} asks",
        where=" · ".join(filter(None, (one.handoff_id, one.path))),
        text=block(one.text, 10_000),
        said="" if one.said is None else block(one.said, 2_000),
    )
