"""A labelled request: what somebody may say, and who should get it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any


class Expect(StrEnum):
    """What the first agent should do with a request."""

    ROUTE = "route"
    """Hand it to one of `expected`, or to all of `expected_all`."""
    DIRECT = "direct"
    """Answer it itself, without a handoff."""
    ABSTAIN = "abstain"
    """Hand it to nobody: no agent is for it."""


@dataclass(frozen=True)
class RouteCase:
    """One labelled request of a data set; only `case_id` and `text` are always there."""

    case_id: str
    """Stays the same when the text is mended; unique in its data set."""
    text: str
    """What the user says."""
    expected: tuple[str, ...] = ()
    """Any one of these agents is right; empty with `direct` and `abstain`."""
    expected_all: tuple[str, ...] = ()
    """Every one of these is needed: the message asks for several things."""
    expect: Expect = Expect.ROUTE
    required_fields: tuple[str, ...] = ()
    """Values that have to go along with the handoff."""
    state: Mapping[str, Any] = field(default_factory=dict)
    """Facts that are known before."""
    tags: tuple[str, ...] = ()
    group: str = ""
    """Paraphrases of one another share it."""
    critical: bool = False
    """A mistake here is worse than elsewhere."""
    split: str = "test"
    """`dev` (descriptions may be written with it in view) or `test`."""
    source: str = ""
    """The session that it was taken from; empty where it was written."""
    note: str = ""

    @property
    def wanted(self) -> tuple[str, ...]:
        """The agents that its label names: of several in one message all, else any."""
        return self.expected_all or self.expected

    @property
    def is_labelled(self) -> bool:
        """It says who is right; one that does not is still to be labelled."""
        return bool(self.wanted) or self.expect is not Expect.ROUTE

    @property
    def label(self) -> str:
        """The label in a word or two: `billing`, `orders + account`, `direct`, `abstain`."""
        if self.expected_all:
            return " + ".join(self.expected_all)
        return " or ".join(self.expected) if self.expected else self.expect.value
