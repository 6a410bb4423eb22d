"""The misroute matrix: where requests should have gone, and where they went."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from handoff_console.console.viewmodels.text import amount, count, one_line, signed
from handoff_console.store.analysis.comparison.matrices import SEVERAL
from handoff_console.store.analysis.comparison.result import Matrix

NAME_CHARACTERS = 30

_OUTSIDE_WORDS: Mapping[str, str] = {
    "direct": "answers itself",
    "abstain": "nobody",
    "none": "no handoff",
    "verbal": "only said so",
    "invalid": "not allowed",
    SEVERAL: "several",
    "?": "no decision",
}
"""What is no agent: each decision in the words of a screen."""
OUTSIDE_MEANINGS: Mapping[str, str] = {
    "direct": "The first agent answers itself; right where the case asks for nobody else.",
    "abstain": "It says that it does not know, or that nobody is for this.",
    "none": "It answered itself where it should have handed off.",
    "verbal": "It announced a handoff in words and asked for none.",
    "invalid": "It asked for an agent that does not exist or that it may not hand off to.",
    SEVERAL: "It handed off to several agents at once.",
    "?": "The model could not be asked, or the case did not run.",
}


@dataclass(frozen=True, slots=True)
class Cell:
    """All cases that should have gone to one place and went to another."""

    expected: str
    decided: str
    cases: int
    """In a difference: how many more (or fewer) they are."""
    is_right: bool
    share: float
    """Of the cases of its row, from 0 to 1; in a difference the change, from −1 to 1."""
    text: str
    """What stands in it: `38`, `+3`; nothing for nought."""
    title: str


CHARACTERS_BESIDE = 26
"""In a row of a matrix that is legible at a third of a page."""


@dataclass(frozen=True, slots=True)
class MatrixView:
    """A matrix as it is drawn."""

    rows: tuple[str, ...]
    """What was expected."""
    columns: tuple[str, ...]
    """Where cases went."""
    cells: tuple[Cell, ...]
    """Row by row."""
    is_difference: bool
    summary: str
    """What the figure shows, for those who cannot see it."""

    @property
    def is_wide(self) -> bool:
        """It needs the whole width of a page: three beside each other would not be legible."""
        longest = max((len(cell.text) for cell in self.cells), default=0)
        return len(self.columns) * max(longest, 2) > CHARACTERS_BESIDE


def place_word(decision: str) -> str:
    """Return where a case went as a screen says it: an agent's name, or `nobody`."""
    return _OUTSIDE_WORDS.get(decision) or one_line(decision, NAME_CHARACTERS)


def is_right(expected: str, decided: str) -> bool:
    """Say whether a decision is what a label asks for: `a`, `a or b`, `a + b`, `abstain`.

    Where several are wanted, having asked several is as near as a matrix can tell.
    """
    if " + " in expected:
        return decided == SEVERAL or set(expected.split(" + ")) == set(decided.split(" + "))
    return decided in expected.split(" or ")


def row_of(label: str) -> str:
    """Return the row that a case's label stands in: those that want several agents share one."""
    return SEVERAL if " + " in label else label


def _folded(found: Matrix) -> Matrix:
    """Return a matrix whose rows of joined labels are one: there may be dozens of them."""
    sums: dict[str, list[int]] = {}
    for row, counts in zip(found.rows, found.counts, strict=True):
        there = sums.setdefault(row_of(row), [0] * len(counts))
        sums[row_of(row)] = [x + y for x, y in zip(there, counts, strict=True)]
    return Matrix(tuple(sums), found.columns, tuple(map(tuple, sums.values())))


def matrix_view(whole: Matrix) -> MatrixView:
    """Return the matrix of one version; of no case, an empty one."""
    found = _folded(whole)
    cells = []
    for row, cases_of_row in zip(found.rows, found.counts, strict=True):
        total = sum(cases_of_row)
        for column, cases in zip(found.columns, cases_of_row, strict=True):
            share = cases / total if total else 0.0
            title = (
                f"{count(cases, 'case')} of {amount(total)} for {place_word(row)} "
                f"({share:.0%}): {_went(row, column)}"
            )
            text = amount(cases) if cases else ""
            cells.append(Cell(row, column, cases, is_right(row, column), share, text, title))
    return MatrixView(found.rows, found.columns, tuple(cells), False, _summary(cells))


def difference_view(changed: Matrix, whole: Matrix) -> MatrixView:
    """Return B − A: in each cell how many cases came (`+3`) or went (`−2`).

    Args:
        changed: The difference as it was computed.
        whole: The matrix of A, of the same rows and columns.
    """
    difference, before = _folded(changed), _folded(whole)
    cells = []
    for row, changes, cases_of_row in zip(
        difference.rows, difference.counts, before.counts, strict=True
    ):
        total = sum(cases_of_row)
        for column, change in zip(difference.columns, changes, strict=True):
            share = max(-1.0, min(1.0, change / total)) if total else 0.0
            more = f"{amount(abs(change))} {'more' if change > 0 else 'fewer'}"
            title = f"{more if change else 'As many'} for {place_word(row)}: {_went(row, column)}"
            cells.append(
                Cell(row, column, change, is_right(row, column), share, signed(change), title)
            )
    summary = _difference_summary(cells)
    return MatrixView(difference.rows, difference.columns, tuple(cells), True, summary)


def _went(row: str, column: str) -> str:
    if is_right(row, column):
        return "right"
    return f"{place_word(column)} instead"


def _summary(cells: Sequence[Cell]) -> str:
    total = sum(cell.cases for cell in cells)
    right = sum(cell.cases for cell in cells if cell.is_right)
    if not total:
        return "There is no labelled case."
    said = f"{amount(right)} of {count(total, 'case')} went where they should."
    worst = max((cell for cell in cells if not cell.is_right), key=_cases, default=None)
    if worst is not None and worst.cases:
        said += f" Most often wrong: {_arrow(worst)}, {count(worst.cases, 'case')}."
    return said


def _difference_summary(cells: Sequence[Cell]) -> str:
    if not any(cell.cases for cell in cells):
        return "Both send as many cases from everywhere to everywhere: no difference."
    wrong = [cell for cell in cells if not cell.is_right]
    more = max(wrong, key=_cases, default=None)
    fewer = min(wrong, key=_cases, default=None)
    said = []
    if fewer is not None and fewer.cases < 0:
        said.append(f"less often wrong: {_arrow(fewer)} ({signed(fewer.cases)})")
    if more is not None and more.cases > 0:
        said.append(f"more often wrong: {_arrow(more)} ({signed(more.cases)})")
    sentence = "; ".join(said)
    return f"{sentence[:1].upper()}{sentence[1:]}." if said else "No misroute changed."


def _cases(cell: Cell) -> int:
    return cell.cases


def _arrow(cell: Cell) -> str:
    return f"{place_word(cell.expected)} → {place_word(cell.decided)}"
