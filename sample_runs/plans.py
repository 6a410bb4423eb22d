"""Plans: who is to do what, checked as a whole before anybody begins.

Source: S3, example 3: a model cannot invent a worker.
"""

from collections.abc import Collection, Sequence

from pydantic import BaseModel

from handoff_console.runtime.errors import choices


class PlanStep(BaseModel):
    """One step of a plan."""

    worker: str
    """An agent, or a tool that needs an approval."""
    task: str


def checked_plan(steps: Sequence[PlanStep], known: Collection[str]) -> list[PlanStep]:
    """Return a plan in which every step has somebody to do it.

    Raises:
        ValueError: It is empty, or names workers that do not exist; the text lists them all.
    """
    if not steps:
        raise ValueError("the plan has no steps; say who is to do what")
    unknown = sorted({step.worker for step in steps} - set(known))
    if unknown:
        raise ValueError(f"unknown workers: {', '.join(unknown)}; there are: {choices(known)}")
    return list(steps)
