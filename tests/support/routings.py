"""Sessions as their routing figures: one that went right, one that was handed on."""

from dataclasses import replace

from handoff_console.store.analysis.routing import HandedOn, Routing

MONDAY = 1_795_996_800.0
"""2026-11-30, 0:00 UTC."""
RIGHT = Routing(
    session_id="s",
    flow="support",
    prompt_version="v2",
    started_at=MONDAY,
    first_targets=("billing",),
    first_invalid=False,
    first_pass=True,
    not_eligible="",
    route_unknown=False,
    handoffs=1,
    depth=1,
    corrective=0,
    ping_pong=0,
    cut=False,
    required=2,
    present=2,
    asked_again=0,
    tokens_used=100,
    misroute_tokens=0,
    transition_seconds=(1.0,),
    streamed=False,
    final_agent="billing",
    outcome="ok",
)
HANDED_ON = replace(
    RIGHT, first_pass=False, handoffs=2, corrective=1, present=1, tokens_used=300,
    misroute_tokens=120, transition_seconds=(1.0, 3.0), depth=2, final_agent="account",
    handed_on=(HandedOn("billing", "account"),),
)  # fmt: skip


def named(*several: Routing) -> list[Routing]:
    return [replace(routing, session_id=f"s{n}") for n, routing in enumerate(several)]
