"""A desk of three agents that can be run again with changes, in virtual time."""

import functools
from typing import Any

from handoff_console.runtime import (
    Agent,
    Edge,
    EventList,
    Flow,
    Limits,
    ModelCall,
    ModelReply,
    Origin,
    Recording,
    Tool,
    answer,
    delegate,
    run,
    use,
)
from handoff_console.runtime.clock import VirtualClock, run_virtual
from handoff_console.runtime.edits import Edits
from handoff_console.runtime.rerun import RerunResult, rerun
from handoff_console.runtime.rerun_player import Mode
from handoff_console.store.analysis.findings.record import Record

PAYMENTS = {"4812": ["PAY-117", "PAY-118"], "4813": []}


def list_payments(customer: str, month: str = "any") -> dict[str, Any]:
    """List the payments of a customer."""
    return {"payments": PAYMENTS.get(customer, []), "month": month}


def supervisor(call: ModelCall) -> ModelReply:
    """Ask billing, then writing, and say what came of it."""
    if not call.results:
        customer = "4812" if "4812" in call.text else "4813"
        return delegate("billing", "Find the double charge.", customer=customer)
    last = call.results[-1].value
    if "refused" in last:
        return answer("limit_reached", "nobody could be asked")
    if len(call.results) == 1:
        return delegate("writer", "Write the answer.", found=last["status"])
    return answer("ok", last["notes"])


def billing(call: ModelCall) -> ModelReply:
    """Find something only with a customer who has payments, and say more when told to."""
    if not call.results:
        return use("list_payments", customer=str(call.inputs.get("customer", "")))
    found = call.results[0].value
    if not isinstance(found, dict) or not found["payments"]:
        return answer("not_found", "no payment")
    if "name them" in call.messages[0]["content"]:
        return answer("ok", ", ".join(found["payments"]))
    return answer("ok", f"{len(found['payments'])} payments")


def writer(call: ModelCall) -> ModelReply:
    return answer("ok", f"Billing says {call.inputs['found']}.")


def desk(prompt: str = "You look into payments.", **changes: Any) -> Flow:
    """A supervisor with two workers."""
    small = Limits(max_steps=4, max_tokens=4_000)
    flow = Flow(
        "desk",
        [
            Agent(
                "supervisor",
                edges=[Edge.call("billing", limits=small), Edge.call("writer", limits=small)],
                model=supervisor,
            ),
            Agent(
                "billing", prompt=prompt, tools=[Tool(list_payments, inline=True)], model=billing
            ),
            Agent("writer", prompt="You write.", model=writer),
        ],
        pool_tokens=20_000,
    )
    return flow.changed(**changes) if changes else flow


class Desk:
    """Sessions of the desk and re-runs of their handoffs, all in one sink's bodies.

    Args:
        flow: Another flow than the desk's own.
    """

    def __init__(self, flow: Flow | None = None) -> None:
        self.flow = flow or desk()
        self.bodies: dict[str, bytes] = {}
        self.sinks: dict[str, EventList] = {}

    def _sink(self, name: str) -> EventList:
        sink = self.sinks[name] = EventList(b"key")
        sink.bodies = self.bodies
        return sink

    def session(
        self, text: str = "Customer 4813 was charged twice.", name: str = "s1", **options: Any
    ) -> str:
        """Run a session; return its id."""
        flow = options.pop("flow", self.flow)
        start = functools.partial(run, flow, text, sink=self._sink(name), session_id=name)
        run_virtual(start(clock=VirtualClock(), **options))
        return name

    def again(
        self,
        handoff_id: str,
        edits: Edits | None = None,
        *,
        of: str = "s1",
        mode: Mode = Mode.LIVE_READS,
        name: str = "",
        **options: Any,
    ) -> RerunResult:
        """Run a handoff again, in a session of its own that is called r1, r2, …"""
        name = name or f"r{len(self.sinks)}"
        flow = options.pop("flow", self.flow)
        options = {"clock": VirtualClock(), "session_id": name, "origin": Origin()} | options
        return run_virtual(
            rerun(
                flow,
                self.recording(of),
                handoff_id,
                mode=mode,
                edits=edits,
                sink=self._sink(name),
                **options,
            )
        )

    def recording(self, name: str) -> Recording:
        sink = self.sinks[name]
        return Recording(name, list(sink.events), sink.body)

    def record(self, name: str) -> Record:
        sink = self.sinks[name]
        return Record(list(sink.events), sink.body)

    @property
    def reruns(self) -> list[Record]:
        return [self.record(name) for name in self.sinks if name.startswith("r")]
