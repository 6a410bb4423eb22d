"""The cases of a comparison as CSV, for a spreadsheet."""

import csv
import io
from collections.abc import Iterable

from handoff_console.store.analysis.comparison.result import CaseRow, Comparison
from handoff_console.store.analysis.comparison.trials import Trial

_FORMULA = ("=", "+", "-", "@", "\t", "\r")
"""What a spreadsheet takes for the beginning of a formula."""


def cases_csv(found: Comparison, rows: Iterable[CaseRow]) -> str:
    """Return cases as CSV with a heading: what was asked, expected, decided, scored, and changed.

    A text that a spreadsheet would run as a formula gets an apostrophe in front: it is what
    somebody wrote to an agent, and may be meant for whoever opens the file.
    """
    written = io.StringIO(newline="")
    writer = csv.writer(written, lineterminator="\r\n")
    sides = (found.a.label, found.b.label)
    writer.writerow(
        [
            "id", "change", "input", "expected", "tags", "critical", "flaky",
            *(_cell(f"{label} {what}") for label in sides
              for what in ("decided", "right", "score", "tokens", "session")),
        ]
    )  # fmt: skip
    for row in rows:
        case = row.case
        writer.writerow(
            [
                _cell(case.case_id), row.change.value, _cell(case.text), _cell(case.label),
                _cell("|".join(case.tags)), _yes(case.critical), _yes(row.flaky),
                *_side(row.a, row.a_right), *_side(row.b, row.b_right),
            ]
        )  # fmt: skip
    return written.getvalue()


def _side(trial: Trial | None, right: float | None) -> list[str]:
    if trial is None:
        return ["", "", "", "", ""]
    score = f"{trial.scores[0].score:.4f}" if trial.scores else ""
    return [
        _cell(trial.decision),
        "" if right is None else f"{right:g}",
        score,
        str(trial.tokens),
        _cell(trial.session_id),
    ]


def _yes(value: bool) -> str:
    return "yes" if value else ""


def _cell(text: str) -> str:
    return f"'{text}" if text.startswith(_FORMULA) else text
