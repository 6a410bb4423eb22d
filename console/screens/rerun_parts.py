"""The parts of the page on which a handoff is run again."""

from collections.abc import Mapping, Sequence

import streamlit as st

from handoff_console.console import (
    family_queries,
    queries,
    rerun_queries,
    rerun_state,
    settings,
    shell_lines,
    state,
)
from handoff_console.console.commands.background import start_rerun
from handoff_console.console.commands.errors import FlowNotNamed
from handoff_console.console.commands.jobs import Job, job_of
from handoff_console.console.commands.pins import zipped_pin
from handoff_console.console.commands.rerun_fields import read_fields
from handoff_console.console.commands.rerun_start import Start
from handoff_console.console.components.form_state import FormState
from handoff_console.console.components.labels import label as as_label
from handoff_console.console.components.panel import panel, tag
from handoff_console.console.components.rerun_form import (
    graft_choice,
    mode_field,
    rerun_form,
    times_field,
)
from handoff_console.console.components.rerun_plan import show_plan, show_problems, show_subject
from handoff_console.console.queries import Version
from handoff_console.console.screens import attempt_parts
from handoff_console.console.viewmodels.attempts import edit_lines
from handoff_console.console.viewmodels.rerun_plan import MODE_SENTENCES, MODE_TITLES, plan_view
from handoff_console.console.viewmodels.text import as_name, one_line, seconds
from handoff_console.runtime.contract import Status
from handoff_console.runtime.errors import HandoffConsoleError
from handoff_console.runtime.rerun_player import Mode
from handoff_console.store.analysis.lineage import Attempt

MODES = {mode: (MODE_TITLES[mode], MODE_SENTENCES[mode]) for mode in Mode}
POLL_SECONDS = 0.5


def refusal(version: Version, handoff_id: str, error: HandoffConsoleError) -> None:
    """Say why this handoff cannot be run again, and what to do."""
    nodes = [tag("p.big", f"{handoff_id} cannot be run again here"), tag("p.text", str(error))]
    if isinstance(error, FlowNotNamed):
        source = rerun_queries.flow_of(version.session_id)[0] or "path/to/file.py:name"
        command = f'handoff open "{settings.store_path()}" --flow "{source}"'
        nodes += [
            tag("p.text", "Code is loaded only when you name it: start the console with"),
            tag("pre", command),
        ]
    panel("refusal", nodes)
    asker = rerun_queries.asked_by(version, handoff_id)
    if asker:
        st.page_link(
            "screens/rerun.py",
            label=f"↻ Re-run {as_label(as_name(asker))}, which asked for it",
            query_params=rerun_state.rerun_address(version.session_id, asker),
        )


def subject(start: Start) -> None:
    """Draw which handoff it is."""
    show_subject(
        f"Run {as_name(start.agent.name)} ({start.handoff_id}) again",
        start.outcome,
        one_line(start.recorded.request.task, 300),
        [start.recorded.event.path or "", one_line(start.flow.source or start.flow.flow.name, 60)],
    )


def fields(form: FormState) -> Mapping[str, str]:
    """Draw the fields; return what is wrong in them."""
    problems = read_fields(form.start, form.fields()).problems
    rerun_form(form, problems)
    st.button("Put everything back", on_click=form.clear, type="tertiary")
    return problems


def plan(form: FormState, problems: Mapping[str, str]) -> None:
    """Draw how it is run, what it will take, and the button that starts it."""
    mode_field(form, MODES)
    order = read_fields(form.start, form.fields()).order
    if order.mode is Mode.CONTINUE:
        graft_choice(form, _grafts(form.start))
    problem = dict(problems)
    if not problem:
        try:
            show_plan(plan_view(rerun_queries.plan(form.start.session_id, order), order))
        except HandoffConsoleError as error:
            problem = {"": str(error)}
    if problem:
        show_problems(problem)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        times_field(form)
        st.button(
            "Run it again",
            type="primary",
            on_click=lambda: start_it(form),
            disabled=bool(problem),
            width="stretch",
        )
    said = state.said()
    if said and said not in problem.values():
        panel("problem", [tag("div.verdict.text", said, outcome="error")])
    state.say("")  # what hindered the last start may be mended by the next look
    if not problem:
        st.caption("The same from a shell")
        command = shell_lines.rerun_line(form.start.session_id, order)
        st.code(command, language="bash", wrap_lines=True)


