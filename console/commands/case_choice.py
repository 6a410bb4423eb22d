"""Which cases of a data set are to be run: by tag, or by how they came out the last time."""

import sqlite3
from collections.abc import Sequence

from handoff_console.console.commands.errors import CommandError
from handoff_console.store.analysis.comparison.cases import RouteCase
from handoff_console.store.analysis.comparison.compare import comparisons
from handoff_console.store.analysis.comparison.result import Change, Comparison
from handoff_console.store.experiments import experiments, load_experiment


def chosen_cases(
    cases: Sequence[RouteCase],
    tags: Sequence[str],
    only: str,
    db: sqlite3.Connection | None,
    flow: str,
    dataset: str,
) -> tuple[RouteCase, ...]:
    """Return the cases that are asked for, in order.

    Args:
        cases: All of them.
        tags: Those with one of these; none is all.
        only: `failed` (wrong in the newest experiment on this data set), `regressed`, or `errors`
            (without a decision); `changed` is for whoever knows what is on record, and leaves all.
        db: The store; None where there is none.
        flow: The flow's name.
        dataset: The data set's name.

    Raises:
        CommandError: There is no earlier experiment to choose by.
    """
    chosen = tuple(case for case in cases if not tags or set(tags) & set(case.tags))
    if only in ("", "changed"):
        return chosen
    lines = experiments(db, flow=flow) if db is not None else []
    newest = next((line for line in lines if line.dataset.name == dataset), None)
    if db is None or newest is None:
        raise CommandError(
            f"Nothing was compared on {dataset!r} yet, so nothing has {only}; run it without "
            "--only first."
        )
    earlier = comparisons(load_experiment(db, newest.experiment_id))
    wanted = {name for one in earlier for name in _of_kind(one, only)}
    return tuple(case for case in chosen if case.case_id in wanted)


def _of_kind(found: Comparison, only: str) -> set[str]:
    if only == "regressed":
        return {row.case.case_id for row in found.rows if row.change is Change.REGRESSED}
    if only == "errors":
        return {row.case.case_id for row in found.rows if row.change is Change.MISSING}
    wrong = (Change.REGRESSED, Change.BOTH_WRONG)
    return {row.case.case_id for row in found.rows if row.change in wrong}
