"""Events of an agent at work: its model calls and its answers."""

from handoff_console.runtime.events.base import Digest, FreeText, Payload, event

NO_RULE = "no_rule"
"""The `finish_reason` of a worker that follows rules when none of them matches."""
NO_MATCH = "no_match"
"""The `finish_reason` of a router when no target fits, or several fit equally well."""


@event("model_called")
class ModelCalled(Payload):
    """A model is about to be asked."""

    step: int
    """From 1."""
    model: str
    context: Digest
    """The messages it reads, as a chain: the context of the call before, and what was added."""
    messages: int
    """How many messages that are."""
    settings: Digest | None = None
    """What the model is asked with, and how often and how long where that is not the default."""
    estimate_tokens: int
    """What the input may take; a guess from its size."""
    max_output_tokens: int
    repair: bool = False
    """The one more try after an answer that did not fit the schema."""
    try_number: int = 1
    """Transport retries of the same step count up."""


@event("first_token_received")
class FirstTokenReceived(Payload):
    """The answer began to arrive (streaming models only)."""

    step: int


@event("model_replied")
class ModelReplied(Payload):
    """A model answered, or failed to."""

    step: int
    reply: Digest | None = None
    """The reply as a message; None when the call failed."""
    tool_calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    measured: bool = True
    finish_reason: str = ""
    latency_seconds: float
    error: FreeText = ""
    transient: bool = False
    late: bool = False
    """No reply by the deadline."""
    raised_at: str = ""
    """Where the user's own function, which stands for the model, failed: `desk.py, line 8`."""
    replayed: bool = False
    """Taken from a recording: no model was asked, nothing was spent."""


@event("output_rejected")
class OutputRejected(Payload):
    """An answer did not fit what was asked for; it goes to nobody but the same worker."""

    step: int
    output: Digest
    """Quarantined: for the operator only."""
    problem: FreeText
    """What did not fit, as the worker is told."""
    final: bool = False
    """No further try: the handoff ends with status `error`."""
