"""Everything that can happen in a session: the vocabulary that runtime, store and console share.

Kinds stand in the past tense and say what was true afterwards. `docs/events.md` lists them all.
"""

from handoff_console.runtime.events.base import (
    KINDS,
    Digest,
    Event,
    EventList,
    EventSink,
    FreeText,
    Opaque,
    Payload,
    load_payload,
    payload_fields,
    payload_text,
)
from handoff_console.runtime.events.budget import (
    BudgetCharged,
    BudgetOverdrawn,
    BudgetRefunded,
    BudgetReserved,
)
from handoff_console.runtime.events.decisions import (
    ApprovalDecided,
    ApprovalRequested,
    ReplayDiverged,
)
from handoff_console.runtime.events.handoff import (
    AgentActivated,
    CycleStopped,
    ForkJoined,
    ForkOpened,
    HandoffClosed,
    HandoffOpened,
    HandoffRejected,
    HandoffRequested,
)
from handoff_console.runtime.events.recording import (
    Recording,
    context_chain,
    hop_of,
    is_within,
    roots_of,
)
from handoff_console.runtime.events.session import (
    InputGiven,
    InputRequested,
    SessionClosed,
    SessionResumed,
    SessionStarted,
    SessionSuspended,
    StateSet,
    UserMessageReceived,
    WarningRaised,
)
from handoff_console.runtime.events.tools import (
    ToolCalled,
    ToolDenied,
    ToolReturned,
    ToolReturnedLate,
)
from handoff_console.runtime.events.work import (
    NO_MATCH,
    NO_RULE,
    FirstTokenReceived,
    ModelCalled,
    ModelReplied,
    OutputRejected,
)

__all__ = [
    "KINDS",
    "NO_MATCH",
    "NO_RULE",
    "AgentActivated",
    "ApprovalDecided",
    "ApprovalRequested",
    "BudgetCharged",
    "BudgetOverdrawn",
    "BudgetRefunded",
    "BudgetReserved",
    "CycleStopped",
    "Digest",
    "Event",
    "EventList",
    "EventSink",
    "FirstTokenReceived",
    "ForkJoined",
    "ForkOpened",
    "FreeText",
    "HandoffClosed",
    "HandoffOpened",
    "HandoffRejected",
    "HandoffRequested",
    "InputGiven",
    "InputRequested",
    "ModelCalled",
    "ModelReplied",
    "Opaque",
    "OutputRejected",
    "Payload",
    "Recording",
    "ReplayDiverged",
    "SessionClosed",
    "SessionResumed",
    "SessionStarted",
    "SessionSuspended",
    "StateSet",
    "ToolCalled",
    "ToolDenied",
    "ToolReturned",
    "ToolReturnedLate",
    "UserMessageReceived",
    "WarningRaised",
    "context_chain",
    "hop_of",
    "is_within",
    "load_payload",
    "payload_fields",
    "payload_text",
    "roots_of",
]
