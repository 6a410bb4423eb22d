"""The sides of a comparison: a prompt version, with a model or an edge changed if wanted.

A side is written `v2`, `v2+triage=openai:gpt-5`, `v2+triage>billing=full_history`, or begins with a
flow instead of a version: `other.py:flow+triage=offline:bm25`. `.` stands for the flow's own
prompts.
"""

import inspect
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from handoff_console.console.commands.errors import CommandError
from handoff_console.console.commands.flow_files import file_reference
from handoff_console.console.commands.flows import LoadedFlow, load_flow, model_named
from handoff_console.console.commands.prompt_folders import own_folder, version_folders
from handoff_console.runtime import Agent, Flow
from handoff_console.runtime.canonical import canonical, digest, estimate_tokens
from handoff_console.runtime.contract import ContextPolicy
from handoff_console.runtime.errors import choices
from handoff_console.runtime.models import Model, as_model, terms_of
from handoff_console.runtime.offers import offered_tools
from handoff_console.runtime.prompts import load_prompts
from handoff_console.store.analysis.comparison.trials import AgentText, Version

OWN_PROMPTS = "."
OWN_MODEL = "own"
"""Leaves every agent the model that the flow gives it."""
OFFLINE = "offline:"
_AROUND_BYTES = 240
"""What stands around a prompt and a message: roles, and what every agent is told."""


@dataclass(frozen=True)
class Side:
    """One side, ready to run."""

    version: Version
    flow: Flow
    models: Mapping[str, Any]
    """By agent, where one is named besides the flow's own."""
    router: Model
    """Who decides first."""
    flow_source: str = ""
    """How its flow is named, so that its sessions can be run again."""

    @property
    def start(self) -> Agent:
        """Whose decisions are compared."""
        return self.flow.agent(self.flow.start)

    def reads(self, mode: str) -> str:
        """Return the digest of all that a trial depends on, besides its request.

        In mode `full` that is the whole flow; else what the router reads.
        """
        if mode == "full":
            names = {agent.name: _identity(self._model(agent)) for agent in self.flow.agents}
            whole = self.flow.changed(prompt_version="").snapshot
            return digest(whole + canonical(names), b"")
        return digest(canonical([self.version.routing_hash, _identity(self.router)]), b"")

    @cached_property
    def offers(self) -> list[dict[str, Any]]:
        """The tools and handoffs that the router is offered."""
        return offered_tools(self.flow, self.start, [tool.name for tool in self.start.tools])

    def read_tokens(self, text: str) -> int:
        """Return about how many tokens the router reads to decide about a message."""
        return estimate_tokens(self._fixed_bytes + len(text.encode("utf-8", "replace")))

    @cached_property
    def _fixed_bytes(self) -> int:
        return len(canonical([self.start.prompt, self.offers])) + _AROUND_BYTES

    def _model(self, agent: Agent) -> Model:
        if agent.name == self.flow.start:
            return self.router
        named = self.models.get(agent.name) or agent.model or self.flow.model
        return as_model(named, self.flow.name, agent.name)


def side(loaded: LoadedFlow, word: str, model: str, store_path: Path, folder: Path | None) -> Side:
    """Return the side that a word stands for.

    Args:
        loaded: The flow; a word may name another one.
        word: See this module.
        model: Who routes where the word does not say; `own` is whom the flow names.
        store_path: Versions that were saved from a page stand beside it.
        folder: Where versions are looked for instead.

    Raises:
        CommandError: There is no such version, agent or policy; the text names those there are.
        FlowError: The version does not fit the flow, or there is no such model.
        FlowNotFound: There is no such flow.
    """
    label, *changes = word.split("+")
    if file_reference(label) is not None:
        loaded, named = load_flow(label), OWN_PROMPTS
    else:
        named = label
    flow = _with_version(loaded, named, store_path, folder)
    models: dict[str, Any] = {}
    for change in changes:
        flow = _changed(flow, change, models, word)
    start = flow.agent(flow.start)
    chosen = models.get(start.name) or (None if model == OWN_MODEL else model_named(model))
    router = as_model(chosen or start.model or flow.model, flow.name, start.name)
    version = _version(flow, word, router, models)
    return Side(version, flow, {**models, start.name: router}, router, loaded.source)


