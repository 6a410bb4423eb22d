"""Prompt versions: plain files, `prompts/<version>/<agent>.md`, that replace a flow's own prompts.

A file may begin with front matter between two lines of `---`: `key: value`, or `key:` followed by
lines of `- item`. The rest is the agent's instructions. What a file leaves out stays as the flow
has it; a key with nothing after it (`examples:`, `handoff_description:`, `targets:`) takes away
what the flow has, and so does `instructions:` for the instructions.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from handoff_console.runtime.agents import Agent
from handoff_console.runtime.canonical import canonical, digest
from handoff_console.runtime.errors import FlowError, choices
from handoff_console.runtime.flow import Flow

_LISTS = ("examples", "targets")
_KEYS = ("handoff_description", "examples", "targets", "model", "threshold", "instructions")


@dataclass(frozen=True)
class AgentPrompt:
    """One agent's file."""

    instructions: str | None = None
    """None leaves the flow's own; an empty text takes them away. So do the next two."""
    handoff_description: str | None = None
    """When to hand a request to this agent; it counts for every edge that leads to it."""
    examples: tuple[str, ...] | None = None
    targets: tuple[str, ...] | None = None
    """Whom it may hand off to in this version; None leaves the flow's edges as they are."""
    model: str | None = None
    threshold: float | None = None


@dataclass(frozen=True)
class PromptVersion:
    """All files of one version."""

    label: str
    """The folder's name."""
    agents: Mapping[str, AgentPrompt]

    @property
    def digest(self) -> str:
        """The version's identity: equal text, equal digest, whatever the label."""
        return digest(canonical({name: vars(prompt) for name, prompt in self.agents.items()}), b"")

    def applied_to(self, flow: Flow) -> Flow:
        """Return the flow with these prompts.

        Raises:
            FlowError: A file is named after no agent of the flow, or narrows it to unknown targets.
        """
        names = flow.agents_by_name
        for name, prompt in self.agents.items():
            if name not in names:
                raise FlowError(
                    flow.name,
                    [f"prompt version {self.label!r} has a file for {name!r}; the agents are: "
                     f"{choices(names)}."],
                )  # fmt: skip
            known = {edge.target for edge in names[name].edges}
            if unknown := sorted(set(prompt.targets or ()) - known):
                raise FlowError(
                    flow.name,
                    [f"prompt version {self.label!r} lets {name!r} hand off to {unknown[0]!r}; the "
                     f"flow lets it hand off to: {choices(known)}."],
                )  # fmt: skip
        described = {name for name, it in self.agents.items() if it.handoff_description is not None}
        return flow.changed(
            agents=[
                _with_prompt(_told_of(agent, described), self.agents.get(agent.name))
                for agent in flow.agents
            ],
            prompt_version=self.label,
        )


def load_prompts(folder: Path) -> PromptVersion:
    """Read a version from its folder.

    Raises:
        FlowError: There is no such folder, it has no `.md` file, or a file's front matter is wrong.
    """
    files = sorted(folder.glob("*.md")) if folder.is_dir() else []
    if not files:
        siblings = [path.name for path in folder.parent.glob("*") if path.is_dir()]
        raise FlowError(
            folder.name,
            [
                f"there is no prompt version {folder.name!r}; there are: "
                f"{choices(siblings, 'none')}."
            ],
        )
    return PromptVersion(folder.name, {path.stem: _read(path) for path in files})


def _read(path: Path) -> AgentPrompt:
    try:
        text = path.read_text("utf-8-sig").replace("\r\n", "\n")
    except UnicodeDecodeError:
        raise _wrong(path, "it is not UTF-8") from None
    head, body = "", text
    if text.startswith("---\n"):
        head, mark, body = text[4:].partition("\n---\n")
        if not mark:
            raise _wrong(path, "the front matter has no closing line of ---")
    fields, lists = _front_matter(path, head)
    targets = lists.get("targets") or [t for t in fields.get("targets", "").split(",") if t.strip()]
    if fields.get("examples"):
        lists["examples"] = [fields["examples"]]
    try:
        threshold = float(fields["threshold"]) if fields.get("threshold") else None
    except ValueError:
        raise _wrong(path, f"threshold {fields['threshold']!r} is no number") from None
    if fields.get("instructions") or ("instructions" in fields and body.strip()):
        raise _wrong(
            path,
            "instructions stand below the front matter; `instructions:` is for a file without "
            "any, and takes the flow's own away",
        )
    return AgentPrompt(
        instructions=body.strip() or ("" if "instructions" in fields else None),
        handoff_description=fields.get("handoff_description"),
        examples=tuple(lists.get("examples", ())) if "examples" in fields else None,
        targets=tuple(t.strip() for t in targets) if "targets" in fields else None,
        model=fields.get("model") or None,
        threshold=threshold,
    )


def _front_matter(path: Path, head: str) -> tuple[dict[str, str], dict[str, list[str]]]:
    fields: dict[str, str] = {}
    lists: dict[str, list[str]] = {}
    key = ""
    for line in filter(str.strip, head.splitlines()):
        if line.lstrip().startswith("- ") and key:
            if key not in _LISTS or fields[key]:
                raise _wrong(path, f"{key} is no list")
            lists.setdefault(key, []).append(line.strip()[2:].strip().strip("\"'"))
            continue
        key, mark, value = (part.strip() for part in line.partition(":"))
        if not mark or key not in _KEYS:
            raise _wrong(path, f"{line.strip()!r} is none of: {', '.join(_KEYS)}")
        fields[key] = value.strip("\"'")
    return fields, lists


def _told_of(agent: Agent, described: Collection[str]) -> Agent:
    """Return an agent whose edges leave it to the version what it says of the agents it describes.

    An edge may have words of its own for its target. They would hide the version's, which nobody
    would read.
    """
    if not any(edge.description and edge.target in described for edge in agent.edges):
        return agent
    edges = [
        replace(edge, description="") if edge.target in described else edge for edge in agent.edges
    ]
    return replace(agent, edges=edges)


def _with_prompt(agent: Agent, prompt: AgentPrompt | None) -> Agent:
    if prompt is None:
        return agent
    edges = agent.edges
    if prompt.targets is not None:
        edges = [edge for edge in agent.edges if edge.target in prompt.targets]
    return replace(
        agent,
        prompt=agent.prompt if prompt.instructions is None else prompt.instructions,
        description=(
            agent.description if prompt.handoff_description is None else prompt.handoff_description
        ),
        examples=agent.examples if prompt.examples is None else prompt.examples,
        edges=edges,
        model=prompt.model or agent.model,
        threshold=agent.threshold if prompt.threshold is None else prompt.threshold,
    )


def _wrong(path: Path, problem: str) -> FlowError:
    return FlowError(path.parent.name, [f"{path.name} cannot be read: {problem}."])
