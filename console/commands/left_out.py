"""What somebody would be asked with that the record does not hold: marks where values were.

A value that was left out of a request is asked for before anything runs (`prepare`); nobody can be
made to say all that tools and workers returned, so of those it is said what stands there instead.
"""

from collections.abc import Iterator

from handoff_console.console.commands.rerun_orders import Prepared
from handoff_console.runtime.contract import ContextPolicy, Effect, HandoffRequest
from handoff_console.runtime.edits import Edits
from handoff_console.runtime.events import is_within
from handoff_console.runtime.recorded import agent_of
from handoff_console.runtime.redaction import has_mark
from handoff_console.runtime.rerun_player import Mode
from handoff_console.runtime.tape import Tape
from handoff_console.runtime.taping import read_tape
from handoff_console.store.analysis.plain_text import as_name, listed


def left_out_notes(ready: Prepared, mode: Mode) -> Iterator[str]:
    """Yield where a model would read a mark in the place of a value, a sentence each."""
    if mode is Mode.VERIFY:
        return
    tape = read_tape(ready.recording)
    if mode is Mode.CONTINUE:
        yield from _of_session(ready, tape)
        return
    tools = list(dict.fromkeys(_tools(ready, tape, mode)))
    if tools:
        again = ", or let live-reads ask it again" if mode is Mode.WHAT_IF else ""
        yield (
            f"What {listed(tools)} returned holds a value that was left out of the record, and the "
            "model reads a mark in its place; say the value with --value, or pretend that it "
            f"returned the whole of it{again}."
        )
    workers = list(dict.fromkeys(_workers(ready, tape))) if mode is Mode.WHAT_IF else []
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


def _tools(ready: Prepared, tape: Tape, mode: Mode) -> Iterator[str]:
    """Yield the tools whose recorded results are read, and hold a mark."""
    edits, event = ready.edits, ready.recorded.event
    effects = {tool.name: tool.effect for tool in agent_of(ready.flow.flow, ready.recorded).tools}
    for (path, attempt, step, index), result in tape.results.items():
        name = str(result.message.get("name"))
        if (path, attempt) != (event.path, event.attempt) or not has_mark(result.message):
            continue
        is_asked = mode is not Mode.WHAT_IF and effects.get(name) is Effect.READ
        if not is_asked and not _is_said(edits, name, f"{step}.{index}"):
            yield name


def _is_said(edits: Edits, name: str, place: str) -> bool:
    return bool({name, place} & edits.tool_results.keys()) or name in {*edits.armed, *edits.denied}


def _workers(ready: Prepared, tape: Tape) -> Iterator[str]:
    """Yield who answered a call of this handoff with something that holds a mark."""
    mine = ready.recorded.event.path or ""
    for (path, _), ended in tape.handoffs.items():
        is_called = is_within(path, mine) and (path or "")[len(mine) :].count("/") == 1
        if is_called and ended.result and has_mark([ended.result.data, ended.result.notes]):
            yield as_name(ended.agent)


def _of_session(ready: Prepared, tape: Tape) -> Iterator[str]:
    """Yield what is to be known of a session that goes on, where something of it is asked live."""
    is_live = ready.graft is not None or bool(ready.edits.described())
    said = [dict(one) if isinstance(one, HandoffRequest) else one for one in tape.messages]
    results = [one.message for one in tape.results.values()]
    if is_live and (has_mark(said) or has_mark(results)):
        yield (
            "Values were left out of this record; whoever is really asked from here on reads marks "
            "in their place, but for those that are said with --value."
        )
