"""Why flows that the user named cannot be loaded, on the pages that would show them."""

from handoff_console.console import runs
from handoff_console.console.components.panel import panel, tag


def show_broken_flows() -> None:
    """Draw a sentence for each flow that was named and cannot be loaded now; nothing for none."""
    found = runs.broken_flows()
    if found:
        panel("broken", [tag("div.verdict.text", one, outcome="error") for one in found])
