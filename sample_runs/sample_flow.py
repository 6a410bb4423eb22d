"""What a sample flow is to those who list it and run it."""

from collections.abc import Sequence
from dataclasses import dataclass

from handoff_console.runtime import Flow, HandoffRequest


@dataclass(frozen=True)
class SampleFlow:
    """A flow that comes with the product, and what to try with it."""

    flow: Flow
    title: str
    """A few words, for a list."""
    request: HandoffRequest | None = None
    """A typed request to try it with, where the flow is made for one."""

    @property
    def description(self) -> str:
        """What it shows, in a sentence or two."""
        return self.flow.description

    @property
    def messages(self) -> Sequence[str]:
        """Messages to try it with; the first shows what the flow is for."""
        return self.flow.examples
