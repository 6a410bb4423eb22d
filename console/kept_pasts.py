"""What records say of handoffs that are run again, kept while forms about them are filled in.

A form asks at every change of a field: only what depends on the change is worked out anew. Kept is
what a version of a session says, for the flow that it is run with as that is loaded now.
"""

from functools import lru_cache
from pathlib import Path

from handoff_console.console.commands.attempt_names import attempt_named
from handoff_console.console.commands.bisecting import (
    Between,
    Bisection,
    SearchPlan,
    between,
    plan_bisection,
    planned,
)
from handoff_console.console.commands.estimates import Plan, plan_of, plan_rerun
from handoff_console.console.commands.flows import load_flow
from handoff_console.console.commands.rerun_orders import Graft, RerunOrder, checked, graft_of
from handoff_console.console.commands.rerun_past import Past, past_of
from handoff_console.console.commands.rerun_start import Start, start_from
from handoff_console.console.memory import undisturbed
from handoff_console.console.queries import LARGE_EVENTS, version
from handoff_console.console.reading import Version, reading
from handoff_console.console.settings import store_path
from handoff_console.runtime.errors import HandoffConsoleError
from handoff_console.runtime.flow import Flow
from handoff_console.runtime.rerun_player import Mode
from handoff_console.store import reader

PASTS_KEPT = 8
"""Handoffs whose past stays in memory, and so many re-runs; with 20,000 answers each takes 7 MB."""


def start_now(found: Version, handoff_id: str, named: str) -> Start:
    """Return what the form for running a handoff again starts from, as its flow is now.

    While the flow's file cannot be loaded, the form stays as it was; the plan says what is wrong.

    Raises:
        HandoffConsoleError: It cannot be run again; the text says why.
    """
    loaded = _loaded(named) or _last_loaded.get(named)
    past = _past(found, handoff_id, named, _Loaded(loaded), alone=True)
    return start_from(past, named, Path(found.path))


def plan_now(found: Version, order: RerunOrder) -> Plan:
    """Return what a re-run will take, as the session and its flow are now.

    Raises:
        HandoffConsoleError: It cannot be run; the text says why.
    """
    flow = _loaded(order.named)
    # Values are filled into the whole record and kept nowhere; nor is what is wrong with a flow.
    if order.values or (order.named and flow is None):
        return plan_rerun(Path(found.path), found.session_id, order)
    is_alone = order.alone is not None
    past = _past(found, order.handoff_id, order.named, _Loaded(flow), alone=is_alone)
    return plan_of(checked(past, _graft_now(found, order), order), order)


def search_now(asked: Bisection) -> SearchPlan:
    """Return what a search for what flips an outcome will try, as both sessions are now.

    Raises:
        HandoffConsoleError: It cannot be tried; the text says why.
    """
    flow = _loaded(asked.named)
    with reading() as db:
        both = [attempt_named(db, said).session for said in (asked.failed, asked.good)]
        both = [reader.resolve_session(db, one) for one in both]
    failed, good = map(version, both)
    if asked.values or not failed or not good or (asked.named and flow is None):
        return plan_bisection(store_path(), asked)
    names = asked.failed, asked.good, asked.named
    return planned(_between((failed, good), names, _Loaded(flow)), asked)


class _Loaded:
    """A flow as it was loaded, told by identity: a file that has changed makes another one."""

    def __init__(self, flow: Flow | None) -> None:
        self.flow = flow  # as long as this is a key, no other flow has its id

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Loaded) and self.flow is other.flow

    def __hash__(self) -> int:
        return id(self.flow)


_last_loaded: dict[str, Flow] = {}
"""As the user names them; a console has a few."""


def _loaded(named: str) -> Flow | None:
    """Return a flow of the user's as it is now; None where none is named, or it cannot be loaded.

    What is wrong with it is said when the record is read: something else may come first.
    """
    try:
        if named:
            _last_loaded[named] = load_flow(named).flow
    except HandoffConsoleError:
        return None
    return _last_loaded.get(named)


@lru_cache(maxsize=PASTS_KEPT)
def _past(found: Version, handoff_id: str, named: str, _flow: _Loaded, *, alone: bool) -> Past:
    large = found.seq > LARGE_EVENTS
    with reading(found.path) as db, undisturbed(keep=large):
        past = past_of(db, found.session_id, handoff_id, named, alone=alone)
        past.keep()
        return past


@lru_cache(maxsize=PASTS_KEPT)
def _between(
    sessions: tuple[Version, Version], names: tuple[str, str, str], _flow: _Loaded
) -> Between:
    failed, good, named = names
    large = max(one.seq for one in sessions) > LARGE_EVENTS
    with reading(sessions[0].path) as db, undisturbed(keep=large):
        return between(db, Bisection(failed=failed, good=good, named=named))[2]


def _graft_now(found: Version, order: RerunOrder) -> Graft | None:
    taken_over = version(order.graft) if order.graft and order.mode is Mode.CONTINUE else None
    if taken_over:
        return _graft(taken_over, found.session_id, order.handoff_id)
    with reading(found.path) as db:  # none, or it is said what is wrong with it
        return graft_of(db, found.session_id, order)


@lru_cache(maxsize=PASTS_KEPT)
def _graft(taken_over: Version, session_id: str, handoff_id: str) -> Graft | None:
    order = RerunOrder(handoff_id=handoff_id, mode=Mode.CONTINUE, graft=taken_over.session_id)
    with reading(taken_over.path) as db, undisturbed(keep=taken_over.seq > LARGE_EVENTS):
        graft = graft_of(db, session_id, order)
        if graft:
            graft.keep()
        return graft
