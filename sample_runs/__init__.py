"""Sample flows, their prompts, and sessions recorded from them."""

from collections.abc import Mapping
from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from handoff_console.sample_runs.sample_flow import SampleFlow

GROUPS: Mapping[str, tuple[str, ...]] = {
    "Start here": ("support", "frontdesk", "intents", "letters"),
    "One agent alone": ("invoices", "monolith", "research_alone"),
    "Control moves from agent to agent": (
        "outage", "returns", "domains", "servicedesk", "orders", "switchboard", "helpdesk", "bank",
        "repairs", "diagnosis",
    ),
    "Work is divided, and the results come back": (
        "quarter", "newsroom", "departments", "coding", "papers", "research",
    ),
    "A person decides": ("briefing", "refunds", "hearsay"),
    "Something goes wrong": (
        "parcels", "loyalty", "statement", "warranty", "disclosure", "tickets",
        "onboarding",
    ),
}  # fmt: skip
"""The sample flows by what they show; each is a module of this package."""

NAMES = tuple(name for group in GROUPS.values() for name in group)
"""The sample flows by name, in the order they are listed."""


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
