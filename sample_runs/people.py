"""What people say in the recorded sessions, to what waits for them."""

from collections.abc import Callable
from typing import Any

from handoff_console.runtime import Approval, Decision, Question

Said = Callable[[Approval | Question], Decision | str | None]


def refuses(by: str, note: str = "") -> Said:
    """Return a person who says no to every act, and leaves questions open."""

    def say(waiting: Approval | Question) -> Decision | None:
        if isinstance(waiting, Question):
            return None
        return Decision(
            approval_id=waiting.approval_id,
            approved=False,
            shown=waiting.shown,
            decided_by=by,
            note=note,
        )

    return say


def approves(by: str, **edits: Any) -> Said:
    """Return a person who says yes to every act, with some of its arguments changed."""

    def say(waiting: Approval | Question) -> Decision | None:
        if isinstance(waiting, Question):
            return None
        return Decision(
            approval_id=waiting.approval_id,
            approved=True,
            shown=waiting.shown,
            arguments={**waiting.arguments, **edits} if edits else None,
            decided_by=by,
        )

    return say
