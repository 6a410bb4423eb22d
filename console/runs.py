"""What the screens can start and end: samples and named flows, at the pace of one who watches."""

from collections.abc import Mapping, Sequence
from contextlib import closing, suppress
from functools import lru_cache
from pathlib import Path

from handoff_console.console.commands import conversations, working
from handoff_console.console.commands.conversations import Phase, start_run
from handoff_console.console.commands.flow_files import file_reference
from handoff_console.console.commands.flows import load_flow
from handoff_console.console.commands.going_on import go_on as _go_on
from handoff_console.console.commands.left_out_values import Asked, asked_for, left_out
from handoff_console.console.commands.prompt_folders import in_version, version_folders
from handoff_console.console.commands.resuming import Resumption
from handoff_console.console.commands.settling import Settled
from handoff_console.console.commands.waiting import Pending, pending_of
from handoff_console.console.queries import Version
from handoff_console.console.settings import named_flows, store_path
from handoff_console.console.viewmodels.flow_page import FlowShown, flow_shown
from handoff_console.console.viewmodels.text import one_line
from handoff_console.runtime import Decision
from handoff_console.runtime.errors import HandoffConsoleError
from handoff_console.runtime.events import SessionStarted
from handoff_console.sample_runs import flows
from handoff_console.sample_runs.sample_flow import SampleFlow
from handoff_console.store import reader
from handoff_console.store.db import open_reader
from handoff_console.store.recordings import recording_of

__all__ = [
    "PACES", "Phase", "broken_flows", "failure_of", "first_message", "flow_page", "flow_source",
    "go_on", "is_at_work", "left_out_of", "named_flows", "pending", "phase_of", "prompt_versions",
    "samples", "say_more", "start", "start_first", "startable", "stop", "why_not",
]  # fmt: skip

PACES: Mapping[str, float] = {"like a model": 1.0, "4 × as fast": 4.0, "at once": 0.0}
"""How fast a sample answers, in words, as `start_run` takes it."""
DEFAULT_PACE, AT_ONCE = "like a model", "at once"
FIRST_FLOW = "support"
"""The sample to begin with."""

failure_of = conversations.failure_of
phase_of = conversations.phase_of
say_more = conversations.say_more
is_at_work = working.is_at_work


def samples() -> Mapping[str, SampleFlow]:
    """Return the sample flows by name, in the order they are listed."""
    return flows()


def startable() -> Mapping[str, SampleFlow]:
    """Return everything that can be started: the flows that the user named, then the samples.

    A file that can no longer be loaded is left out; `broken_flows` says why.
    """
    named = {}
    for name in named_flows():
        with suppress(HandoffConsoleError):
            flow = load_flow(name).flow
            named[name] = SampleFlow(flow, title=flow.name)
    return {**named, **samples()}


def flow_page(name: str, prompts: str = "") -> FlowShown:
    """Return what a flow that can be started is made of, with its own prompts or a version of them.

    Raises:
        KeyError: It cannot be started; `why_not` says why.
        FlowError: It has no such version, or the version does not fit it.
    """
    flow = startable()[name].flow
    return flow_shown(in_version(prompts, load_flow(name), store_path()) if prompts else flow, name)


def prompt_versions(name: str) -> Sequence[str]:
    """Return the prompt versions of a flow that can be started, by label."""
    return tuple(version_folders(load_flow(name), store_path()))


def broken_flows() -> tuple[str, ...]:
    """Return why flows that the user named cannot be loaded now, a sentence each."""
    return tuple(filter(None, (_problem_of(name) for name in named_flows())))


def why_not(name: str) -> str:
    """Return why a flow that an address names cannot be shown or started here.

    Nothing is loaded because an address names it.
    """
    if name in named_flows():
        return _problem_of(name)
    if file_reference(name) is None:
        return f"There is no flow {one_line(name, 60)!r}; choose one of those that are listed."
    return (
        f"This console was not started with the flow {one_line(name, 120)!r}, and no code is "
        f"loaded because an address names it; start it with `handoff open --flow FLOW`."
    )


def _problem_of(name: str) -> str:
    try:
        load_flow(name)
    except HandoffConsoleError as error:
        return str(error)
    return ""


def start(flow_name: str, message: str, pace: str = DEFAULT_PACE, *, closes: bool = False) -> str:
    """Start a session in the background, and return its id once it is in the store.

    Args:
        flow_name: A sample, or a flow that the user named.
        message: What the user says.
        pace: One of `PACES`.
        closes: End the session with its first answer; otherwise more can be said for a while.

    Raises:
        HandoffConsoleError: It cannot be started; the text says why in one sentence.
    """
    open_seconds = 0.0 if closes else conversations.OPEN_SECONDS
    speed = PACES.get(pace, PACES[DEFAULT_PACE])
    return start_run(store_path(), flow_name, message, speed=speed, open_seconds=open_seconds)


def stop(session_id: str) -> None:
    """Stop a session that runs here, or end one that waits for more; others are left alone."""
    working.stop(session_id)


def pending(session_id: str) -> Pending:
    """Return what a session waits for; nothing where it waits for nobody.

    Raises:
        HandoffConsoleError: The store cannot be read.
    """
    with closing(open_reader(store_path())) as db:
        return pending_of(db, session_id)


@lru_cache(maxsize=16)
def left_out_of(found: Version) -> Sequence[Asked]:
    """Return what a person has to say before a session goes on, as far as nobody here knows it."""
    with closing(open_reader(Path(found.path))) as db:
        return tuple(asked_for(left_out(recording_of(db, found.session_id))))


def flow_source(session_id: str) -> str:
    """Return how the flow of a session was named when it began; nothing is loaded by it."""
    with closing(open_reader(store_path())) as db:
        (started, *_) = reader.load_events(db, session_id, kinds={"session_started"})
    return started.payload.flow_source if isinstance(started.payload, SessionStarted) else ""


def go_on(
    session_id: str,
    pace: str = DEFAULT_PACE,
    *,
    leave_unknown: bool = False,
    closes: bool = True,
    values: Mapping[str, Sequence[str]] | None = None,
    leave_marks: bool = False,
    decisions: Sequence[Decision] = (),
    settled: Sequence[Settled] = (),
) -> None:
    """Go on with a session in the background, and return once it does.

    Args:
        session_id: The session.
        pace: How fast a sample answers.
        leave_unknown: Also where nobody knows what became of an act; the agent is told so.
        closes: End the session with the answer to its last message; otherwise more can be said.
        values: What was left out of its record, as `filled` takes it.
        leave_marks: What is missing of its record besides is read as marks.
        decisions: What is decided with it; put down once all that it needs is there.
        settled: What became of acts whose outcome is unknown; put down then, too.

    Raises:
        ValuesLeftOut, ActLeftOut: Something is missing of its record.
        HandoffConsoleError: It cannot; the text says why in one sentence.
    """
    speed = PACES.get(pace, PACES[DEFAULT_PACE])
    _go_on(
        store_path(),
        session_id,
        Resumption(
            leave_unknown=leave_unknown,
            values=values or {},
            leave_marks=leave_marks,
            decisions=decisions,
            settled=settled,
        ),
        named_flows=named_flows(),
        speed=speed,
        open_seconds=0.0 if closes else conversations.OPEN_SECONDS,
    )


def first_message() -> str:
    """Return what to say to the first sample."""
    return samples()[FIRST_FLOW].messages[0]


def start_first() -> str:
    """Start the first sample with its first message, and return the session's id.

    Raises:
        HandoffConsoleError: It cannot be started; the text says why in one sentence.
    """
    return start(FIRST_FLOW, first_message(), closes=True)
