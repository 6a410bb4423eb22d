"""A draft of descriptions beside the version it began with: what differs, word by word."""

from collections.abc import Mapping
from dataclasses import dataclass

from handoff_console.console.commands.drafts import AgentWords
from handoff_console.console.viewmodels.compare_case import TextChange
from handoff_console.console.viewmodels.text import one_line
from handoff_console.store.analysis.text_diff import text_diff

FIELDS: Mapping[str, str] = {
    "description": "description",
    "examples": "examples",
    "instructions": "instructions",
}
"""What is edited, as `AgentWords` calls it, in words."""


@dataclass(frozen=True, slots=True)
class DraftView:
    """What a draft changes."""

    changes: tuple[TextChange, ...]
    sentence: str
    """`2 texts of billing and orders differ from v2.`"""

    @property
    def is_empty(self) -> bool:
        """Nothing was changed."""
        return not self.changes


def draft_view(
    before: Mapping[str, AgentWords], after: Mapping[str, AgentWords], base: str
) -> DraftView:
    """Return what a draft changes, agent by agent; agents that are not in it are as before."""
    changes = []
    for name, words in after.items():
        for field, heading in FIELDS.items():
            old, new = as_typed(before[name], field), as_typed(words, field)
            if old != new:
                changes.append(
                    TextChange(
                        one_line(name, 40), heading, text_diff(old, new), False,
                        field != "instructions",
                    )
                )  # fmt: skip
    if not changes:
        return DraftView((), f"Nothing differs from {base} yet: change a text, then save it.")
    names = list(dict.fromkeys(change.agent for change in changes))
    listed = names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
    texts = "1 text" if len(changes) == 1 else f"{len(changes)} texts"
    verb = "differs" if len(changes) == 1 else "differ"
    return DraftView(tuple(changes), f"{texts} of {listed} {verb} from {base}.")


def as_typed(words: AgentWords, field: str) -> str:
    """Return a field as it stands in a box: examples one a line."""
    return "\n".join(words.examples) if field == "examples" else str(getattr(words, field))


def from_typed(words: AgentWords, field: str, text: str) -> AgentWords:
    """Return an agent's words with one field as it was typed; empty lines are no examples."""
    values = {name: as_typed(words, name) for name in FIELDS} | {field: text.strip()}
    examples = tuple(line.strip() for line in values["examples"].splitlines() if line.strip())
    description = " ".join(values["description"].split())
    return AgentWords(description, examples, values["instructions"])
