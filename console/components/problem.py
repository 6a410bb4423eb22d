"""What a page shows in place of itself when the store cannot answer."""

from handoff_console.console.components.panel import panel, tag


def show_problem(error: Exception) -> None:
    """Draw the sentence of an error."""
    panel("problem", [tag("div.verdict.text", tag("b", str(error)), outcome="error", role="alert")])
