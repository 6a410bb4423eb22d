"""What a recorded handoff was given, for somebody who is about to change it."""

from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from handoff_console.console.commands.errors import CommandError
from handoff_console.console.commands.flows import load_flow, prompts_beside
from handoff_console.console.commands.recorded_flows import started_of
from handoff_console.runtime.errors import choices
from handoff_console.runtime.prompts import load_prompts
from handoff_console.runtime.recorded import find_handoff
from handoff_console.store import reader
from handoff_console.store.db import open_reader
from handoff_console.store.recordings import recording_of


@dataclass(frozen=True)
class Given:
    """What a handoff was given when it was recorded."""

    agent: str
    inputs: Mapping[str, Any]
    flow_source: str
    """As the record says; whether that is run, the user says."""


def given(store_path: Path, asked: str, handoff_id: str) -> Given:
    """Return what a recorded handoff was given.

    Raises:
        RequestError: There is no such handoff, or it never began.
        StoreError: The store cannot be opened, or there is no such session.
    """
    with closing(open_reader(store_path)) as db:
        recording = recording_of(db, reader.resolve_session(db, asked), handoff_id)
        found = find_handoff(recording, handoff_id)
        source = started_of(recording).flow_source
    return Given(found.opened.target, found.request.inputs, source)


def prompt_of_version(agent: str, version: str, *, flow: str, folder: Path | None = None) -> str:
    """Return the instructions that a prompt version has for an agent.

    Args:
        agent: The agent.
        version: The name of the version, which is a folder.
        flow: The flow, as the user names it, or the name of a sample.
        folder: Where versions are; by default in `prompts` beside the flow's file.

    Raises:
        FlowError: There is no such version.
        FlowNotFound: There is no such flow.
        CommandError: The version has no prompt for this agent.
    """
    found = load_prompts((folder or prompts_beside(load_flow(flow))) / version)
    prompts = {
        name: it.instructions for name, it in found.agents.items() if it.instructions is not None
    }
    if agent not in prompts:
        raise CommandError(
            f"Prompt version {version!r} has no prompt for {agent!r}; it has one for: "
            f"{choices(prompts, 'nobody')}."
        )
    return prompts[agent]