def keep_as_test(start: Start) -> None:
    """Offer the test that holds this handoff to its recorded result; it has to have one."""
    if start.outcome not in {status.value for status in Status}:
        return
    path = settings.store_path()
    name = f"{start.flow.flow.name}-{start.agent.name}-{start.handoff_id}".replace("/", "-")
    with st.expander("Keep it as a test"):
        st.caption(
            "A pytest file, and the recording beside it: with its recorded answers the handoff has "
            "to come to this result again. No model is asked, and no tool runs."
        )
        st.download_button(
            "Download the test",
            lambda: zipped_pin(path, start.session_id, start.handoff_id, named=start.named),
            file_name=f"test-{name}.zip",
            mime="application/zip",
            on_click="ignore",
        )
        st.code(shell_lines.pin_command(start), language="bash", wrap_lines=True)


def start_it(form: FormState) -> None:
    """Start what the form says, unless something in it is wrong; nothing has started then."""
    read = read_fields(form.start, form.fields())
    if read.problems:
        return
    try:
        run = start_rerun(settings.store_path(), form.start.session_id, read.order)
    except HandoffConsoleError as error:
        state.say(str(error))
        return
    state.say("")
    if run:
        rerun_state.watch(run)
    rerun_state.follow(run or None)


def progress(version: Version, handoff_id: str, run: str) -> bool:
    """Draw how far a run is, and go to the comparison when it is over.

    Of one that is over already only the way to its comparison: the way back from there leads here.

    Returns:
        It is under way.
    """
    attempt_parts.leave()
    job = job_of(run)
    if not _is_over(job, run):
        rerun_state.watch(run)
        st.fragment(lambda: _watch(version, handoff_id, run), run_every=POLL_SECONDS)()
        return True
    if job and job.problem:
        state.say(job.problem)
    address = rerun_state.sides_address(version.session_id, run, handoff_id)
    if rerun_state.was_watched(run):
        st.switch_page("screens/side_by_side.py", query_params=address)
    if queries.version(run):
        label = "⇄ What was started here is over: compare it"
        st.page_link("screens/side_by_side.py", label=label, query_params=address)
    return False


def _watch(version: Version, handoff_id: str, run: str) -> None:
    job = job_of(run)
    if _is_over(job, run):
        st.rerun()
    what = _what_runs(version, handoff_id, run, job.total if job else 1)
    panel("running", [tag("p.big.text", what[0]), *(tag("p.quiet.text", one) for one in what[1:])])
    if job and job.total > 1:
        st.progress(job.done / job.total, text=f"{job.done} of {job.total} runs are done")
    if job:
        label = "Stopping …" if job.was_stopped else "Stop"
        st.button(label, on_click=job.stop, disabled=job.was_stopped)
    attempt_parts.strip(version.session_id, handoff_id, (run, handoff_id))
    if rerun_state.is_leaving():
        st.rerun()


def _what_runs(version: Version, handoff_id: str, run: str, times: int) -> Sequence[str]:
    """Return which re-run is under way: of whom, since when, how, and with what change."""
    member = family_queries.member_of(run)
    if member is None or not member.mode:
        return ("It runs …",)
    node = queries.record(version).judgement.tree.by_id.get(handoff_id)
    who = f"{as_name(node.agent)} ({as_name(handoff_id)})" if node else "It"
    often = f", {times} times" if times > 1 else ""
    since = seconds(family_queries.running_seconds(member.version))
    mode, changes = Mode(member.mode), rerun_queries.rerun_sentence(member).changes
    return (
        f"{who} runs again{often} … {since}",
        f"{MODE_TITLES[mode]}: {MODE_SENTENCES[mode]}",
        changes,
    )


def _is_over(job: Job | None, run: str) -> bool:
    return job.is_over if job else not queries.is_running(run)


def _grafts(start: Start) -> dict[str, str]:
    """Return re-runs of this handoff in this session whose answers can be taken over."""
    members = family_queries.family(start.session_id)
    fitting = {
        member.version.session_id
        for member in members
        if member.is_alone
        and (member.rerun_of, member.handoff_id) == (start.session_id, start.handoff_id)
    }
    found = rerun_queries.handoff_attempts(members, start.handoff_id)
    return {one.session_id: _graft(one) for one in found if one.session_id in fitting}


def _graft(attempt: Attempt) -> str:
    """Return what to call a re-run, with what was changed for it: that comes with its answers."""
    changed = one_line("; ".join(edit_lines(attempt.edits)), 120)
    how = f"attempt {attempt.number}: {MODE_TITLES[Mode(attempt.mode)]}, {attempt.outcome}"
    return f"{how} · {changed}" if changed else how
