"""Which of two prompt versions routes better: the verdict, three figures, and what changed."""

from collections.abc import Sequence

import streamlit as st

from handoff_console.console import compare_queries
from handoff_console.console import compare_state as where
from handoff_console.console.components.compare_case import (
    chosen_session,
    show_case,
    show_no_case,
)
from handoff_console.console.components.compare_cases import case_table, chosen_case
from handoff_console.console.components.compare_head import show_comparison_head
from handoff_console.console.components.labels import label
from handoff_console.console.components.panel import panel, tag
from handoff_console.console.screens import (
    compare_elsewhere,
    compare_export,
    compare_folded,
    compare_start,
)
from handoff_console.console.viewmodels.compare_case import case_view
from handoff_console.console.viewmodels.compare_page import comparison_head
from handoff_console.console.viewmodels.compare_rows import (
    Wanted,
    case_lines,
    cell_words,
    chip_word,
    matching,
    showing_cases,
    shown_chips,
)
from handoff_console.console.viewmodels.experiments import choice_words
from handoff_console.console.viewmodels.text import one_line
from handoff_console.store.analysis.comparison.result import Comparison
from handoff_console.store.experiments import ExperimentLine

PAGE_ROWS = 25
CASE_HEIGHT = "clamp(320px, calc(100vh - 470px), 760px)"


def show_comparison() -> None:
    """Draw the comparison that the address names, or the newest; first what is to be done."""
    found = compare_queries.experiments()
    compare_start.show(first=not found)
    if compare_start.is_running():
        return
    if not found:
        compare_elsewhere.watch((), "")
        return
    ids = [line.experiment_id for line in found]
    asked = where.selected_experiment()
    chosen = next((it for it in ids if asked and it.startswith(asked)), None)
    if asked and chosen is None:
        panel("no_experiment", [tag("p.text", f"There is no experiment {asked!r} in this store.")])
    where.stay_at(chosen or ids[0])
    compare_elsewhere.watch(found, chosen or ids[0])
    comparison = _choose(found, chosen or ids[0])
    if comparison is None:
        return
    show_comparison_head(comparison_head(comparison))
    _show_cases(comparison)
    compare_folded.show(comparison)
    compare_export.show(comparison)


def _choose(found: Sequence[ExperimentLine], experiment_id: str) -> Comparison | None:
    words = choice_words(found)
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        ids = list(words)
        picked = st.selectbox(
            "Experiment",
            ids,
            index=ids.index(experiment_id),
            format_func=words.__getitem__,
            key=f"experiment-{experiment_id}",
            width=480,
        )
        if picked != experiment_id:
            where.select_experiment(picked)
            st.rerun()
        labels = list(next(it.labels for it in found if it.experiment_id == picked))
        if len(labels) < 2:
            panel(
                "one_version",
                [tag("p.text", "This experiment has one version only; a comparison needs two.")],
            )
            return None
        a, b = where.selected_pair()
        a = a if a in labels else labels[0]
        b = b if b in labels and b != a else next(it for it in labels if it != a)
        a = _version("A, the baseline", labels, a, f"a-{picked}")
        b = _version("B, the candidate", [it for it in labels if it != a], b, f"b-{picked}-{a}")
    where.select_pair(a, b)
    return compare_queries.marked(compare_queries.comparison(compare_queries.stamp(picked), a, b))


def _version(title: str, labels: list[str], chosen: str, key: str) -> str:
    place = labels.index(chosen) if chosen in labels else 0
    return st.selectbox(
        title, labels, index=place, format_func=lambda it: one_line(it, 60), key=key, width=170
    )


def _show_cases(comparison: Comparison) -> None:
    names = (one_line(comparison.a.label, 40), one_line(comparison.b.label, 40))
    wanted = _wanted(comparison, names)
    rows = matching(comparison, wanted)
    pages = max(1, -(-len(rows) // PAGE_ROWS))
    page = min(where.page_of_cases(), pages)
    first = (page - 1) * PAGE_ROWS
    shown = rows[first : first + PAGE_ROWS]
    ids = [row.case.case_id for row in shown]
    asked = where.selected_case()
    case_id = asked if asked in ids or (asked and not ids) else (ids[0] if ids else "")
    said = showing_cases(len(shown), first + 1, len(rows), wanted)
    left, right = st.columns([12, 9], gap="medium")
    with left:
        panel("showing_cases", [tag("span.small.quiet.number", said)])
        if shown:
            case_table(case_lines(shown), names, case_id, _on_choose)
        if pages > 1:
            turned = st.pagination(pages, default=page, key=f"case-pages-{pages}-{page}")
            if turned != page:
                where.turn_page(turned)
                st.rerun()
    with right:
        view = case_view(comparison, case_id) if case_id else None
        if view is None:
            show_no_case("Choose a case to see both decisions side by side.", CASE_HEIGHT)
        else:
            show_case(view, CASE_HEIGHT, _on_session)


def _wanted(comparison: Comparison, names: tuple[str, str]) -> Wanted:
    """Draw what narrows the cases, and return which are wanted."""
    wanted = where.wanted_cases()
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        chips = shown_chips(comparison.counts)
        chip = st.pills(
            "Cases",
            chips,
            default=wanted.chip if wanted.chip in chips else chips[0],
            format_func=lambda it: chip_word(it, comparison.counts),
            required=True,
            label_visibility="collapsed",
            key=f"chip-{wanted.chip}",
        )
        where.want_chip(chip)
        text = st.text_input(
            "Find",
            value=wanted.text,
            placeholder="Find in the cases",
            label_visibility="collapsed",
            type="search",
            live=True,
            key=where.FIND,
            width=220,
        )
        where.want_text((text or "").strip())
        wanted = where.wanted_cases()
        cell = cell_words(wanted, names)
        if cell:
            st.button(label(f"✕ {cell}"), on_click=where.leave_cell, key="leave_cell")
    return wanted


def _on_choose() -> None:
    chosen = chosen_case()
    if chosen:
        where.select_case(chosen)


def _on_session() -> None:
    verb, session_id = chosen_session()
    if session_id:
        where.leave_for_session(session_id, rerun=verb == "rerun")
