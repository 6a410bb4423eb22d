"""Events of a handoff: asked for, refused or opened, closed exactly once."""

from handoff_console.runtime.contract import EndedBy, HandoffKind, Status
from handoff_console.runtime.events.base import Digest, FreeText, Payload, event


@event("handoff_requested")
class HandoffRequested(Payload):
    """Somebody asked for a handoff: the user at the root, an agent below."""

    source: FreeText
    target: FreeText
    """As it was asked for; it need not exist."""
    via: HandoffKind
    """`call` (control stays) or `transfer` (control moves)."""
    reason: FreeText
    """Why, in the words of the one who asked."""
    call_id: str = ""
    """The tool call that asked for it."""
    step: int = 0
    """The asking handoff's step, from 1."""
    index: int = 0
    """Which of that reply's handoffs, from 0."""
    request: Digest | None = None
    """The whole request, once it was valid."""
    inputs_hash: Digest | None = None
    """Keyed digest of the inputs alone: equal inputs, equal hash."""
    continues: str | None = None
    """The handoff that a transfer takes over from."""
    follows: str | None = None
    """The earlier attempt that this one repeats."""


@event("handoff_rejected")
class HandoffRejected(Payload):
    """The gate refused; the model reads why and what is allowed."""

    target: FreeText
    rule: str
    """Which check: `target`, `request`, `depth`, `handoffs`, `cycle`, `workers`, `pool`, `trust`,
    `ingress`."""
    reason: FreeText
    """One sentence: who refused what."""
    choices: tuple[str, ...] = ()
    """What would have been allowed."""


@event("handoff_opened")
class HandoffOpened(Payload):
    """The gate let it through; from here on it will be closed exactly once."""

    source: FreeText
    target: str
    via: HandoffKind
    depth: int
    """How many calls deep: 0 at the root."""
    depth_left: int
    """How many more calls may nest below."""
    hop: int = 0
    """How many transfers before it on the same task."""
    hops: int = 0
    """Transfers of the whole request so far, this one included."""
    grant_tokens: int | None = None
    """Reserved for it in the pool; None for the root, which spends what is free."""
    max_steps: int
    max_tokens: int
    deadline_seconds: float
    """The limits in force, after the caller's own rest was taken into account."""
    allowed_tools: tuple[str, ...] = ()
    output_schema: str = "Text"
    context_policy: str = "packet"
    packet: Digest | None = None
    """The packet exactly as sent (transfers)."""
    withheld: tuple[FreeText, ...] = ()
    """Names of facts that did not go along because they are sensitive."""
    fork_id: str | None = None
    continues: str | None = None
    follows: str | None = None


@event("agent_activated")
class AgentActivated(Payload):
    """An agent became the one who acts, with its own prompt and its own tools."""

    agent: str
    prompt: Digest
    """The instructions, as text."""
    prompt_version: str = ""
    model: str
    tools: Digest
    """The tools and handoffs it is offered: name, description, schema, effect, source hash."""
    reads_prompt: bool = True
    """False: this worker follows rules and does not read its prompt."""


@event("handoff_closed")
class HandoffClosed(Payload):
    """It ended. A transfer has no result of its own; every other end has one."""

    target: str
    ended_by: EndedBy
    status: Status | None = None
    result: Digest | None = None
    reason: str = ""
    """For `limit_reached`, which limit: `steps`, `tokens`, `deadline`, `pool`, `cost`, `cycle`,
    `handoffs`, `repeats`."""
    notes: FreeText = ""
    transferred_to: str | None = None
    """The handoff that took over; of several, the first."""
    fork_id: str | None = None
    """Set when several took over at once."""
    inputs_hash: Digest
    steps_used: int
    tokens_used: int
    """Input plus output of its own model calls."""
    measured: bool = True
    """False: a model did not report its usage, and `tokens_used` holds an estimate."""
    cost: float | None = None
    """In the currency of the flow's prices; None where a price is unknown."""
    duration_seconds: float
    replayed: bool = False
    """Its result was taken from a recording as a whole: nobody worked on it."""
    quarantined: Digest | None = None
    """What the model said and nobody but the operator may read: it failed validation twice."""


@event("fork_opened")
class ForkOpened(Payload):
    """One reply asked for several handoffs; all were judged and reserved in this order."""

    fork_id: str
    handoff_ids: tuple[str, ...]


@event("fork_joined")
class ForkJoined(Payload):
    """All of a fork came back."""

    fork_id: str
    handoff_ids: tuple[str, ...]
    """In the order they were asked for, whichever came first."""
    statuses: tuple[str, ...]


@event("cycle_stopped")
class CycleStopped(Payload):
    """A transfer would have repeated a step of this turn, or a call would have called itself."""

    transitions: tuple[FreeText, ...]
    """`a → b`, in order, the refused one last."""
    max_edge_repeats: int
