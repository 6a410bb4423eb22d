"""The labelling queue on the page: a key, or a click, says who should get a case."""

from collections.abc import Callable, Mapping
from dataclasses import asdict

import streamlit as st

from handoff_console.console.components.source import source
from handoff_console.console.components.wire import wire
from handoff_console.console.viewmodels.labelling import LabellingView

KEY = "labelling"

_mount = st.components.v2.component(
    "labelling",
    html="""
    <div id="labelling"></div>
    """,
    css=source("common.css", "labelling.css"),
    js=source("common.js", "labelling.js"),
)


def labelling_queue(
    view: LabellingView, *, scope: str, saved: Mapping[str, str], on_given: Callable[[], None]
) -> None:
    """Draw the queue.

    Args:
        view: What to label.
        scope: Changes with the labeller and with the cases: what was given before is forgotten.
        saved: What is kept of this labeller, by case.
        on_given: Runs when labels were given (`given_labels`).
    """
    nothing = "There is no case to label."
    finished = "All cases are labelled. Download the data set, or ask a second person."
    queue = [
        {"id": it.case_id, "text": it.text, "why": it.why, "guesses": list(it.guesses)}
        for it in view.queue
    ]
    given = {case_id for case_id, _ in _given()}
    _mount(
        key=KEY,
        data=wire(
            {
                "queue": queue,
                "choices": [asdict(choice) for choice in view.choices],
                "labeller": view.labeller,
                "done": view.done,
                "total": view.total,
                "scope": scope,
                # Only what the page may still be sending: the rest it has no need to know.
                "saved": [[case_id, saved.get(case_id, "")] for case_id in sorted(given)],
                "finished": finished,
                "nothing": nothing,
            }
        ),
        on_given_change=on_given,
    )


def given_labels() -> list[tuple[str, str]]:
    """Return what was given and may not be kept yet, by case; an empty label takes one back."""
    return _given()


def _given() -> list[tuple[str, str]]:
    given = (st.session_state.get(KEY) or {}).get("given")
    labels = given.get("labels") if isinstance(given, dict) else None
    if not isinstance(labels, list):
        return []
    return [
        (pair[0], pair[1])
        for pair in labels
        if isinstance(pair, list) and len(pair) == 2 and all(isinstance(it, str) for it in pair)
    ]
