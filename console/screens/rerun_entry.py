"""What a session's page says of re-runs: the way to the form, the attempts, what is repeated."""

import streamlit as st

from handoff_console.console import family_queries, rerun_queries, rerun_state, state
from handoff_console.console.commands.rerun_start import can_be_run_again
from handoff_console.console.components.labels import label as as_label
from handoff_console.console.components.panel import button, panel, pressed, tag
from handoff_console.console.family_queries import Member
from handoff_console.console.queries import Record
from handoff_console.console.screens import attempt_parts
from handoff_console.console.viewmodels.handoff_card import HandoffCard
from handoff_console.console.viewmodels.text import as_name
from handoff_console.runtime.contract import State
from handoff_console.store.analysis.asked_with import sender_of

BANNER = "rerun_banner"
IN_SIGHT = 3
"""Of the attempts, so many beside the one that is looked at fit into the card."""
LINE_PX = 30
"""What the line of attempts takes of the card's height."""


def way_to_form(record: Record, card: HandoffCard) -> None:
    """Draw the way to the form, where the handoff can be run again; else to the one that asked."""
    handoff_id, label = card.handoff_id, "↻ Re-run this handoff"
    if card.outcome == State.REFUSED:
        nodes = record.judgement.tree.by_id
        node = nodes.get(handoff_id)
        asker = nodes.get(sender_of(node) or "") if node else None
        if not asker:
            return
        handoff_id = asker.handoff_id
        who = as_label(f"{as_name(asker.agent)} ({as_name(handoff_id)})")
        label = f"↻ Re-run {who}, which asked for it"
    elif not can_be_run_again(card.agent):
        return
    st.page_link(
        "screens/rerun.py",
        label=label,
        query_params=rerun_state.rerun_address(record.version.session_id, handoff_id),
    )


def way_to_compare(record: Record) -> None:
    """Draw the way to this session beside another one."""
    st.page_link(
        "screens/side_by_side.py",
        label="⇄ Compare with another session",
        query_params={"left": record.version.session_id},
    )


def attempts(record: Record, card: HandoffCard) -> int:
    """Draw the attempts of the handoff on a line, if there are several; return its height in px."""
    family = family_queries.family(record.version.session_id)
    if len(family) < 2 and card.handoff_id not in record.judgement.tree.retried:
        return 0  # nothing to read: a click in a tree of 5,000 has to stay quick
    if rerun_state.is_leaving():
        st.rerun()
    session_id, nodes = record.version.session_id, record.judgement.tree
    here = nodes.by_id.get(card.handoff_id)
    places = {node.handoff_id for node in nodes.nodes if here and node.path == here.path}
    # To read what ran takes a while: only where something ran again.
    members = family_queries.family(session_id)
    if len(places) < 2 and not any(member.handoff_id in places for member in members):
        return 0
    found = rerun_queries.handoff_attempts(members, card.handoff_id)
    if len(found) < 2:
        return 0
    chosen = session_id, card.handoff_id
    attempt_parts.line(found, chosen, in_sight=IN_SIGHT)
    return LINE_PX


def banner(record: Record) -> None:
    """Say what a re-run repeats and with what change, with the way back to it; else nothing."""
    attempt_parts.leave()
    member = family_queries.member_of(record.version.session_id)
    if member is None or not member.mode:
        return
    said = rerun_queries.rerun_sentence(member)
    ways = [
        button("compare with it", "compare", link=True),
        button("open the original", "open", link=True),
    ]
    panel(
        BANNER,
        [
            tag(
                "div.row.small",
                tag("b.text", said.how),
                tag("span.text", said.changes),
                *(ways if said.original_is_there else []),
            )
        ],
        on_action=lambda: _go(member),
    )


def _go(rerun: Member) -> None:
    if pressed(BANNER) == "compare":
        address = rerun_state.sides_address(
            rerun.rerun_of, rerun.version.session_id, rerun.handoff_id
        )
        rerun_state.leave_for(rerun_state.SIDES, address)
    else:
        address = {**state.address_of(rerun.rerun_of), "handoff": rerun.handoff_id}
        rerun_state.leave_for(rerun_state.SESSION, address)
