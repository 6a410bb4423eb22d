"""Which flow a command means, and how an option changes it."""

import re
from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import Any, NamedTuple

from handoff_console.console.commands.errors import CommandError, FlowNotFound
from handoff_console.console.commands.flow_files import (
    file_reference,
    flow_in_file,
    model_in_file,
)
from handoff_console.runtime import Flow, HandoffRequest
from handoff_console.runtime.errors import choices
from handoff_console.runtime.models import as_model
from handoff_console.runtime.prices import PriceList
from handoff_console.runtime.prompts import load_prompts

PROMPTS = "prompts"
"""The folder of prompt versions, beside the file of a flow."""


class LoadedFlow(NamedTuple):
    """A flow, and where it came from."""

    flow: Flow
    source: str
    """The name of a sample, or `file.py:name`, as the user wrote it."""
    folder: Path
    """Where its prompt versions are looked for."""
    request: HandoffRequest | None = None
    """A typed request to try it with, where a sample has one."""
    is_sample: bool = False


class Models(NamedTuple):
    """The models that a command line names instead of the flow's own."""

    every_agent: Any = None
    """None leaves every agent its own."""
    by_agent: Mapping[str, Any] = {}


def load_flow(name: str) -> LoadedFlow:
    """Return the sample flow of this name, or the flow that `path/to/file.py:name` defines.

    Raises:
        FlowNotFound: There is none; the text lists what there is.
        FlowFileFailed: The file could not be imported.
        FlowError: The flow contradicts itself.
    """
    reference = file_reference(name)
    if reference is not None:
        return LoadedFlow(flow_in_file(reference), name, reference.path.absolute().parent)
    from handoff_console import sample_runs

    if name not in sample_runs.NAMES:
        close = get_close_matches(name, sample_runs.NAMES, n=1)
        meant = f" (is {close[0]!r} meant?)" if close else ""
        raise FlowNotFound(
            f"There is no flow {name!r}{meant}; the samples are: {choices(sample_runs.NAMES)}. A "
            "flow of your own is named `path/to/file.py:name`."
        )
    sample = sample_runs.sample(name)
    folder = Path(sample_runs.__file__).parent / PROMPTS / name
    return LoadedFlow(sample.flow, name, folder, sample.request, is_sample=True)


def adjusted(
    loaded: LoadedFlow,
    *,
    prompts: str = "",
    prompts_folder: Path | None = None,
    pool_tokens: int | None = None,
    prices: PriceList | None = None,
) -> Flow:
    """Return the flow with another prompt version, another pool, or prices.

    Args:
        loaded: The flow.
        prompts: The name of a version, which is a folder; empty leaves the flow's own prompts.
        prompts_folder: Where versions are; by default in `prompts` beside the flow's file.
        pool_tokens: None leaves the flow's own pool.
        prices: What models cost; None leaves the flow's own prices.

    Raises:
        FlowError: There is no such version, it does not fit the flow, the pool is too small, or
            the prices are in another currency than the flow's own.
    """
    flow = loaded.flow
    if pool_tokens is not None:
        flow = flow.changed(pool_tokens=pool_tokens)
    if prices is not None:
        flow = prices.applied_to(flow)
    if prompts:
        folder = prompts_folder or prompts_beside(loaded)
        flow = load_prompts(folder / prompts).applied_to(flow)
    return flow


def chosen_models(flow: Flow, words: Sequence[str]) -> Models:
    """Return the models that `SPEC` and `AGENT=SPEC` stand for.

    A spec is a name such as `offline:bm25`, or `path/to/file.py:function`.

    Raises:
        CommandError: An agent does not exist, or two specs are for every agent.
        FlowNotFound: A file or a function of it does not exist.
        FlowError: There is no model of this name, or an agent is left without one.
    """
    every: Any = None
    by_agent: dict[str, Any] = {}
    for word in words:
        name, spec = _agent_and_spec(word)
        model = model_named(spec)
        if not name:
            if every is not None:
                raise CommandError(
                    f"{word!r} is a second model for every agent; say which agent it is for, as "
                    f"`AGENT={spec}`."
                )
            every = model
        elif name in flow.agents_by_name:
            by_agent[name] = model
        else:
            raise CommandError(
                f"Flow {flow.name!r} has no agent {name!r} to give a model to; its agents are: "
                f"{choices(flow.agents_by_name)}."
            )
    for agent in flow.agents:  # asked now, so that no store is made for a flow that cannot run
        as_model(
            by_agent.get(agent.name) or every or agent.model or flow.model, flow.name, agent.name
        )
    return Models(every, by_agent)


def prompts_beside(loaded: LoadedFlow) -> Path:
    """Return the folder that holds the prompt versions of a flow."""
    beside = loaded.folder / PROMPTS
    return beside if beside.is_dir() else loaded.folder


def _agent_and_spec(word: str) -> tuple[str, str]:
    found = re.fullmatch(r"([^=:/]+)=(.+)", word)
    return (found[1], found[2]) if found else ("", word)


def model_named(spec: str) -> Any:
    """Return the model that a spec stands for: a name, or `path/to/file.py:function`.

    Raises:
        FlowNotFound: The file, or the function in it, does not exist.
        FlowFileFailed: The file could not be imported.
    """
    reference = file_reference(spec)
    return spec if reference is None else model_in_file(reference)
