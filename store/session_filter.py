"""Which sessions are asked for, as conditions of a query over their lines."""

import json
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from handoff_console.runtime.canonical import canonical_text
from handoff_console.store.words import match_expression, storable

EXPERIMENT = "experiment"
"""The label by which the session of a trial names its experiment."""
IS_TRIAL_SQL = f"""(origin = 'batch' and instr(metadata, '"{EXPERIMENT}"')
    and json_extract(metadata, '$.{EXPERIMENT}') in (select experiment_id from experiments))"""
"""A condition on the columns of a line: the session is a trial of a comparison of this store. What
costs least is asked first."""


@dataclass(frozen=True, kw_only=True)
class SessionFilter:
    """What a session has to be like; a field left as it is asks for nothing."""

    outcomes: tuple[str, ...] = ()
    """One of these, as judged at this moment: `interrupted` is not `running`."""
    flow: str | None = None
    prompt_version: str | None = None
    """Empty: the prompts stood in the flow."""
    origin: str | None = None
    reruns: bool = False
    """Re-runs as well, which are otherwise found under the session they repeat."""
    trials: bool = False
    """Trials of comparisons as well, which are otherwise found from the comparison's page. With the
    label of an experiment its trials are found without this."""
    agent: str | None = None
    """Took part in it."""
    finding: str | None = None
    """The code of one of its findings."""
    text: str = ""
    """Every word occurs in what the user said, the answers, the agents' names or notes; the last
    one may be only begun. Of a session that is not closed, in the first message."""
    since: datetime | None = None
    """Started then or later."""
    until: datetime | None = None
    """Started before."""
    label: tuple[str, str] | None = None
    """A key and its value in what the caller knew about the request."""

    def conditions(self) -> tuple[str, dict[str, Any]]:
        """Return a condition on the columns of a line, and its values; `true` for no filter.

        The query it goes into has `RERUNS_SQL` before it.
        """
        parts: list[str] = []
        values: dict[str, Any] = {}
        for column in ("flow", "prompt_version", "origin"):
            if (wanted := getattr(self, column)) is not None:
                parts.append(f"{column} = :{column}")
                values[column] = wanted
        if not self.reruns and self.origin != "rerun":
            parts.append("session not in (select session from folded)")
        if not self.trials and (self.label is None or self.label[0] != EXPERIMENT):
            parts.append(f"not {IS_TRIAL_SQL}")
        if self.outcomes:
            names = [f":outcome{number}" for number in range(len(self.outcomes))]
            parts.append(f"state in ({', '.join(names)})")
            values |= {
                name[1:]: outcome for name, outcome in zip(names, self.outcomes, strict=True)
            }
        if self.agent is not None:
            parts.append(_holds("agents", "agent"))
            values |= _forms("agent", canonical_text(self.agent))
        if self.finding is not None:
            parts.append("session in (select session from findings where code = :finding)")
            values["finding"] = self.finding
        if self.label is not None:
            parts.append(_holds("metadata", "label"))
            values |= _forms("label", canonical_text(dict([self.label]))[1:-1])
        for name, moment, sign in (("since", self.since, ">="), ("until", self.until, "<")):
            if moment is not None:
                parts.append(f"started_at_us {sign} :{name}")
                values[name] = round(moment.astimezone(UTC).timestamp() * 1e6)
        if self.text.strip():
            parts.append(_WORDS if match_expression(self.text) else _PREVIEW)
            values["match"] = match_expression(self.text)
            values["like"] = f"%{_escaped(self.text.strip())}%"
        return " and ".join(parts) or "true", values


_PREVIEW = "preview like :like escape '\\'"
_WORDS = (
    "(session in (select rowid from session_words where session_words match :match)"
    f" or (closed_seq is null and {_PREVIEW}))"
)


def _holds(column: str, name: str) -> str:
    """Return a condition that a column of canonical JSON holds a piece, without taking it apart.

    Exact, because a quotation mark inside a JSON text is escaped; five times as fast (measured).
    """
    return f"(instr({column}, :{name}) or instr({column}, :{name}_escaped))"


def _forms(name: str, piece: str) -> dict[str, str]:
    """Return both ways in which canonical JSON may write a piece: as it is, or in ASCII alone."""
    escaped = "".join(char if char.isascii() else json.dumps(char)[1:-1] for char in piece)
    if not piece.isascii():
        piece = storable(piece)
    return {name: piece, f"{name}_escaped": escaped}


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
