"""What another pool or other limits would have done: sliders, and what they come to."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import streamlit as st

from handoff_console.console.components.labels import label
from handoff_console.console.components.panel import Node, button, panel, pressed, status, tag
from handoff_console.console.viewmodels.text import amount
from handoff_console.console.viewmodels.what_if import FateLine, WhatIfView, grouped
from handoff_console.console.viewmodels.what_if_choices import AgentLimits, WhatIfChoices
from handoff_console.store.analysis.what_if import Change

KEY = "what_if"
LINES_SHOWN, LINES_AT_MOST = 12, 200
NOBODY = ""


@dataclass(frozen=True)
class Sliders:
    """Draws the sliders of one session, and remembers what stands where.

    Args:
        scope: The session's id.
        choices: What there is to choose.
    """

    scope: str
    choices: WhatIfChoices

    def pool(self) -> int | None:
        """Draw the pool's slider; return where it stands, None where that is as recorded."""
        choices = self.choices
        if choices.pool_stops:
            return self._pool_by_stops()
        least = min(tokens for tokens, _ in (*choices.marks, (choices.pool_tokens, "")))
        chosen = self._slider(
            "pool", "Pool, tokens", choices.pool_tokens, choices.most_pool_tokens, to_reach=least
        )
        self._marks()
        return chosen

    def _pool_by_stops(self) -> int | None:
        stops, recorded, key = self.choices.pool_stops, self.choices.pool_tokens, self._key("pool")
        stands = st.session_state.get(key, recorded)
        st.session_state[key] = min(stops, key=lambda stop: abs(stop - stands))
        chosen = st.select_slider("Pool, tokens", stops, format_func=amount, key=key)
        self._marks()
        return None if chosen == recorded else chosen

    def change(self, pool_tokens: int | None) -> Change:
        """Draw the other sliders; return what all of them take to have been otherwise."""
        choices = self.choices
        counts: dict[str, Any] = {}
        with st.container(horizontal=True):
            for name, title, recorded in choices.counts:
                chosen = st.number_input(title, 0, None, recorded, key=self._key(name), width=150)
                counts[name] = None if chosen == recorded else int(chosen)
        return Change(pool_tokens=pool_tokens, limits=self._limits(), **counts)

    def _limits(self) -> dict[str, dict[str, float]]:
        agents = {agent.agent: agent for agent in self.choices.agents}
        if not agents:
            return {}
        chosen = st.selectbox(
            "Limits of",
            [NOBODY, *agents],
            format_func=lambda name: name or "nobody: as recorded",
            key=self._key("agent"),
        )
        return {chosen: self._limits_of(agents[chosen])} if chosen in agents else {}

    def _limits_of(self, agent: AgentLimits) -> dict[str, float]:
        limits: dict[str, float] = {}
        for name, title, recorded, most in agent.limits:
            shown = f"{title} of {label(agent.agent)}"
            chosen = self._slider(f"{agent.agent} {name}", shown, recorded, most)
            if chosen is not None:
                limits[name] = chosen
        return limits

    def _slider(
        self, name: str, title: str, recorded: int, most: int, to_reach: int | None = None
    ) -> int | None:
        """Draw a slider; return where it stands, None where that is what was recorded.

        A step is 1, or at most a hundredth of `to_reach`: one of them comes as near as that to it.
        """
        step = 10 ** max(0, len(str(to_reach or recorded)) - 3)
        key = self._key(name)
        # A mark may be a pool of nothing, which is none: the least there can be is next to it.
        st.session_state[key] = max(st.session_state.get(key, recorded), step)
        chosen = st.slider(title, step, max(most, 2), step=step, format="localized", key=key)
        return None if chosen == recorded else chosen

    def _marks(self) -> None:
        nodes: list[Node] = [
            button(f"{amount(tokens)}: {words}", str(tokens), link=True)
            for tokens, words in self.choices.marks
        ]
        recorded = self.choices.pool_tokens
        nodes.append(button(f"{amount(recorded)}: as recorded", str(recorded), link=True))
        panel(f"{KEY}_marks", [tag("div.row.small", *nodes)], on_action=self._to_mark)

    def _to_mark(self) -> None:
        tokens = pressed(f"{KEY}_marks") or ""
        if tokens.isdigit():
            st.session_state[self._key("pool")] = int(tokens)

    def _key(self, name: str) -> str:
        return f"{KEY} {self.scope} {name}"


def show_what_if(view: WhatIfView, on_pick: Callable[[], None]) -> None:
    """Draw what would have become of whom, and what nobody can know.

    Args:
        view: What it says.
        on_pick: Runs when a handoff was chosen (`picked_fate`).
    """
    nodes: list[Node] = [
        tag("p", tag("b.text", view.sentence)),
        tag("p.small.quiet.number", view.spent),
    ]
    lines = grouped(view.lines)
    if lines:
        nodes.append(_fates(lines[:LINES_SHOWN]))
    if len(lines) > LINES_SHOWN:
        rest = lines[LINES_SHOWN:LINES_AT_MOST]
        said = f"Showing {LINES_SHOWN} lines of {len(lines):,}: {len(rest):,} more"
        nodes.append(tag("details", tag("summary.small", said), _fates(rest)))
    nodes += _unknown(view.unknown)
    panel(KEY, nodes, height="min-content", on_action=on_pick)


def _fates(lines: Sequence[FateLine]) -> Node:
    rows = [
        tag(
            "tr",
            tag(
                "td.name",
                button(line.agent, _place(line.handoff_id, line.seq), title=line.agent, link=True),
                *([tag("span.small.quiet", f" × {line.alike:,}")] if line.alike > 1 else []),
            ),
            tag("td", status(line.recorded)),
            tag("td.word", tag("b", line.fate, outcome="error" if line.takes_away else "ok")),
            tag("td.text", line.why),
        )
        for line in lines
    ]
    heads = [tag("th", name, scope="col") for name in ("handoff", "recorded", "then", "why")]
    return tag("table", tag("thead", tag("tr", *heads)), tag("tbody", *rows))


def picked_fate() -> tuple[int | None, str] | None:
    """Return event and handoff that were just chosen; only inside `on_pick`."""
    seq, mark, handoff_id = (pressed(KEY) or "").partition(" ")
    return (int(seq) or None, handoff_id) if mark and seq.isdigit() else None


def _place(handoff_id: str, seq: int | None) -> str:
    return f"{seq or 0} {handoff_id}"


def _unknown(sentences: Sequence[str]) -> list[Node]:
    if not sentences:
        return []
    lines = [tag("li.text", sentence) for sentence in sentences]
    return [tag("h3", "What the record cannot say"), tag("ul.small.quiet", *lines)]
