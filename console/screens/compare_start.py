"""A comparison that was started in the page: how far it is; and the way to the next one."""

import streamlit as st

from handoff_console.console import compare_queries, comparisons, settings
from handoff_console.console import compare_state as where
from handoff_console.console.comparisons import FIRST, Asked
from handoff_console.console.components.panel import panel, tag
from handoff_console.console.screens import compare_form
from handoff_console.console.viewmodels.experiments import progress_view
from handoff_console.console.viewmodels.text import one_line
from handoff_console.runtime.errors import HandoffConsoleError

POLL_SECONDS = 1.0


def show(*, first: bool) -> None:
    """Draw how far a comparison is that was started here, or what can be started.

    Args:
        first: Nothing was compared in this store yet: say what to do.
    """
    running = where.followed_job()
    job = comparisons.comparison_job(running) if running else None
    if job is not None and not job.is_over:
        st.fragment(_follow, run_every=POLL_SECONDS)()
        return
    if job is not None and job.problem:
        where.tell(job.problem, failed=True)
    where.follow_job("")
    _say()
    prepared = where.prepared()
    if first and not (prepared and prepared.b):
        _show_first()
    title = "Compare two versions" if first else "Compare other versions, or on other cases"
    # A key of its own for each title: a browser keeps one open that it knows, whatever it is told.
    key = where.FIRST_FOLD if first else where.START_FOLD
    # What it costs is looked up in there: nobody waits for that with the form closed.
    with st.expander(title, key=key, on_change="rerun") as fold:
        if fold.open:
            compare_form.show(start)


def is_running() -> bool:
    """Say whether a comparison that was started here is at work."""
    job = comparisons.comparison_job(where.followed_job())
    return job is not None and not job.is_over


def start(asked: Asked) -> None:
    """Start a comparison, and follow it; what hinders it is said."""
    try:
        experiment_id = comparisons.start(asked)
    except HandoffConsoleError as error:
        where.tell(str(error), failed=True)
        return
    where.prepare_start("", "", "")
    where.follow_job(experiment_id)
    where.select_experiment(experiment_id)


def _follow() -> None:
    experiment_id = where.followed_job()
    job = comparisons.comparison_job(experiment_id)
    if job is None or job.is_over:
        st.rerun()
    found = progress_view(compare_queries.progress(experiment_id))
    panel("job_title", [tag("p.big", "Comparing"), tag("p.number", found.sentence)])
    st.progress(found.share)
    note = "Closing this page stops nothing. What has run is kept, also when you stop."
    panel("job_note", [tag("p.small.quiet", note)])
    st.button("Stop", on_click=job.stop.stop, key="stop_comparison")


def _say() -> None:
    said = where.told()
    if said:
        tone = "error" if said.failed else "ok"
        panel("start_said", [tag("div.verdict.text", said.text, outcome=tone, role="alert")])


def _show_first() -> None:
    a, b = FIRST.sides
    command = (
        f"handoff compare {a} {b} --dataset {FIRST.dataset} "
        f'--db "{one_line(str(settings.store_path()), 400)}"'
    )
    panel(
        "compare_empty",
        [
            tag("p.big", "Nothing has been compared yet"),
            tag(
                "p",
                "A comparison sends the same requests through two versions of your descriptions "
                "and says which one routes better, by how much, whether that is more than chance, "
                "and which requests changed side.",
            ),
            tag(
                "p.quiet",
                f"To see one: {a} and {b} of the service desk on its 240 labelled requests. It "
                "needs no key, costs nothing and takes seconds.",
            ),
        ],
    )
    st.button(
        f"Compare {a} and {b}", type="primary", on_click=lambda: start(FIRST), key="compare_first"
    )
    panel("compare_command", [tag("p.quiet.small", "Or from a terminal:"), tag("pre", command)])
