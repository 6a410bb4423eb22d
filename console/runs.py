"""What the screens can start: the sample flows, at the pace of somebody who watches."""

from collections.abc import Mapping

from handoff_console.console.commands.running import start_run
from handoff_console.console.settings import store_path
from handoff_console.sample_runs import flows
from handoff_console.sample_runs.sample_flow import SampleFlow

PACES: Mapping[str, float] = {"like a model": 1.0, "4 × as fast": 4.0, "at once": 0.0}
"""How fast a sample answers, in words, as `start_run` takes it."""
DEFAULT_PACE = "like a model"
FIRST_FLOW = "support"
"""The sample to begin with."""


def samples() -> Mapping[str, SampleFlow]:
    """Return the sample flows by name, in the order they are listed."""
    return flows()


def start(flow_name: str, message: str, pace: str = DEFAULT_PACE) -> str:
    """Start a session in the background, and return its id once it is in the store.

    Raises:
        HandoffConsoleError: It cannot be started; the text says why in one sentence.
    """
    return start_run(store_path(), flow_name, message, speed=PACES[pace])


def first_message() -> str:
    """Return what to say to the first sample."""
    return samples()[FIRST_FLOW].messages[0]


def start_first() -> str:
    """Start the first sample with its first message, and return the session's id.

    Raises:
        HandoffConsoleError: It cannot be started; the text says why in one sentence.
    """
    return start(FIRST_FLOW, first_message())
