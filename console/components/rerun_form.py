"""The form for running a handoff again: what is changed, each thing in a field of its own.

What stands in the fields is read before they are drawn, so that a mistake is said where it is.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import streamlit as st

from handoff_console.console.commands.rerun_fields import has_marks
from handoff_console.console.components.asking import shown_piece
from handoff_console.console.components.form_state import LIMIT_WORDS, FormState, limits_of
from handoff_console.console.components.labels import label
from handoff_console.console.components.panel import panel, tag
from handoff_console.console.viewmodels.asking import pieces
from handoff_console.console.viewmodels.text import as_name, one_line
from handoff_console.runtime.rerun_player import Mode

TABS = ("Request", "Tools and limits", "Prompt and model", "Tool results")
LONG_CHARACTERS = 90
"""A longer value gets a field of several lines."""
AS_RECORDED = "as recorded"


def rerun_form(state: FormState, problems: Mapping[str, str]) -> None:
    """Draw the fields for what is changed, with what is wrong beside each.

    Those come first that have to do with how it ended.
    """
    first = TABS[1] if state.start.is_bound else TABS[0]
    request, bounds, words, results = st.tabs(TABS, default=first)
    with request:
        _request(state, problems)
    with bounds:
        _bounds(state, problems)
    with words:
        _words(state, problems)
    with results:
        _results(state, problems)


def mode_field(state: FormState, modes: Mapping[Mode, tuple[str, str]]) -> None:
    """Draw the choice of the mode, with what the chosen one does.

    Sentences for all of them would push the button out of a small window.

    Args:
        state: The form.
        modes: Title and sentence of each mode.
    """
    chosen = st.radio(
        "How much is real",
        [mode.value for mode in modes],
        format_func=lambda mode: modes[Mode(mode)][0],
        horizontal=True,
        help="\n\n".join(f"**{title}**: {sentence}" for title, sentence in modes.values()),
        key=state.prepared("mode", state.before.mode.value),
    )
    panel("mode", [tag("p.quiet", modes[Mode(chosen)][1])])


def times_field(state: FormState) -> None:
    """Draw the choice of how often it runs."""
    st.number_input(
        "How many times", step=1, key=state.prepared("times", 1), width=150, help=_TIMES
    )


_TIMES = "Several times show how often it comes out how, with the interval of the true share."


def graft_choice(state: FormState, reruns: Mapping[str, str]) -> None:
    """Draw the choice of a re-run whose answers are taken over; nothing where there is none.

    Args:
        state: The form.
        reruns: Sessions, each with what to call it.
    """
    if not reruns:
        return
    if state.value("graft", "") not in reruns:
        state.put("graft", "")
    st.selectbox(
        "Take over the answers of",
        ["", *reruns],
        format_func=lambda name: reruns.get(name, "no re-run: it is run anew"),
        key=state.prepared("graft", ""),
    )


def _request(state: FormState, problems: Mapping[str, str]) -> None:
    before = state.before
    if has_marks(state.start):
        st.checkbox(
            "Let the marks be read where values were left out of the record",
            key=state.prepared("leave_marks", False),
        )
    high = 140 if len(before.task) > LONG_CHARACTERS else 70
    st.text_area("Task", key=state.prepared("task", before.task), height=high)
    _below(state, problems, "task")
    for name, text in before.inputs.items():
        field, leave = st.columns([5, 1], vertical_alignment="bottom")
        missing = name in state.start.inputs and not text and bool(state.start.inputs[name])
        with field:
            _value(
                state,
                f"inputs.{name}",
                f"Input {name}",
                text,
                placeholder="left out of the record: type it" if missing else "",
            )
        with leave:
            st.checkbox("leave out", key=state.prepared(f"left_out.{name}", False))
        _below(state, problems, f"inputs.{name}")
    st.text_area(
        "Further inputs, a line each: name = value",
        key=state.prepared("more_inputs", ""),
        height=70,
        placeholder='month = "2026-10"',
    )
    _below(state, problems, "more_inputs")
    if state.start.recorded.packet is not None:
        _packet(state, problems)


def _packet(state: FormState, problems: Mapping[str, str]) -> None:
    before = state.before
    for name, title in (("goal", "Goal of the packet"), ("summary", "Summary of the packet")):
        st.text_area(title, key=state.prepared(name, getattr(before, name)), height=70)
        _below(state, problems, name)
    for name, text in before.claimed.items():
        _value(state, f"claimed.{name}", f"Only claimed: {name}", text)
        _below(state, problems, f"claimed.{name}")


def _bounds(state: FormState, problems: Mapping[str, str]) -> None:
    start, before = state.start, state.before
    tools = [tool.name for tool in start.agent.tools]
    if tools:
        st.multiselect(
            "Tools it may use",
            tools,
            format_func=lambda name: f"{name} ({start.agent.tools_by_name[name].effect.value})",
            key=state.prepared("tools", [name for name in before.tools if name in tools]),
            placeholder="None: choose tools",
        )
        _problem(problems, "tools")
    else:
        panel("no-tools", [tag("p.quiet", f"{as_name(start.agent.name)} has no tools.")])
    columns = st.columns(3)
    for column, (name, number) in zip(columns, limits_of(before), strict=False):
        whole = name != "deadline_seconds"
        with column:
            st.number_input(
                LIMIT_WORDS[name],
                step=1 if whole else 1.0,
                format="%d" if whole else "%g",
                key=state.prepared(f"limits.{name}", number),
            )
            _problem(problems, f"limits.{name}")
    if start.schemas != (before.output_schema,):
        st.selectbox(
            "It has to answer with",
            start.schemas,
            key=state.prepared("output_schema", before.output_schema),
        )
        _problem(problems, "output_schema")
    if start.writes:
        _acts(state, problems)


def _acts(state: FormState, problems: Mapping[str, str]) -> None:
    for name, question, said in (
        (
            "armed",
            "Let these act again (mode Live; each asks you first)",
            "Otherwise an act that was done answers with its original result.",
        ),
        (
            "denied",
            "Pretend that a person said no to these",
            "For a yes in the place of a no, pretend what the tool returned.",
        ),
    ):
        st.multiselect(
            question,
            state.start.writes,
            key=state.prepared(name, []),
            help=said,
            placeholder="None",
        )
        _problem(problems, name)


def _words(state: FormState, problems: Mapping[str, str]) -> None:
    start, before = state.start, state.before
    if not start.reads_prompt:
        panel("rules", [tag("p.quiet", "This worker follows rules; it does not read its prompt.")])
    if start.prompt_versions:
        st.selectbox(
            "Prompt",
            [AS_RECORDED, *start.prompt_versions],
            format_func=lambda name: name if name == AS_RECORDED else f"version {name}",
            key=state.prepared("version", AS_RECORDED),
            on_change=lambda: _take_version(state),
        )
    st.text_area(
        f"Instructions of {label(one_line(start.agent.name, 60))}",
        key=state.prepared("prompt", before.prompt),
        height=260,
    )
    _below(state, problems, "prompt")
    st.text_input(
        "Model",
        key=state.prepared("model", ""),
        placeholder=one_line(start.asks, 80),
        help="`offline:bm25`, or a live model with its settings: `openai:MODEL?temperature=0`.",
    )
    _problem(problems, "model")


def _take_version(state: FormState) -> None:
    version = state.value("version", AS_RECORDED)
    state.put("prompt", state.start.prompt_versions.get(version, state.before.prompt))


def _results(state: FormState, problems: Mapping[str, str]) -> None:
    calls = {call.place: call for call in state.start.calls}
    if not calls:
        panel("no-calls", [tag("p.quiet", "No tool answered it when this was recorded.")])
        return

    def said(place: str) -> str:
        call = calls[place]
        return f"step {place.partition('.')[0]}: {call.tool} {one_line(call.arguments, 60)}"

    chosen: Sequence[str] = st.multiselect(
        "Pretend that these returned something else",
        list(calls),
        format_func=said,
        key=state.prepared("results", []),
        placeholder="Choose calls",
    )
    for place in chosen:
        st.text_area(
            f"{label(said(place))} returned",
            key=state.prepared(f"tool_results.{place}", calls[place].returned),
            height=160 if len(calls[place].returned) > 2 * LONG_CHARACTERS else 90,
        )
        _below(state, problems, f"tool_results.{place}")


def _value(state: FormState, field: str, title: str, text: str, *, placeholder: str = "") -> None:
    draw: Callable[..., Any] = st.text_input
    more: dict[str, Any] = {}
    if len(text) > LONG_CHARACTERS or "\n" in text:
        draw, more = st.text_area, {"height": 110}
    draw(
        label(one_line(title, 60)),
        key=state.prepared(field, text),
        placeholder=placeholder,
        **more,
    )


def _below(state: FormState, problems: Mapping[str, str], field: str) -> None:
    """Say below a field for text what is wrong with it, and what in it cannot be seen.

    A field shows a text as it is: a mark in it may turn the line around, or hide.
    """
    _problem(problems, field)
    shown = pieces(str(state.value(field, "")))
    signs = Counter(piece.text for piece in shown if piece.kind == "sign")
    if not signs:
        return
    said, text = "With the signs that cannot be seen:", tag("pre.sent", *map(shown_piece, shown))
    nodes = [tag("span.small.quiet", said), text]
    if sum(len(piece.text) for piece in shown) > LONG_CHARACTERS:
        which = ", ".join(f"{number} × {sign}" for sign, number in signs.most_common(3))
        more = " and others" if len(signs) > 3 else ""
        nodes = [tag("details", tag("summary.small.quiet", f"{said} {which}{more}"), text)]
    panel(f"signs {field}", nodes)


def _problem(problems: Mapping[str, str], field: str) -> None:
    said = problems.get(field)
    if said:
        panel(f"problem {field}", [tag("p.small.text.problem", f"✕ {said}", outcome="error")])
