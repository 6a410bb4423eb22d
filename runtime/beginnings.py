"""How a session, and a request of it, begin on the record."""

from handoff_console.runtime.contract import HandoffRequest
from handoff_console.runtime.events import SessionResumed, SessionStarted, UserMessageReceived
from handoff_console.runtime.options import Origin
from handoff_console.runtime.parts import SessionParts
from handoff_console.runtime.process import this_process
from handoff_console.runtime.recorder import Scope
from handoff_console.runtime.tracing import trace_id
from handoff_console.runtime.versions import PYTHON_VERSION, package_versions

PREVIEW_CHARACTERS = 200
RUNTIME_VERSION = "1"
"""Changes when the same flow and the same replies would be executed differently."""


def started(parts: SessionParts, origin: Origin) -> SessionStarted:
    """Return the first event of a session."""
    flow, recorder = parts.flow, parts.recorder
    process = origin.process or this_process()
    models = {agent.name: parts.models[agent.name].name for agent in flow.agents}
    over_mcp = any(tool.untrusted for agent in flow.agents for tool in agent.tools)
    return SessionStarted(
        flow=flow.name,
        flow_source=origin.flow_source,
        flow_digest=recorder.keep_fixed(flow.whole),
        prompt_version=flow.prompt_version,
        models=models,
        offline=all(model.offline for model in parts.models.values()),
        seed=origin.seed,
        origin=origin.kind,
        rerun_of=origin.rerun_of,
        rerun_handoff=origin.rerun_handoff,
        rerun_mode=origin.rerun_mode,
        edits=recorder.keep(origin.edits).digest if origin.edits else None,
        metadata=dict(origin.metadata or {}),
        host=process.host,
        boot=process.boot,
        pid=process.pid,
        process_started=process.started,
        runtime_version=RUNTIME_VERSION,
        python_version=PYTHON_VERSION,
        packages=package_versions(models.values(), over_mcp=over_mcp),
    )


def resumed(origin: Origin) -> SessionResumed:
    """Return what says which process took up a session."""
    process = origin.process or this_process()
    return SessionResumed(
        host=process.host,
        boot=process.boot,
        pid=process.pid,
        process_started=process.started,
    )


def received(
    parts: SessionParts, scope: Scope, message: str | HandoffRequest, pool_tokens: int
) -> UserMessageReceived:
    """Return what says that the user said something, and what its request may take."""
    flow, recorder = parts.flow, parts.recorder
    text = message if isinstance(message, str) else message.task
    # Redacted before it is cut: half a secret is recognised by nobody.
    beginning = recorder.redaction.clean_text(text[: 10 * PREVIEW_CHARACTERS])
    return UserMessageReceived(
        message=recorder.keep({"role": "user", "content": text}).digest,
        preview=beginning[:PREVIEW_CHARACTERS],
        typed=isinstance(message, HandoffRequest),
        trace_id=trace_id(str(scope.request_id)),
        pool_tokens=pool_tokens,
        finish_floor_tokens=flow.finish_floor_tokens,
        max_handoffs=flow.max_handoffs,
        max_edge_repeats=flow.max_edge_repeats,
        max_workers=flow.max_workers,
        depth=flow.depth,
        max_cost=flow.max_cost,
    )
