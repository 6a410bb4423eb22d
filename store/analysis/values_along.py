"""Which values handoffs had to take along, and which they did.

Source: S2, "Payload Completeness".
"""

from functools import cached_property
from typing import Any

from handoff_console.runtime.events import AgentActivated, HandoffOpened, HandoffRequested
from handoff_console.store.analysis.asked_with import sender_of
from handoff_console.store.analysis.bodies import fields_within, filled, read, read_fields
from handoff_console.store.analysis.findings.record import Record
from handoff_console.store.analysis.nodes import HandoffNode


class ValuesAlong:
    """The values of one session's handoffs; without bodies there are none to be seen.

    Args:
        record: The session.
    """

    def __init__(self, record: Record) -> None:
        self._record = record

    def required(self, node: HandoffNode) -> list[str]:
        """Return the values that whoever asked was told to send along."""
        for spec in self._offers.get(sender_of(node) or "", ()):
            if fields_within(spec, "handoff").get("target") == node.agent:
                values = fields_within(spec, "parameters", "properties", "payload")
                names = values.get("required")
                known = names if isinstance(names, list) else []
                return [name for name in known if isinstance(name, str)]
        return []

    def sent(self, node: HandoffNode) -> frozenset[str]:
        """Return the names of the values that its request had, the empty ones left out."""
        request = self._requests.get(node.handoff_id)
        return frozenset(filled(read_fields(self._record.body, request).get("inputs")))

    def along(self, node: HandoffNode) -> frozenset[str]:
        """Return the names of all values that reached it: of its request and of its packet."""
        packet = read_fields(self._record.body, self._packets.get(node.handoff_id))
        return self.sent(node).union(filled(packet.get("facts")), filled(packet.get("claimed")))

    @cached_property
    def _requests(self) -> dict[str | None, str | None]:
        return {e.handoff_id: p.request for e, p in self._record.of(HandoffRequested)}

    @cached_property
    def _packets(self) -> dict[str | None, str | None]:
        return {e.handoff_id: p.packet for e, p in self._record.of(HandoffOpened)}

    @cached_property
    def _offers(self) -> dict[str, list[Any]]:
        """The tools that each handoff's agent was offered."""
        found = {}
        for event, payload in self._record.of(AgentActivated):
            offered = read(self._record.body, payload.tools)
            if isinstance(offered, list):
                found[event.handoff_id or ""] = offered
        return found
