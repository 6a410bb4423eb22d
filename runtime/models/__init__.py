"""The Model protocol and its kinds, and how a flow's word for a model becomes one."""

from typing import Any

from handoff_console.runtime.agents import arguments_of_model, is_function, mistake_of_function
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
WORDLLAMA = "offline:wordllama"
"""The one that needs a library (extra `embed`)."""
SPLIT = "-split"
"""Behind the name of an offline router: it takes messages apart first."""


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
    if is_function(value):
        needed = arguments_of_model(value)
        if needed is None:
            raise FlowError(flow, [mistake_of_function(value, agent)])
        return Rules(value) if needed == 1 else CallableModel(value)
    raise FlowError(
        flow,
        [f"agent {agent!r} has no model; give it one, or give the flow one, or pass `model=`."],
    )


def _named(name: str, flow: str, agent: str) -> Model:
    if name in NAMED:
        return NAMED[name]()
    if name.endswith(SPLIT) and name.removesuffix(SPLIT) in (*NAMED, WORDLLAMA):
        from handoff_console.runtime.models.splitting import Splitting

        router = _named(name.removesuffix(SPLIT), flow, agent)
        assert isinstance(router, Bm25)
        return Splitting(router)
    if name == WORDLLAMA:
        from handoff_console.runtime.models.wordllama import WordLlama

        try:
            return WordLlama()
        except ModelError as error:
            raise FlowError(flow, [f"agent {agent!r}: {error}"]) from error
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
