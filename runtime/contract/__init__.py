"""The typed boundary between two agents: what is asked for, what comes back, what goes along.

Source: S0, steps 1 and 2.
"""

from handoff_console.runtime.contract.fence import fenced, tool_value, unfenced
from handoff_console.runtime.contract.handoff import (
    HandoffRequest,
    HandoffResult,
    Limits,
    answer_text,
    reaction_to,
)
from handoff_console.runtime.contract.kinds import ContextPolicy, Effect, HandoffKind
from handoff_console.runtime.contract.messages import (
    TRANSFER_TO,
    Message,
    ToolCall,
    Usage,
    holds_messages,
    transfer_of_result,
)
from handoff_console.runtime.contract.names import HUMAN, MIN_REPLY_TOKENS, RUNTIME, TEXT, USER
from handoff_console.runtime.contract.outcomes import WORST_FIRST, EndedBy, Reaction, State, Status
from handoff_console.runtime.contract.packet import Packet

__all__ = [
    "HUMAN",
    "MIN_REPLY_TOKENS",
    "RUNTIME",
    "TEXT",
    "TRANSFER_TO",
    "USER",
    "WORST_FIRST",
    "ContextPolicy",
    "Effect",
    "EndedBy",
    "HandoffKind",
    "HandoffRequest",
    "HandoffResult",
    "Limits",
    "Message",
    "Packet",
    "Reaction",
    "State",
    "Status",
    "ToolCall",
    "Usage",
    "answer_text",
    "fenced",
    "holds_messages",
    "reaction_to",
    "tool_value",
    "transfer_of_result",
    "unfenced",
]
