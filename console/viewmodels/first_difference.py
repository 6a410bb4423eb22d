"""Where two runs first part, in one sentence."""

from collections.abc import Mapping

from handoff_console.console.viewmodels.differences import (
    changed_offer,
    fits_on_a_line,
    shown_value,
)
from handoff_console.console.viewmodels.text import as_name, one_line
from handoff_console.runtime.contract import State
from handoff_console.store.analysis.diff import Comparison, Pair
from handoff_console.store.analysis.differences import ABSENT, Aspect, Difference


def where_they_part(found: Comparison, *, is_one: bool = False) -> str:
    """Return where two runs first part, in a sentence; that nothing differs, where they never do.

    Args:
        found: What was compared.
        is_one: Both sides are the same run.
    """
    pair, first = found.first_pair, found.first_difference
    if pair is None or first is None:
        if found.settings:
            return "All handoffs are the same; only the sessions' settings differ."
        if is_one:
            return "Both sides are the same run."
        return "Nothing differs but what the runs took."
    where = f"{as_name(pair.node.agent)} ({one_line(pair.node.path, 60)})"
    cut_off = _cut_off(pair, first)
    if cut_off:
        return f"Nothing differs up to where {cut_off}, in {where}."
    if first.aspect is Aspect.HANDOFF:
        side = "right" if pair.change == "added" else "left"
        return f"They first part at {where}, which only the {side} run has."
    another = "another"
    if ABSENT in (first.left, first.right):
        another = "a further" if first.left is ABSENT else "no"
    what = _FIRST[first.aspect].format(name=one_line(first.name, 60), another=another)
    offer, change = changed_offer(first), _change(first)
    if offer:
        what = f"its tool {as_name(offer.tool)} has another {one_line(offer.part, 60)}"
        change = "" if offer.is_code else change
    end = "" if change.endswith((".", "!", "?")) else "."
    return f"They first part at {where}: {what}{f': {change}' if change else ''}{end}"


def _cut_off(pair: Pair, first: Difference) -> str:
    """Return which side broke off where the two part; empty where both went on to their ends."""
    if first.aspect not in (Aspect.REPLY, Aspect.TOOL_CALL, Aspect.STATUS):
        return ""
    for side, value, figures in (
        ("left", first.left, pair.left_figures),
        ("right", first.right, pair.right_figures),
    ):
        broke_off = _BROKE_OFF.get(figures.outcome) if figures else None
        if broke_off and (first.aspect is Aspect.STATUS or value in (ABSENT, "")):
            return f"the {side} run {broke_off}"
    return ""


_BROKE_OFF: Mapping[str, str] = {
    State.CANCELLED.value: "was stopped",
    State.INTERRUPTED.value: "was interrupted",
    State.RUNNING.value: "is now",
}

_FIRST: Mapping[Aspect, str] = {
    Aspect.SESSION: "the setting {name} is another one",
    Aspect.REQUEST: "its request has {another} {name}",
    Aspect.PACKET: "its packet has {another} {name}",
    Aspect.PROMPT: "it works with another prompt",
    Aspect.MODEL: "it asks another model",
    Aspect.OFFER: "it is offered something else ({name})",
    Aspect.MESSAGE: "it reads something else ({name})",
    Aspect.REPLY: "the model answers otherwise ({name})",
    Aspect.TOOL_CALL: "a tool is called otherwise ({name})",
    Aspect.TOOL_RESULT: "a tool returns something else ({name})",
    Aspect.STATUS: "it ends otherwise",
    Aspect.RESULT: "its result has {another} {name}",
}


def _change(difference: Difference) -> str:
    """Return a short change, `4813 → 4812`; nothing for a long one."""
    left, right = shown_value(difference.left), shown_value(difference.right)
    if not (fits_on_a_line(left) and fits_on_a_line(right)):
        return ""
    return f"{left or 'nothing'} → {right or 'nothing'}"
