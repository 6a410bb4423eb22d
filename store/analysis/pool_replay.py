"""A recorded request played again with another pool or other limits: arithmetic, no model.

Everybody is taken to act as recorded, as long as they are there. Beside the pool in question, the
recorded one is kept, so that a handoff is judged by what changed and not by what a record left out.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping

from handoff_console.runtime.budget import Pool
from handoff_console.runtime.contract import MIN_REPLY_TOKENS, HandoffKind
from handoff_console.store.analysis.pool_change import Change, Fate, Held
from handoff_console.store.analysis.pool_counts import RULES, Counts
from handoff_console.store.analysis.pool_course import Act, Asked, Course, Step

_MOMENT_SECONDS = 1e-6


class Replay:
    """One request, played with a change.

    Args:
        course: What was recorded.
        change: What is otherwise.
        generous: Whether handoffs of which nothing is recorded are taken to use up all they may;
            otherwise they use nothing.
    """

    def __init__(self, course: Course, change: Change, *, generous: bool) -> None:
        asked = course.asked
        self._course, self._change, self._generous = course, change, generous
        floor = change.finish_floor_tokens
        floor = asked.finish_floor_tokens if floor is None else floor
        total = asked.pool_tokens if change.pool_tokens is None else change.pool_tokens
        self.pool = Pool(total, floor)
        self._was = Pool(asked.pool_tokens, asked.finish_floor_tokens)
        self.held = {name: Held(handoff) for name, handoff in course.handoffs.items()}
        self._children: dict[str, list[str]] = {}
        self._counts = Counts(course, change)
        self._promised: Counter[str | None] = Counter()
        self.lowest_free = total
        self.slack = total
        """By how much the pool could have been smaller without another decision of the gate, or
        another end of the user's request."""

    def run(self) -> "Replay":
        """Play all steps."""
        for step in self._course.steps:
            held = self.held[step.handoff_id]
            if step.act is Act.ASK or (self._is_there(held) and not self._is_late(held, step)):
                _ACTS[step.act](self, held, step)
            self._as_recorded(held, step)
            self.lowest_free = min(self.lowest_free, self.pool.free)
        return self

    def _is_there(self, held: Held | None) -> bool:
        while held is not None:
            if held.is_gone:
                return False
            held = self.held.get(held.asked.parent or "")
        return True

    def _as_recorded(self, held: Held, step: Step) -> None:
        """Keep the recorded pool, so that the two can be compared at every step."""
        was, name = self._was, step.handoff_id
        if step.act is Act.RESERVE and step.amount <= was.available(
            held.asked.parent, keep_floor=False
        ):
            was.reserve(name, held.asked.parent, step.amount, keep_floor=False)
        elif step.act is Act.CHARGE:
            was.charge(name, step.amount)
        elif step.act is Act.CLOSE:
            was.refund(name)

    # The gate

    def _ask(self, held: Held, step: Step) -> None:
        asked = held.asked
        if asked.is_root:
            return
        asker = self.held.get(asked.asker or "")
        first = self.held.get(asked.follows or "")
        for before in (asker, first):
            if before is not None and (before.is_gone or not self._is_there(before)):
                fate = before.fate if before.fate is Fate.DEPENDS else Fate.NOT_ASKED
                held.end(fate, before.limit, step.seq)
                return
        if asked.rule not in (*RULES[asked.via], "pool", ""):
            held.is_gone = True  # no limit refused it
            return
        refused = self._counts.refuses(asked) or self._short(held)
        if refused:
            held.end(Fate.SAME if asked.rule else Fate.REFUSED, refused, step.seq)
        elif asked.rule:
            self._let_through(held, asker, step)
        else:
            self._count(asked)

    def _count(self, asked: Asked) -> None:
        """Note that a handoff was let through."""
        self._counts.add(asked)
        if asked.via is HandoffKind.TRANSFER and not asked.follows:
            self._promised[asked.asker] += self._tokens(asked) or 0
        self.held[asked.handoff_id].is_open = True
        self._children.setdefault(asked.parent or "", []).append(asked.handoff_id)

    def _tokens(self, asked: Asked) -> int | None:
        changed = self._change.of(asked, "max_tokens")
        return asked.tokens if changed is None else int(changed)

    def _short(self, held: Held) -> str:
        """Say `pool` when a handoff's tokens cannot be reserved."""
        asked, tokens = held.asked, self._tokens(held.asked)
        if tokens is None or asked.tokens is None:
            # Nobody knows what it asked for: a larger pool may have had it.
            cannot = self._generous or self.pool.total <= self._was.total
            return "pool" if asked.rule == "pool" and cannot else ""
        available = self._available(self.pool, asked)
        held.needed_tokens, held.available_tokens = tokens, max(available, 0)
        if tokens <= available:
            if not self.pool.holds(asked.parent):
                self.slack = min(self.slack, available - tokens)
            return ""
        as_before = tokens <= asked.tokens and available >= self._available(self._was, asked)
        return "" if as_before and not asked.rule else "pool"

    def _available(self, pool: Pool, asked: Asked) -> int:
        if asked.via is HandoffKind.CALL:
            return pool.available(asked.parent, keep_floor=True)
        sender = asked.asker or ""
        return (
            pool.available(asked.parent, keep_floor=False, returning=sender)
            - self._promised[asked.asker]
        )

    def _let_through(self, held: Held, asker: Held | None, step: Step) -> None:
        """Open a handoff that was refused, and of which nothing is recorded."""
        asked = held.asked
        held.end(Fate.OPENED, asked.rule, step.seq)
        self._counts.add(asked)
        if asked.via is HandoffKind.TRANSFER and asker is not None:
            # It would have passed control on, and not have done what it did after the refusal.
            asker.end(Fate.DEPENDS, asked.rule, step.seq)
            self._close_all(asker)
        if self._generous:
            rest = self.pool.available(asked.parent, keep_floor=False)
            self._spend(asked, min(self._tokens(asked) or rest, rest))

    def _spend(self, asked: Asked, tokens: int) -> None:
        if tokens > 0:
            self.pool.reserve(asked.handoff_id, asked.parent, tokens, keep_floor=False)
            self.pool.charge(asked.handoff_id, tokens)
            self.pool.refund(asked.handoff_id)

    # At work

    def _reserve(self, held: Held, step: Step) -> None:
        asked, changed = held.asked, self._change.of(held.asked, "max_tokens")
        tokens = step.amount if changed is None else int(changed)
        self._promised[asked.asker] = max(0, self._promised[asked.asker] - tokens)
        available = self.pool.available(asked.parent, keep_floor=False)
        if tokens > available:
            held.needed_tokens, held.available_tokens = tokens, max(available, 0)
            held.end(Fate.REFUSED, "pool", step.seq)
            return
        self.pool.reserve(asked.handoff_id, asked.parent, tokens, keep_floor=False)

    def _open(self, held: Held, step: Step) -> None:
        held.is_open, held.opened_seconds = True, step.elapsed_seconds

    def _model(self, held: Held, step: Step) -> None:
        asked = held.asked
        steps = self._change.of(asked, "max_steps")
        if steps is not None and step.number > steps and steps < asked.max_steps:
            self._cut(held, "steps", step)
            return
        name, changed = asked.handoff_id, self._change.of(asked, "max_tokens")
        most = asked.max_tokens if changed is None else int(changed)
        left = min(most - held.used, self.pool.rest(name))
        left_then = min(asked.max_tokens - held.used, self._was.rest(name))
        if not self.pool.holds(name):
            self.slack = min(self.slack, self.pool.rest(name) - step.amount - MIN_REPLY_TOKENS)
        if left - step.amount < MIN_REPLY_TOKENS and left < left_then:
            held.needed_tokens, held.available_tokens = step.amount, max(left, 0)
            is_pool = asked.tokens is None and left < most - held.used
            self._cut(held, "pool" if is_pool else "tokens", step)
            return
        held.pending = step.amount

    def _charge(self, held: Held, step: Step) -> None:
        held.used, held.pending = held.used + step.amount, 0
        self.pool.charge(step.handoff_id, step.amount)

    def _time(self, held: Held, step: Step) -> None:
        """Do nothing: time has passed."""

    def _is_late(self, held: Held, step: Step) -> bool:
        """Cut a handoff whose changed deadline has passed, or that of one that waits for it."""
        late = None
        above: Held | None = held
        while above is not None:
            late = above if self._is_over(above, step) else late
            above = self.held.get(above.asked.parent or "")
        if late is not None:
            for waiting in (*self._open_below(late), late):  # what it was asked is still billed
                self.pool.charge(waiting.asked.handoff_id, waiting.pending)
            self._cut(late, "deadline", step)
        return late is not None

    def _is_over(self, held: Held, step: Step) -> bool:
        deadline = self._change.of(held.asked, "deadline_seconds")
        if deadline is None or deadline >= held.asked.deadline_seconds or not held.is_open:
            return False
        return step.elapsed_seconds - held.opened_seconds > deadline + _MOMENT_SECONDS

    def _cut(self, held: Held, limit: str, step: Step) -> None:
        held.end(Fate.CUT, limit, step.seq)
        for child in self._open_below(held):
            child.end(Fate.CUT, limit, step.seq)
        self._close_all(held)

    def _open_below(self, held: Held) -> Iterator[Held]:
        for name in self._children.get(held.asked.handoff_id, ()):
            child = self.held[name]
            if child.is_open:
                yield from self._open_below(child)
                yield child

    def _close_all(self, held: Held) -> None:
        for child in (*self._open_below(held), held):
            child.is_open = False
            self.pool.refund(child.asked.handoff_id)

    def _close(self, held: Held, step: Step) -> None:
        if self._goes_on(held.asked):
            held.end(Fate.GOES_ON, held.asked.limit, step.seq)
            if self._generous:
                self.pool.charge(step.handoff_id, max(self.pool.rest(step.handoff_id), 0))
        held.is_open = False
        self.pool.refund(step.handoff_id)

    def _goes_on(self, asked: Asked) -> bool:
        """Say whether the limit that ended a handoff would not have ended it there."""
        if asked.limit == "pool":
            name = asked.handoff_id
            return self.pool.rest(name) > self._was.rest(name)
        for limit, name, was in (
            ("steps", "max_steps", asked.max_steps),
            ("tokens", "max_tokens", asked.max_tokens),
            ("deadline", "deadline_seconds", asked.deadline_seconds),
        ):
            if asked.limit == limit:
                now = self._change.of(asked, name)
                return now is not None and now > was
        return self._counts.are_raised(asked.limit)


_ACTS: Mapping[Act, Callable[[Replay, Held, Step], None]] = {
    Act.ASK: Replay._ask,
    Act.RESERVE: Replay._reserve,
    Act.OPEN: Replay._open,
    Act.MODEL: Replay._model,
    Act.CHARGE: Replay._charge,
    Act.TIME: Replay._time,
    Act.CLOSE: Replay._close,
}
