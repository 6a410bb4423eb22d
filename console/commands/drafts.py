"""Prompt versions written from a screen: a draft of descriptions becomes files like any other."""

import os
import re
import tempfile
from collections.abc import Collection, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

from handoff_console.console.commands.errors import CommandError
from handoff_console.runtime import Flow
from handoff_console.runtime.prompts import AgentPrompt, PromptVersion, load_prompts

LABEL = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,39}")
"""What a version may be called: it is the name of a folder on every system."""


class DraftRefused(CommandError):
    """A draft cannot be saved as a version; nothing was written."""


def save_version(
    folder: Path, label: str, agents: Mapping[str, AgentPrompt], *, taken: Collection[str] = ()
) -> PromptVersion:
    """Write a draft as a new prompt version, all of its files or none, and return it as read back.

    Args:
        folder: Holds the versions; made when it is not there.
        label: What the version is called.
        agents: What it says of each agent, by name.
        taken: Versions of the same flow that are kept elsewhere.

    Raises:
        DraftRefused: The name is none, is taken, an agent's name is no name of a file, the draft is
            empty, or the folder takes no files.
    """
    if not LABEL.fullmatch(label):
        raise DraftRefused(
            f"{label!r} cannot be the name of a version; a name has up to 40 letters, digits, "
            "dots, dashes and underscores and begins with a letter or a digit."
        )
    if label in taken:
        raise _taken(label)
    if not agents:
        raise DraftRefused(f"Version {label!r} would say nothing; change a description first.")
    if bad := sorted(name for name in agents if not LABEL.fullmatch(name)):
        raise DraftRefused(
            f"Agent {bad[0]!r} cannot have a file of its name; rename it in the flow first."
        )
    try:
        folder.mkdir(parents=True, exist_ok=True)
        _write_whole(folder, label, agents)
    except OSError as error:
        if (folder / label).exists():
            raise _taken(label) from None
        raise DraftRefused(
            f"Version {label!r} cannot be written to {folder} ({error.strerror or error}); give "
            "the folder write permission or save elsewhere."
        ) from error
    return load_prompts(folder / label)


@dataclass(frozen=True)
class AgentWords:
    """What a version says of one agent, as far as it is edited in a page."""

    description: str
    examples: tuple[str, ...]
    instructions: str


def words_of(flow: Flow) -> dict[str, AgentWords]:
    """Return what a flow, with the version it has, says of each of its agents.

    Where an edge says when to hand a request to an agent, that is its description, whatever the
    agent says of itself: it is what the router reads. Of several edges the first counts.
    """
    by_edges: dict[str, str] = {}
    for agent in flow.agents:
        for edge in agent.edges:
            if edge.description:
                by_edges.setdefault(edge.target, edge.description)
    return {
        agent.name: AgentWords(
            by_edges.get(agent.name, agent.description), tuple(agent.examples), agent.prompt
        )
        for agent in flow.agents
    }


def drafted(
    base: PromptVersion | None, flow: Flow, changed: Mapping[str, AgentWords]
) -> dict[str, AgentPrompt]:
    """Return the files of a draft: those of the version it began with, and what was changed.

    Args:
        base: The version it began with; None for the flow's own prompts.
        flow: The flow with that version.
        changed: The agents whose words are others now; one that is as before counts as unchanged,
            and so does a field. A field that was emptied is empty in the new version too.
    """
    files = dict(base.agents) if base else {}
    before = words_of(flow)
    for name, words in changed.items():
        if words == before[name]:
            continue
        was, file = before[name], files.get(name, AgentPrompt())
        if words.description != was.description:
            file = replace(file, handoff_description=words.description)
        if words.examples != was.examples:
            file = replace(file, examples=words.examples)
        if words.instructions != was.instructions:
            file = replace(file, instructions=words.instructions)
        files[name] = file
    return files


def next_label(labels: list[str]) -> str:
    """Return a name for the next version: `v5` after `v4`; `v1` where none is numbered."""
    numbers = [int(found[1]) for label in labels if (found := re.fullmatch(r"v(\d{1,6})", label))]
    return f"v{max(numbers, default=0) + 1}"


def prompt_file(prompt: AgentPrompt) -> str:
    """Return an agent's file as `load_prompts` reads it: front matter, then instructions."""
    lines = []
    if prompt.handoff_description is not None:
        lines.append(f"handoff_description: {_line(prompt.handoff_description)}".strip())
    if prompt.examples is not None:
        lines += ["examples:", *(f"  - {_line(example)}" for example in prompt.examples)]
    if prompt.targets is not None:
        lines += ["targets:", *(f"  - {_line(target)}" for target in prompt.targets)]
    if prompt.model:
        lines.append(f"model: {_line(prompt.model)}")
    if prompt.threshold is not None:
        lines.append(f"threshold: {prompt.threshold}")
    body = (prompt.instructions or "").strip()
    if prompt.instructions is not None and not body:
        lines.append("instructions:")
    head = "\n".join(lines)
    return f"---\n{head}\n---\n{body}\n"


def _taken(label: str) -> DraftRefused:
    return DraftRefused(
        f"There is a version {label!r} already; choose another name, versions are not changed once "
        "they are saved."
    )


def _line(text: str) -> str:
    """Return a value on one line, without quotes around it, which a reader would take off."""
    return " ".join(text.split()).strip("\"'")


def _write_whole(folder: Path, label: str, agents: Mapping[str, AgentPrompt]) -> None:
    # Renaming a folder onto one that is there fails, so two who save at once do not mix.
    made = Path(tempfile.mkdtemp(prefix=".draft-", dir=folder))
    try:
        made.chmod(0o755)
        for name, prompt in agents.items():
            (made / f"{name}.md").write_text(prompt_file(prompt), "utf-8")
        if (folder / label).exists():
            raise FileExistsError
        os.rename(made, folder / label)
    except OSError:
        with suppress(OSError):
            for path in made.iterdir():
                path.unlink()
            made.rmdir()
        raise
