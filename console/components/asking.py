"""What a session waits for, and the ways to answer: yes to exactly this, yes with changes, no."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import streamlit as st

from handoff_console.console.commands.json_values import typed_value
from handoff_console.console.commands.left_out_values import Asked
from handoff_console.console.components.labels import label
from handoff_console.console.components.left_out import left_out_form
from handoff_console.console.components.panel import Node, panel, status, tag
from handoff_console.console.viewmodels.asking import (
    ActShown,
    ArgumentShown,
    Asking,
    Piece,
    QuestionShown,
)
from handoff_console.console.viewmodels.text import count

NOTE_CHARACTERS = 2_000
ANSWER_CHARACTERS = 20_000


@dataclass(frozen=True)
class Replies:
    """What the buttons do."""

    decide: Callable[[ActShown, bool, Mapping[str, Any], str], None]
    """With the act, yes or no, the arguments that were changed, and a note."""
    answer: Callable[[QuestionShown, str], None]
    go_on: Callable[[], None]


def show_asking(
    found: Asking,
    replies: Replies,
    *,
    going_on: bool = False,
    left_out: Sequence[Asked] = (),
    of_acts: Sequence[Asked] = (),
) -> None:
    """Draw everything that a session waits for; nothing where it waits for nobody.

    Args:
        found: What it waits for.
        replies: What the buttons do.
        going_on: It goes on at this moment, with what was said.
        left_out: What was left out of its record, and it cannot go on without.
        of_acts: What has to be said together with a yes to an act that holds some of it.
    """
    if found.is_empty:
        return
    with st.container(border=True, key="asking"):
        for act in found.acts:
            _show_act(found.session_id, act, replies, of_acts)
        for question in found.questions:
            _show_question(found.session_id, question, replies)
        if found.can_go_on and not going_on:
            _show_go_on(found, replies, left_out)


def _show_go_on(found: Asking, replies: Replies, left_out: Sequence[Asked]) -> None:
    name = "Go on" if not found.left else "Go on with what was said so far"
    if left_out:
        left_out_form(left_out, found.session_id, name, replies.go_on)
        return
    with st.container(horizontal=True, vertical_alignment="center"):
        st.button(name, key="asking_go_on", on_click=replies.go_on)
        if found.left:
            st.caption(f"{count(found.left, 'more is', 'more are')} waited for.")


def _show_act(session_id: str, act: ActShown, replies: Replies, left_out: Sequence[Asked]) -> None:
    key = f"asked/{session_id}/{act.approval_id}"
    panel(f"{key}/head", [_act_head(act)])
    changes = act.is_open and _wants_changes(key, act)
    if changes:
        for argument in act.arguments:
            _field(key, argument, act)
    else:
        panel(f"{key}/sent", [_sent(act)])
    if not act.is_open:
        panel(f"{key}/said", [tag("p.text", act.said or act.expires)])
        return
    note = st.text_input(
        "Note",
        key=f"{key}/note",
        max_chars=NOTE_CHARACTERS,
        placeholder="Why; kept in the record (may stay empty)",
        label_visibility="collapsed",
    )
    yes, no = _answers(key, act, replies, note, changes=changes)
    verb = act.words.verb
    name = f"Yes, {verb} it as changed" if changes else f"Yes, {verb} exactly this"
    if act.left_out:
        left_out_form(left_out, session_id, name, yes, at=act.approval_id)
    with st.container(horizontal=True):
        if not act.left_out:
            st.button(name, key=f"{key}/yes", type="primary", on_click=yes)
        st.button(f"No, do not {verb} it", key=f"{key}/no", on_click=no)


def _act_head(act: ActShown) -> Node:
    return tag(
        "div",
        tag(
            "div.row",
            status("waiting"),
            tag("span.big.text", act.title),
            tag("span.tinted.small", act.effect, outcome="needs_input"),
            tag("span.quiet.small.end", act.where),
        ),
        tag("div.quiet.small", f"Asked {act.asked}. {act.expires if act.is_open else ''}"),
    )


def _wants_changes(key: str, act: ActShown) -> bool:
    """Ask whether something is to be changed, and say what was left out of the record."""
    if act.left_out:
        panel(
            f"{key}/missing",
            [
                tag(
                    "p.problem",
                    f"The value of {', '.join(act.left_out)} was left out of the record: say it "
                    "below together with a yes, or say no.",
                    outcome="needs_input",
                )
            ],
        )
    return bool(act.arguments) and st.toggle(
        f"Change what is {act.words.done}", key=f"{key}/change"
    )


def _sent(act: ActShown) -> Node:
    if not act.arguments:
        return tag("p.quiet", "It is used without arguments.")
    rows: list[Node] = []
    for argument in act.arguments:
        size = [tag("div.small", argument.size)] if argument.size else []
        shown = [shown_piece(piece) for piece in argument.pieces] or [tag("span.quiet", "(empty)")]
        rows += [tag("dt.text", argument.name, *size), tag("dd", tag("pre.sent", *shown))]
    head = f"{'This was to be' if act.expired else 'Exactly this will be'} {act.words.done}"
    if act.is_open and act.left_out:
        head += ", with what you say below in the place of its mark"
    return tag("div", tag("h3", head), tag("dl", *rows))


def shown_piece(piece: Piece) -> Node:
    """Return a piece of a text with what nobody could see in it made visible."""
    if piece.kind == "plain":
        return piece.text
    if piece.kind == "space":
        return tag("span.space", piece.text, title="Spaces at the beginning or end of a line")
    return tag("span.sign", piece.text, title="A sign that cannot be seen", outcome="error")


def _field(key: str, argument: ArgumentShown, act: ActShown) -> None:
    name = f"{argument.name} ({argument.takes})" if argument.takes else argument.name
    shown, place = label(name), f"{key}/value/{argument.key}"
    before = "" if argument.left_out else argument.typed
    empty = "Empty: as it was" if argument.left_out else ""
    if argument.is_long:
        typed = st.text_area(shown, before, key=place, height=140, placeholder=empty)
    else:
        typed = st.text_input(shown, before, key=place, placeholder=empty)
    problem = _problem(argument, act, typed)
    if problem:
        panel(f"{place}/problem", [tag("p.problem.small", f"✕ {problem}", outcome="error")])


def _problem(argument: ArgumentShown, act: ActShown, typed: str) -> str:
    if typed == ("" if argument.left_out else argument.typed):
        return ""
    try:
        typed_value(typed, argument.schema, act.root)
    except ValueError as error:
        return str(error)
    return ""


def _answers(
    key: str, act: ActShown, replies: Replies, note: str, *, changes: bool
) -> tuple[Callable[[], None], Callable[[], None]]:
    """Return what a yes does, and what a no does."""

    def yes() -> None:
        values = _typed(key, act) if changes else {}
        if values is not None:
            replies.decide(act, True, values, _now(f"{key}/note", note))

    def no() -> None:
        replies.decide(act, False, {}, _now(f"{key}/note", note))

    return yes, no


def _typed(key: str, act: ActShown) -> dict[str, Any] | None:
    """Return the arguments that were changed; None where one of them does not fit."""
    changed: dict[str, Any] = {}
    for argument in act.arguments:
        before = "" if argument.left_out else argument.typed
        typed = _now(f"{key}/value/{argument.key}", before)
        if _problem(argument, act, typed):
            return None
        if typed != before:
            changed[argument.key] = typed_value(typed, argument.schema, act.root)
    return changed


def _show_question(session_id: str, question: QuestionShown, replies: Replies) -> None:
    key = f"asked/{session_id}/{question.subject}"
    head = tag(
        "div.row",
        status("waiting"),
        tag("span.big.text", question.title),
        tag("span.quiet.small.end", question.where),
    )
    said = [tag("h3", "Answered"), tag("p.text.lines", question.said)] if question.said else []
    panel(f"{key}/question", [head, tag("p.text.lines", question.text), *said])
    if not question.is_open:
        return

    with st.form(f"{key}/form", border=False, clear_on_submit=False):
        st.text_input(
            "Your answer",
            key=f"{key}/answer",
            max_chars=ANSWER_CHARACTERS,
            placeholder="Your answer",
            label_visibility="collapsed",
        )
        st.form_submit_button(
            "Send the answer",
            type="primary",
            on_click=lambda: replies.answer(question, _now(f"{key}/answer", "")),
        )


def _now(key: str, before: str) -> str:
    """Return what stands in a field at this moment: inside a callback it may be newer."""
    return str(st.session_state.get(key, before) or "")
