"""How a session is run, and how it came out."""

import os
import secrets
from collections.abc import Callable, Mapping, MutableMapping, Sequence
from dataclasses import dataclass, field, fields
from datetime import UTC, datetime
from functools import lru_cache, wraps
from inspect import signature
from typing import Any, Literal, ParamSpec, TypeVar

from handoff_console.runtime.arguments import meant_by, names_its_arguments
from handoff_console.runtime.clock import Clock, SystemClock
from handoff_console.runtime.contract import HUMAN, HandoffResult, Status, answer_text
from handoff_console.runtime.errors import ArgumentUnknown, FlowError, RequestError, choices
from handoff_console.runtime.events import EventList, EventSink
from handoff_console.runtime.flow import Flow
from handoff_console.runtime.frozen import quickly_made
from handoff_console.runtime.ledger import EffectLedger, MemoryLedger
from handoff_console.runtime.models import Model, as_model
from handoff_console.runtime.people import Approval, Decision, Question
from handoff_console.runtime.process import ProcessIdentity


@quickly_made
@dataclass(frozen=True, slots=True)
class SessionResult:
    """How a request came out, or what it waits for."""

    session_id: str
    result: HandoffResult
    """Of the last hop of the root; while it waits, `needs_input` with what for."""
    reason: str = ""
    """For `limit_reached`, which limit."""
    tokens_used: int = 0
    pool_tokens: int = 0
    waiting_for: tuple[Approval | Question, ...] = ()
    """Who has to be asked before the session can go on (`resume`)."""

    @property
    def status(self) -> Status:
        """The result's status."""
        return self.result.status

    @property
    def answer(self) -> str:
        """What the user is shown."""
        return answer_text(self.result)


@dataclass(frozen=True, kw_only=True)
class Origin:
    """Where a session comes from; recorded, never acted on."""

    flow_source: str = ""
    """`support`, or `file.py:name`."""
    kind: str = "run"
    """`run`, `batch` or `sample`."""
    metadata: Mapping[str, str] | None = None
    seed: int | None = None
    process: ProcessIdentity | None = None
    """Defaults to this process."""
    rerun_of: str = ""
    """The session that is run again in part."""
    rerun_handoff: str = ""
    rerun_mode: str = ""
    edits: Mapping[str, Any] | None = None
    """What was changed for it."""


@names_its_arguments
@quickly_made
@dataclass(frozen=True, slots=True, kw_only=True)
class RunOptions:
    """How a session is run; every field has a sound default."""

    sink: EventSink = field(default_factory=EventList)
    """Where the events go; by default they are kept in memory and dropped."""
    model: Any = None
    """The model of every agent, instead of the flow's and the agents' own."""
    models: Mapping[str, Any] = field(default_factory=dict)
    """Models by agent name; they come before all others."""
    clock: Clock = field(default_factory=SystemClock)
    session_id: str = ""
    """Defaults to a new one that sorts by time."""
    origin: Origin = Origin()
    state: Mapping[str, Any] = field(default_factory=dict)
    """What the host knows before anybody says anything: session state from the start. A session
    that is gone on with knows what its record says."""
    on_stop: Literal["result", "raise"] = "result"
    """`raise` makes a loop or too many transfers an exception, after it has been recorded."""
    ledger: EffectLedger = field(default_factory=MemoryLedger)
    """Where effects are noted, so that none is done twice."""
    ask: Callable[[Approval | Question], Decision | str | None] | None = None
    """Asked at once when a person is needed; without it, or with None as its answer, the session is
    suspended."""
    decisions: Sequence[Decision] = ()
    """Made since the session was suspended."""
    answers: Mapping[str, str] = field(default_factory=dict)
    """Given since the session was suspended, by the handoff that asked."""
    originals: MutableMapping[str, str] | None = None
    """Gets, for this process alone, what is left out of the record: the JSON of bodies as they were
    before they were redacted, by the digest of what is written; empty where two of them are written
    alike."""
    wait_for_answers: bool = False
    """A question of the last hop waits for the user; otherwise it is the request's result."""

    def id_of_session(self) -> str:
        """Return the id that was chosen, or a new one.

        Raises:
            RequestError: It is none that can be written.
        """
        chosen = self.session_id
        if chosen and not _can_be_written(chosen):
            raise RequestError(
                f"The session id {chosen!r} cannot be recorded; use a text of letters, digits and "
                "`-`, or leave it out for a new one."
            )
        return chosen or new_session_id(self.clock)


def _can_be_written(name: object) -> bool:
    """Say whether a name is a text without what files and stores do not take."""
    try:
        return isinstance(name, str) and b"\0" not in name.encode()
    except UnicodeEncodeError:  # half of a character: a lone surrogate
        return False


def new_session_id(clock: Clock) -> str:
    """Return an id that sorts by time and is easy to tell apart: `20261130-094512-1f3c9a2b`."""
    return f"{_second(int(clock.now()))}-{_random_digits()}"


@lru_cache(maxsize=1)
def _second(seconds: int) -> str:
    return f"{datetime.fromtimestamp(seconds, UTC):%Y%m%d-%H%M%S}"


def _random_digits() -> str:
    """Return eight of them; the system is asked for many at once, and again after a fork."""
    try:
        return _RANDOM_DIGITS.pop()
    except IndexError:
        many = secrets.token_hex(4 * 64)
        _RANDOM_DIGITS.extend(many[at : at + 8] for at in range(8, len(many), 8))
        return many[:8]


_RANDOM_DIGITS: list[str] = []
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_RANDOM_DIGITS.clear)


_P = ParamSpec("_P")
_R = TypeVar("_R")


def takes_options(function: Callable[_P, _R]) -> Callable[_P, _R]:
    """Make a function that hands `**options` on to `RunOptions` say which of them was meant.

    It names itself, and all that can be given to it, in place of what it calls.
    """
    of = function.__qualname__.removesuffix(".__init__")
    given = [name for name in signature(function).parameters if name not in {"self", "options"}]
    known = dict.fromkeys((*given, *(one.name for one in fields(RunOptions))))

    @wraps(function)
    def checked(*values: _P.args, **options: _P.kwargs) -> _R:
        for name in options:
            if name not in known:
                raise ArgumentUnknown(of, name, known, likely=meant_by(name, known))
        return function(*values, **options)

    return checked


def chosen_models(flow: Flow, options: RunOptions) -> dict[str, Model]:
    """Return the model of every agent.

    Raises:
        FlowError: An agent has no model, or a model no agent.
    """
    for name in options.models:
        if name not in flow.agents_by_name:
            known = choices(flow.agents_by_name)
            mistake = f"a model is given for {name!r}, which is no agent of it; there are: {known}."
            raise FlowError(flow.name, [mistake])
    chosen = {}
    for agent in flow.agents:
        named = options.models.get(agent.name) or options.model or agent.model or flow.model
        chosen[agent.name] = as_model(named, flow.name, agent.name)
    chosen[HUMAN] = _NOBODY
    return chosen


def _nobody(call: Any) -> None:
    """Stand in for the model of the person that every flow may turn to."""


_NOBODY = as_model(_nobody, "", HUMAN)
