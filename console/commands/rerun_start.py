"""What a recorded handoff was given and did: what the form for running it again starts from."""

import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from handoff_console import sample_runs
from handoff_console.console.commands.flow_files import file_reference
from handoff_console.console.commands.flows import load_flow
from handoff_console.console.commands.model_reading import may_read_prompt
from handoff_console.console.commands.prompt_folders import version_folders
from handoff_console.console.commands.recorded_flows import RecordedFlow
from handoff_console.console.commands.rerun_past import Past, RecordedCall, past_of
from handoff_console.console.commands.typed_values import typed_form
from handoff_console.runtime.agents import Agent
from handoff_console.runtime.contract import HUMAN, TEXT, Effect, Status
from handoff_console.runtime.errors import HandoffConsoleError
from handoff_console.runtime.events import AgentActivated, SessionStarted
from handoff_console.runtime.models import as_model
from handoff_console.runtime.prompts import load_prompts
from handoff_console.runtime.recorded import RecordedAgain, agent_of
from handoff_console.store import reader


@dataclass(frozen=True)
class Start:
    """A recorded handoff, as the form shows it before anything is changed."""

    session_id: str
    handoff_id: str
    outcome: str
    """How it came out when it was recorded; `waiting` where it had not yet."""
    recorded: RecordedAgain
    flow: RecordedFlow
    named: str
    """The flow, as the user named it; empty for a sample."""
    agent: Agent
    reads_prompt: bool
    model: str
    """As recorded."""
    prompt: str
    prompt_versions: Mapping[str, str]
    """This agent's prompt in each version beside the flow."""
    is_bound: bool
    """A limit ended it, or a tool was denied it."""
    calls: Sequence[RecordedCall]
    schemas: Sequence[str]

    @property
    def writes(self) -> tuple[str, ...]:
        """The agent's tools that do more than read."""
        return tuple(tool.name for tool in self.agent.tools if tool.effect is not Effect.READ)

    @property
    def asks(self) -> str:
        """Which model is asked where no other is named."""
        mine = [one for one in self.flow.other_models if one.agent == self.agent.name]
        if mine and not mine[0].is_asked:
            return f"the flow's own: {mine[0].own}"
        return f"as recorded: {(mine[0].recorded if mine else self.model) or 'unknown'}"

    @property
    def inputs(self) -> Mapping[str, str]:
        """The recorded inputs as they stand in fields."""
        return {key: typed_form(value) for key, value in self.recorded.request.inputs.items()}

    @property
    def claimed(self) -> Mapping[str, str]:
        """What the packet only claims, as it stands in fields; what is an input is left out."""
        packet = self.recorded.packet
        claims: Mapping[str, Any] = packet.claimed if packet else {}
        inputs = self.recorded.request.inputs
        return {key: typed_form(value) for key, value in claims.items() if key not in inputs}


def start_of(db: sqlite3.Connection, session_id: str, handoff_id: str, named: str = "") -> Start:
    """Return what the form starts from.

    Args:
        db: The store.
        session_id: The session.
        handoff_id: Which of its handoffs.
        named: The flow, `path/to/file.py:name`, as the user says; empty where a sample ran.

    Raises:
        RequestError: There is no such handoff, it never began, or its agent is gone from the flow.
        FlowNotNamed: The session ran a file, and the file is not named.
        FlowError: The flow contradicts itself.
        StoreError: There is no such session.
    """
    past = past_of(db, session_id, handoff_id, named, alone=True)
    return start_from(past, named, _path_of(db))


def start_from(past: Past, named: str, store_path: Path) -> Start:
    """Return what the form starts from.

    Args:
        past: What the record says of the handoff.
        named: The flow, as the user says.
        store_path: The store: prompt versions that were saved in the page are beside it.

    Raises:
        RequestError: The handoff's agent is gone from the flow.
    """
    flow, activated = past.flow, past.activated
    agent = agent_of(flow.flow, past.recorded)
    return Start(
        session_id=past.session_id,
        handoff_id=past.handoff_id,
        outcome=past.outcome,
        recorded=past.recorded,
        flow=flow,
        named=named,
        agent=agent,
        reads_prompt=_reads_prompt(flow, agent, activated),
        model=activated.model if activated else "",
        prompt=agent.prompt,
        prompt_versions=_versions(flow.source, agent.name, store_path),
        is_bound=past.outcome == Status.LIMIT_REACHED or past.was_denied,
        calls=past.answers.calls,
        schemas=(TEXT, *(name for name in flow.flow.schemas if name != TEXT)),
    )


def _reads_prompt(flow: RecordedFlow, agent: Agent, activated: AgentActivated | None) -> bool:
    try:
        model = as_model(agent.model or flow.flow.model, flow.flow.name, agent.name)
    except HandoffConsoleError:  # it cannot be made here; the record says what it was
        return activated.reads_prompt if activated else True
    return may_read_prompt(model)


def best_named(flow_source: str, flows: Sequence[str]) -> str:
    """Return which of the user's flows is most likely the one that a session ran; empty for none.

    The same file, or else one of the same name. The record's own words load nothing: only what the
    user named is returned.

    Args:
        flow_source: As the record says.
        flows: As the user named them.
    """
    wanted = file_reference(flow_source)
    if flow_source in sample_runs.NAMES or wanted is None:
        return ""
    known = [(name, found) for name in flows if (found := file_reference(name))]
    for name, found in known:
        if (found.path.absolute(), found.name) == (wanted.path.absolute(), wanted.name):
            return name
    alike = (wanted.path.name, wanted.name)
    return next((name for name, found in known if (found.path.name, found.name) == alike), "")


def source_of(db: sqlite3.Connection, session_id: str) -> str:
    """Return which flow a session ran, as its record says; empty where it does not say."""
    for event in reader.load_events(db, session_id, kinds={"session_started"}):
        if isinstance(event.payload, SessionStarted):
            return event.payload.flow_source
    return ""


def can_be_run_again(agent: str) -> bool:
    """Say whether a handoff to somebody can be run again: a person cannot be."""
    return agent != HUMAN


def _path_of(db: sqlite3.Connection) -> Path:
    return Path(db.execute("pragma database_list").fetchone()[2])


def _versions(source: str, agent: str, store_path: Path) -> dict[str, str]:
    """Return an agent's prompt in each version that can be read, those saved in the page too."""
    try:
        folders = version_folders(load_flow(source), store_path)
    except (HandoffConsoleError, OSError):
        return {}
    prompts: dict[str, str] = {}
    for label, folder in folders.items():
        try:
            found = load_prompts(folder).agents.get(agent)
        except (HandoffConsoleError, OSError):
            continue
        if found and found.instructions:
            prompts[label] = found.instructions
    return prompts
