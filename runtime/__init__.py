"""Runs handoff sessions between agents: typed requests and results, limits in code, one budget.

Needs pydantic and the standard library, nothing else.
"""

from handoff_console.runtime.agents import Agent, Edge
from handoff_console.runtime.contract import (
    Effect,
    HandoffRequest,
    HandoffResult,
    Limits,
    State,
    Status,
    Usage,
)
from handoff_console.runtime.errors import (
    FlowError,
    HandoffConsoleError,
    ModelError,
    OutcomeUnknown,
    RequestError,
    SessionStopped,
    ToolError,
    TransientModelError,
    TransientToolError,
)
from handoff_console.runtime.events import Event, EventList, EventSink, Recording
from handoff_console.runtime.flow import Flow, Price
from handoff_console.runtime.models import (
    Bm25,
    CallableModel,
    Model,
    ModelCall,
    ModelReply,
    Rules,
    Scripted,
    answer,
    delegate,
    hand_over,
    say,
    timed,
    together,
    use,
)
from handoff_console.runtime.options import Origin, SessionResult
from handoff_console.runtime.people import Approval, Decision, Question
from handoff_console.runtime.redaction import Redaction
from handoff_console.runtime.session import Session, resume, run
from handoff_console.runtime.tool import Tool, Transfer

__all__ = [
    "Agent",
    "Approval",
    "Bm25",
    "CallableModel",
    "Decision",
    "Edge",
    "Effect",
    "Event",
    "EventList",
    "EventSink",
    "Flow",
    "FlowError",
    "HandoffConsoleError",
    "HandoffRequest",
    "HandoffResult",
    "Limits",
    "Model",
    "ModelCall",
    "ModelError",
    "ModelReply",
    "Origin",
    "OutcomeUnknown",
    "Price",
    "Question",
    "Recording",
    "Redaction",
    "RequestError",
    "Rules",
    "Scripted",
    "Session",
    "SessionResult",
    "SessionStopped",
    "State",
    "Status",
    "Tool",
    "ToolError",
    "Transfer",
    "TransientModelError",
    "TransientToolError",
    "Usage",
    "answer",
    "delegate",
    "hand_over",
    "resume",
    "run",
    "say",
    "timed",
    "together",
    "use",
]
