"""The counts of a request: transfers, calls, repeated transfers, depth; recorded and changed."""

from collections import Counter

from handoff_console.runtime.contract import HandoffKind
from handoff_console.store.analysis.pool_change import Change
from handoff_console.store.analysis.pool_course import Asked, Course

RULES = {
    HandoffKind.TRANSFER: {"cycle": "max_edge_repeats", "handoffs": "max_handoffs"},
    HandoffKind.CALL: {"depth": "depth", "workers": "max_workers"},
}
"""The limits that are counts, by the rule that refuses for them."""


class Counts:
    """What one request has used of its counts while it is played again."""

    def __init__(self, course: Course, change: Change) -> None:
        self._course, self._change = course, change
        self._transfers = self._workers = 0
        self._edges: Counter[tuple[str, str]] = Counter()

    def add(self, asked: Asked) -> None:
        """Count a handoff that was let through; a retry counts as what it repeats."""
        if asked.follows:
            return
        if asked.via is HandoffKind.TRANSFER:
            self._transfers += 1
            self._edges[asked.source, asked.agent] += 1
        else:
            self._workers += 1

    def refuses(self, asked: Asked) -> str:
        """Return the rule that refuses a handoff, as recorded or by the change; else nothing."""
        for rule, limit in RULES[asked.via].items():
            was = getattr(self._course.asked, limit)
            now = getattr(self._change, limit)
            allowed = was if now is None else now
            reached = self._reached(rule, asked)
            if asked.rule == rule and (allowed <= was or reached <= was):
                return rule  # the latter: a limit of the session, which is another one
            if not asked.follows and reached > allowed and allowed < was:
                return rule
        return ""

    def are_raised(self, rule: str) -> bool:
        """Say whether the limit behind a rule was changed to a higher one."""
        for limits in RULES.values():
            now = getattr(self._change, limits[rule]) if rule in limits else None
            if now is not None and now > getattr(self._course.asked, limits[rule]):
                return True
        return False

    def _reached(self, rule: str, asked: Asked) -> int:
        """Return what a count would be with this handoff."""
        if rule == "cycle":
            return self._edges[asked.source, asked.agent]
        if rule == "handoffs":
            return self._transfers + 1
        if rule == "workers":
            return self._workers + 1
        asker = self._course.handoffs.get(asked.asker or "")
        return self._course.asked.depth - (asker.depth_left if asker else 0) + 1
