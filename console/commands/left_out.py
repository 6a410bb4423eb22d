"""What somebody would be asked with that the record does not hold: marks where values were.

A value that was left out of a request is asked for before anything runs (`prepare`); nobody can be
made to say all that tools and workers returned, so of those it is said what stands there instead.
"""

from collections.abc import Iterator

from handoff_console.console.commands.rerun_orders import Prepared
from handoff_console.console.commands.rerun_past import Answers
from handoff_console.runtime.contract import ContextPolicy, Effect
from handoff_console.runtime.edits import Edits
from handoff_console.runtime.recorded import agent_of
from handoff_console.runtime.redaction import has_mark
from handoff_console.runtime.rerun_player import Mode
from handoff_console.store.analysis.plain_text import listed


def left_out_notes(ready: Prepared, mode: Mode) -> Iterator[str]:
    """Yield where a model would read a mark in the place of a value, a sentence each."""
    if mode is Mode.VERIFY:
        return
    answers = ready.past.answers
    if mode is Mode.CONTINUE:
        yield from _of_session(ready, answers)
        return
    tools = list(dict.fromkeys(_tools(ready, answers, mode)))
    if tools:
        again = ", or let live-reads ask it again" if mode is Mode.WHAT_IF else ""
        yield (
            f"What {listed(tools)} returned holds a value that was left out of the record, and the "
            "model reads a mark in its place; say the value with --value, or pretend that it "
            f"returned the whole of it{again}."
        )
    workers = list(dict.fromkeys(answers.marked_workers)) if mode is Mode.WHAT_IF else []
    if workers:
        yield (
            f"What {listed(workers)} answered holds a value that was left out of the record, and "
            "the model reads a mark in its place; live-reads asks whom it calls again."
        )
    history = ready.recorded.first_messages
    if ready.recorded.opened.context_policy != ContextPolicy.PACKET and any(
        map(has_mark, history[:-1])
    ):
        yield (
            "The conversation that came along holds a value that was left out of the record, and "
            "the model reads a mark in its place; say the value with --value."
        )


def _tools(ready: Prepared, answers: Answers, mode: Mode) -> Iterator[str]:
    """Yield the tools whose recorded results are read, and hold a mark."""
    effects = {tool.name: tool.effect for tool in agent_of(ready.flow.flow, ready.recorded).tools}
    for name, place in answers.marked:
        is_asked = mode is not Mode.WHAT_IF and effects.get(name) is Effect.READ
        if not is_asked and not _is_said(ready.edits, name, place):
            yield name


def _is_said(edits: Edits, name: str, place: str) -> bool:
    return bool({name, place} & edits.tool_results.keys()) or name in {*edits.armed, *edits.denied}


def _of_session(ready: Prepared, answers: Answers) -> Iterator[str]:
    """Yield what is to be known of a session that goes on, where something of it is asked live."""
    is_live = ready.graft is not None or bool(ready.edits.described())
    if is_live and answers.has_marks:
        yield (
            "Values were left out of this record; whoever is really asked from here on reads marks "
            "in their place, but for those that are said with --value."
        )
