"""What all requests of a session share."""

from collections.abc import Mapping
from dataclasses import dataclass

from handoff_console.runtime.flow import Flow
from handoff_console.runtime.frozen import quickly_made
from handoff_console.runtime.ledger import EffectLedger
from handoff_console.runtime.models import Model
from handoff_console.runtime.people import People
from handoff_console.runtime.player import Player
from handoff_console.runtime.recorder import Recorder
from handoff_console.runtime.state import SessionState


@quickly_made
@dataclass(frozen=True, slots=True, kw_only=True)
class SessionParts:
    """What all requests of a session share."""

    flow: Flow
    models: Mapping[str, Model]
    recorder: Recorder
    state: SessionState
    player: Player
    people: People
    ledger: EffectLedger
    raise_on_stop: bool = False
    """The first stop of a loop ends the request, to be raised."""
    wait_for_answers: bool = False
    """A question at the root waits for the user; otherwise it is the request's result."""
