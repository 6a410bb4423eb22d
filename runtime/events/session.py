"""Events of a session and of the people in it."""

from handoff_console.runtime.contract import Status
from handoff_console.runtime.events.base import Digest, FreeText, Payload, event


@event("session_started")
class SessionStarted(Payload):
    """A session began, in this process, on this flow."""

    flow: str
    """The flow's name."""
    flow_source: str = ""
    """Where the flow came from: `support`, or `file.py:name`. Never imported because of this."""
    flow_digest: Digest
    """The whole flow: agents, prompts, edges, tools, schemas, limits, redaction rules, checks."""
    prompt_version: str = ""
    """The label of the prompt version; empty when the prompts stand in the flow."""
    models: dict[str, str]
    """The model of each agent, by agent."""
    offline: bool = True
    """No agent asks a model outside this machine."""
    seed: int | None = None
    origin: str = "run"
    """`run`, `sample`, `batch`, `rerun`, or `import`."""
    rerun_of: str = ""
    """The session that this one repeats a part of."""
    rerun_handoff: str = ""
    """The handoff of it that was run again; events of the same path are the same node."""
    rerun_mode: str = ""
    """`verify`, `what-if`, `live-reads`, `live`, or `continue`."""
    edits: Digest | None = None
    """What was changed; None when nothing was."""
    metadata: dict[str, FreeText]
    """What the caller knows about the request: labels, ids of their own."""
    host: str = ""
    boot: str = ""
    """Tells one start of the machine from the next: a process id alone comes back."""
    pid: int = 0
    process_started: float = 0.0
    """Seconds since 1970 when the process began; tells it from a later one of the same id."""
    runtime_version: str = ""
    python_version: str = ""
    packages: tuple[str, ...] = ()
    """Those that took part, each with its version: `pydantic 2.12.0`."""


@event("user_message_received")
class UserMessageReceived(Payload):
    """The user said something: a request begins."""

    message: Digest
    """The message, as a body `{"role": "user", "content": …}`."""
    preview: FreeText
    """Its first 200 characters."""
    typed: bool = False
    """It came as a typed request, which the root handoff holds."""
    trace_id: str
    """32 hexadecimal digits, shared by everything this request causes."""
    pool_tokens: int
    """The pool that the whole request shares."""
    finish_floor_tokens: int
    """What stays with the root, so that it can answer."""
    max_handoffs: int
    max_edge_repeats: int
    max_workers: int
    """Calls that this request may open."""
    depth: int
    """How deep calls may nest."""
    max_cost: float | None = None
    """In the currency of the flow's prices."""


@event("session_suspended")
class SessionSuspended(Payload):
    """Nothing goes on without a person; the process may end, and another one may go on."""

    approvals: tuple[str, ...] = ()
    """Ids of approvals that are waited for."""
    questions: tuple[str, ...] = ()
    """Ids of handoffs that wait for an answer."""


@event("session_resumed")
class SessionResumed(Payload):
    """A process took up a session that was suspended or interrupted."""

    host: str = ""
    boot: str = ""
    pid: int = 0
    process_started: float = 0.0
    """Seconds since 1970 when the process began."""


@event("input_requested")
class InputRequested(Payload):
    """A value is missing that a person has to give. The envelope names who waits for it."""

    question: FreeText
    asked_by: str = ""
    """The path of the handoff that first said so, where it lies below the one that waits."""


@event("input_given")
class InputGiven(Payload):
    """A person gave a missing value."""

    answer: Digest
    """As the message that the agent reads."""
    given_by: FreeText = ""


@event("state_set")
class StateSet(Payload):
    """A key of the session state got its value; a second value for it is a conflict."""

    key: FreeText
    value: Digest
    conflict: bool = False


@event("warning_raised")
class WarningRaised(Payload):
    """Something worth knowing that stopped nothing."""

    code: str
    """A fixed word, such as `usage_estimated`."""
    text: FreeText


@event("session_closed")
class SessionClosed(Payload):
    """The last request was answered, or the session ended without."""

    status: Status | None
    """The result of its last request; None when it was cancelled."""
    cancelled: bool = False
    reason: str = ""
    """For `limit_reached`, which limit: `steps`, `tokens`, `deadline`, `pool`, `cost`, `cycle`,
    `handoffs`."""
    answer: Digest | None = None
    """The last hop's result."""
    pool_free: int
    pool_spent: int
