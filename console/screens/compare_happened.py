"""What happened: how recorded sessions were routed, by prompt version, flow and week."""

from collections.abc import Mapping, Sequence

import streamlit as st

from handoff_console.console import runs, settings, traffic_queries
from handoff_console.console.components.choice import choice
from handoff_console.console.components.panel import panel, tag
from handoff_console.console.components.routing_table import show_groups
from handoff_console.console.screens import missed_part
from handoff_console.console.viewmodels.routing_happened import (
    GROUP_WORDS,
    alert_sentence,
    difference_sentence,
    group_rows,
    group_words,
)
from handoff_console.console.viewmodels.text import count
from handoff_console.store.analysis.routing import Routing
from handoff_console.store.analysis.routing_groups import (
    GroupBy,
    RoutingGroup,
    group_difference,
    group_name,
    routing_groups,
)

Labels = Mapping[str, str]
"""Session → who should have got it."""
GROUPINGS: tuple[GroupBy, ...] = ("prompt_version", "flow", "week")


def show_what_happened() -> None:
    """Draw the four metrics, a group a row, and two groups beside each other."""
    routings = traffic_queries.routings()
    if not routings:
        _show_empty()
        return
    with st.container(horizontal=True, vertical_alignment="top", gap="small"):
        by = st.segmented_control(
            "By",
            GROUPINGS,
            default=GROUPINGS[0],
            format_func=lambda value: GROUP_WORDS[value],
            required=True,
            key="by",
            bind="query-params",
        )
        flow = _flow_choice(sorted({it.flow for it in routings})) if by != "flow" else None
        label_key = _label_choice()
    wanted = [it for it in routings if flow is None or it.flow == flow]
    labels = traffic_queries.session_labels(label_key)
    groups = routing_groups(wanted, by, labels)
    show_groups(group_rows(groups, by), GROUP_WORDS[by], alert_sentence(groups, by))
    if len(groups) > 1:
        _show_difference(groups, by, wanted, labels)
    missed_part.show(wanted, labels)
    panel(
        "happened_of",
        [
            tag(
                "p.small.quiet",
                f"From {count(len(wanted), 'closed session')}; re-runs and trials of comparisons "
                "are left out.",
            )
        ],
    )


def _flow_choice(flows: list[str]) -> str | None:
    return choice("Flow", flows, "every flow", key="happened_flow", width=200)


def _label_choice() -> str | None:
    keys = traffic_queries.label_keys()
    if not keys:
        return None
    return choice(
        "Labels",
        keys,
        "none",
        key="happened_labels",
        width=200,
        help="What came with the requests: choose the field that names the agent who should "
        "have got them.",
    )


def _show_difference(
    groups: Sequence[RoutingGroup], by: GroupBy, wanted: Sequence[Routing], labels: Labels
) -> None:
    names = [group.name for group in groups]
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        a = _group_choice("Is there a difference between", names, by, len(names) - 2)
        b = _group_choice("and", names, by, len(names) - 1)
    sides = {group.name: group for group in groups}
    found = group_difference(
        [it for it in wanted if group_name(it, by) == a],
        [it for it in wanted if group_name(it, by) == b],
        labels,
    )
    said = difference_sentence(found, sides[a], sides[b], by)
    panel("happened_difference", [tag("p.text", said)])


def _group_choice(label: str, names: Sequence[str], by: GroupBy, place: int) -> str:
    return st.selectbox(
        label,
        names,
        index=place,
        format_func=lambda name: group_words(name, by),
        key=f"happened_{by}_{label}",
        width=260,
    )


def _show_empty() -> None:
    command = f'handoff run support --db "{settings.store_path()}"'
    panel(
        "happened_empty",
        [
            tag("p.big", "No session has been recorded yet"),
            tag(
                "p",
                "Run requests through a flow and this page says how they were routed: right first "
                "time or not, how often they were handed on, what got lost, how long it took.",
            ),
            tag("pre", f'{command} --message "{runs.first_message()}"'),
            tag(
                "p.quiet",
                "Or compare two prompt versions before any session runs: Compare versions, above.",
            ),
        ],
    )
