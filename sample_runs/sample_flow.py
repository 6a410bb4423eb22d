"""What a sample flow is to those who list it and run it."""

from collections.abc import Callable, Sequence
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
    in_process: Callable[[], Flow] | None = None
    """Makes the same flow without programs beside this one, where it has some."""

    @property
    def recorded_flow(self) -> Flow:
        """The flow as it is recorded and run in virtual time: nobody else is waited for."""
        return self.in_process() if self.in_process else self.flow

    @property
    def description(self) -> str:
        """What it shows, in a sentence or two."""
        return self.flow.description

    @property
    def messages(self) -> Sequence[str]:
        """Messages to try it with; the first shows what the flow is for."""
        return self.flow.examples
