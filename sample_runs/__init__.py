"""Sample flows, their prompts, and sessions recorded from them."""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from handoff_console.sample_runs.sample_flow import SampleFlow

NAMES = (
    "support",
    "invoices",
    "returns",
    "outage",
    "frontdesk",
    "domains",
    "monolith",
    "parcels",
    "loyalty",
    "statement",
    "warranty",
    "disclosure",
    "tickets",
    "orders",
    "switchboard",
    "intents",
    "helpdesk",
    "departments",
    "bank",
    "quarter",
    "newsroom",
    "briefing",
    "letters",
    "refunds",
    "hearsay",
    "repairs",
    "diagnosis",
    "papers",
    "coding",
    "research",
    "research_alone",
)
"""The sample flows by name, in the order they are listed; each is a module of this package."""


def sample(name: str) -> "SampleFlow":
    """Return one sample flow.

    Raises:
        KeyError: There is no such sample; `NAMES` has them all.
    """
    if name not in NAMES:
        raise KeyError(name)
    found: SampleFlow = import_module(f"handoff_console.sample_runs.{name}").sample
    return found


def flows() -> "dict[str, SampleFlow]":
    """Return all sample flows by name. Their modules are imported now, not with this package."""
    return {name: sample(name) for name in NAMES}
