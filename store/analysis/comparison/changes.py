"""What differs between two prompt versions, agent by agent."""

from handoff_console.store.analysis.comparison.result import DescriptionChange
from handoff_console.store.analysis.comparison.trials import AgentText, Version

_FIELDS = ("description", "examples", "targets", "threshold", "instructions", "model")
_ROUTES = frozenset({"description", "examples", "targets", "threshold"})
"""What offline routers read; a language model reads the first agent's instructions as well."""

_NOBODY = AgentText("")


def description_changes(a: Version, b: Version) -> tuple[DescriptionChange, ...]:
    """Return every field that differs, by agent; what routes comes first within an agent."""
    found = []
    for name in sorted(a.agents.keys() | b.agents.keys()):
        before, after = a.agents.get(name, _NOBODY), b.agents.get(name, _NOBODY)
        for field in _FIELDS:
            old, new = _shown(before, field), _shown(after, field)
            if old != new:
                found.append(DescriptionChange(name, field, old, new, field in _ROUTES))
    return tuple(found)


def _shown(text: AgentText, field: str) -> str:
    value = getattr(text, field)
    return "\n".join(value) if isinstance(value, tuple) else str(value)
