"""The Model protocol and its kinds, and how a flow's word for a model becomes one."""

import inspect
from collections.abc import Callable
from typing import Any

from handoff_console.runtime.errors import FlowError, ModelError
from handoff_console.runtime.models.base import (
    PROVIDERS,
    Model,
    ModelCall,
    ModelReply,
    Terms,
    ToolResult,
    terms_of,
)
from handoff_console.runtime.models.bm25 import Bm25, Ranking, Score, decide
from handoff_console.runtime.models.offline import CallableModel, Rules, Scripted, as_reply, no_rule
from handoff_console.runtime.models.replies import (
    answer,
    delegate,
    hand_over,
    say,
    timed,
    together,
    use,
)

NAMED = {"offline:bm25": Bm25}
"""Models that a name stands for."""


def as_model(value: Any, flow: str, agent: str) -> Model:
    """Return the model that a flow, an agent or a caller named.

    A function that needs one argument follows rules (`Rules`); of two, `(agent, messages)`, it is
    somebody's own agent (`CallableModel`); a string is the name of a model.

    Raises:
        FlowError: There is no such model.
    """
    if isinstance(value, str):
        return _named(value, flow, agent)
    if hasattr(value, "reply") and not isinstance(value, type):
        model: Model = value
        return model
    if callable(value) and not isinstance(value, type):
        return Rules(value) if _takes_one(value) else CallableModel(value)
    raise FlowError(
        flow,
        [f"agent {agent!r} has no model; give it one, or give the flow one, or pass `model=`."],
    )


def _takes_one(function: Callable[..., Any]) -> bool:
    parameters = inspect.signature(function).parameters.values()
    needed = [one for one in parameters if one.default is one.empty]
    return len(needed) == 1 and needed[0].kind is not needed[0].VAR_POSITIONAL


def _named(name: str, flow: str, agent: str) -> Model:
    if name in NAMED:
        return NAMED[name]()
    if name.partition(":")[0] in PROVIDERS:
        from handoff_console.runtime.models.provider import ProviderModel

        try:
            return ProviderModel(name)
        except ModelError as error:
            raise FlowError(flow, [f"agent {agent!r}: {error}"]) from error
    live = ", ".join(f"{provider}:MODEL" for provider in PROVIDERS)
    raise FlowError(
        flow,
        [f"agent {agent!r} wants the model {name!r}; there are: {', '.join(NAMED)}, {live}, and "
         "functions of your own."],
    )  # fmt: skip


__all__ = [
    "NAMED",
    "PROVIDERS",
    "Bm25",
    "CallableModel",
    "Model",
    "ModelCall",
    "ModelReply",
    "Ranking",
    "Rules",
    "Score",
    "Scripted",
    "Terms",
    "ToolResult",
    "answer",
    "as_model",
    "as_reply",
    "decide",
    "delegate",
    "hand_over",
    "no_rule",
    "say",
    "terms_of",
    "timed",
    "together",
    "use",
]