def _with_version(loaded: LoadedFlow, label: str, store_path: Path, folder: Path | None) -> Flow:
    if label == OWN_PROMPTS:
        return loaded.flow
    if folder is not None:
        return load_prompts(folder / label).applied_to(loaded.flow)
    folders = version_folders(loaded, store_path)
    if label not in folders:
        there = f"there are: {choices(folders)}."
        if not folders:
            made = own_folder(loaded, store_path) / label / "AGENT.md"
            there = (
                f"it has none yet. Make one as files {made}, one for each agent, or in the "
                "console: Routing, Edit descriptions."
            )
        raise CommandError(
            f"Flow {loaded.flow.name!r} has no prompt version {label!r}; {there} `{OWN_PROMPTS}` "
            "stands for the flow's own prompts."
        )
    return load_prompts(folders[label]).applied_to(loaded.flow)


def _changed(flow: Flow, change: str, models: dict[str, Any], word: str) -> Flow:
    what, mark, value = change.partition("=")
    if not mark or not value:
        raise CommandError(
            f"{change!r} in {word!r} changes nothing; write AGENT=MODEL or SOURCE>TARGET=POLICY."
        )
    source, arrow, target = what.partition(">")
    if source not in flow.agents_by_name:
        raise CommandError(
            f"Flow {flow.name!r} has no agent {source!r}; its agents are: "
            f"{choices(flow.agents_by_name)}."
        )
    if not arrow:
        models[source] = model_named(value)
        return flow
    agent = flow.agents_by_name[source]
    if target not in {edge.target for edge in agent.edges}:
        raise CommandError(
            f"{source!r} may not hand off to {target!r}; it may to: "
            f"{choices([edge.target for edge in agent.edges])}."
        )
    if value not in set(ContextPolicy):
        raise CommandError(
            f"There is no context policy {value!r}; there are: "
            f"{choices([policy.value for policy in ContextPolicy])}."
        )
    edges = [
        replace(edge, context=ContextPolicy(value)) if edge.target == target else edge
        for edge in agent.edges
    ]
    return flow.changed(
        agents=[replace(one, edges=edges) if one.name == source else one for one in flow.agents]
    )


def _version(flow: Flow, label: str, router: Model, models: Mapping[str, Any]) -> Version:
    offline = router.name.startswith(OFFLINE)
    texts = {agent.name: _text(flow, agent, models) for agent in flow.agents}
    return Version(
        label=label,
        version_hash=digest(canonical([_plain(texts), _context(flow)]), b""),
        routing_hash=_routing_hash(flow, offline=offline),
        agents=texts,
        model=router.name,
        offline=offline,
        flow=flow.name,
    )


def _text(flow: Flow, agent: Agent, models: Mapping[str, Any]) -> AgentText:
    model = models.get(agent.name) or agent.model or flow.model
    name = as_model(model, flow.name, agent.name).name if model is not None else ""
    text = AgentText(
        description=agent.description,
        examples=tuple(agent.examples),
        instructions=agent.prompt,
        targets=tuple(edge.target for edge in agent.edges),
        model=name,
        threshold=agent.threshold,
    )
    return replace(text, digest=digest(canonical(vars(text)), b""))


def _context(flow: Flow) -> list[list[str]]:
    """What edges say and let through, which is no part of any agent's text."""
    return [
        [agent.name, edge.target, edge.description, edge.context.value]
        for agent in flow.agents
        for edge in agent.edges
    ]


def _plain(texts: Mapping[str, AgentText]) -> dict[str, str]:
    return {name: text.digest for name, text in texts.items()}


def _routing_hash(flow: Flow, *, offline: bool) -> str:
    """Return the digest of what the router reads: an offline one no instructions, and no order."""
    start = flow.agent(flow.start)
    if not offline:
        tools = offered_tools(flow, start, [tool.name for tool in start.tools])
        return digest(canonical([start.prompt, tools, start.threshold]), b"")
    targets = {
        edge.target: [flow.edge_description(edge), list(flow.agent(edge.target).examples)]
        for edge in start.edges
    }
    return digest(canonical([targets, start.threshold]), b"")


def _identity(model: Model) -> list[Any]:
    """Return what tells one model from another: its name, its settings, the code behind it."""
    function = getattr(model, "_rule", None) or getattr(model, "_function", None)
    inner = getattr(model, "model", None)
    if function is None and inner is not None and hasattr(inner, "reply"):
        return _identity(inner)
    try:
        source = inspect.getsource(function) if function else ""
    except (OSError, TypeError):
        source = ""
    return [model.name, dict(terms_of(model).settings), source]
