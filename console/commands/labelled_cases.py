"""What people labelled, sessions or cases of a data set, as cases of a data set."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from typing import Any

from handoff_console.store.analysis.comparison.cases import Expect, RouteCase
from handoff_console.store.routed_sessions import FirstMessage


def labelled_cases(
    requests: Iterable[FirstMessage], labels: Mapping[str, str]
) -> tuple[RouteCase, ...]:
    """Return the labelled sessions as cases, in the order given; of one text only the first.

    Args:
        requests: What sessions began with, as it was recorded: redacted.
        labels: Session → `billing`, `a or b`, `a + b`, `direct` or `abstain`.
    """
    found: dict[str, RouteCase] = {}
    for request in requests:
        label = labels.get(request.session_id)
        if label and request.text not in found:
            found[request.text] = labelled_case(request, label)
    return tuple(found.values())


def relabelled_cases(
    cases: Iterable[RouteCase], labels: Mapping[str, Collection[str]]
) -> tuple[RouteCase, ...]:
    """Return a data set's cases with the labels that people agree on, in order.

    Where nobody said anything a case keeps its own label. Cases that people disagree about, and
    those that have no label at all, are left out.

    Args:
        cases: All of them.
        labels: By case, what people said: each word once.
    """
    found = []
    for case in cases:
        said = set(labels.get(case.case_id, ()))
        if len(said) == 1:
            found.append(replace(case, **_expected(min(said))))
        elif not said and case.is_labelled:
            found.append(case)
    return tuple(found)


def labelled_case(request: FirstMessage, label: str) -> RouteCase:
    """Return one session as a case; its id is the session's, which it keeps when labels change."""
    return replace(
        RouteCase(request.session_id, request.text, source=request.session_id), **_expected(label)
    )


def _expected(label: str) -> dict[str, Any]:
    """Return what a label says of a case: `billing`, `a or b`, `a + b`, `direct` or `abstain`."""
    nobody: dict[str, Any] = {"expected": (), "expected_all": (), "expect": Expect.ROUTE}
    if label in {Expect.DIRECT, Expect.ABSTAIN}:
        return nobody | {"expect": Expect(label)}
    if " + " in label:
        return nobody | {"expected_all": tuple(label.split(" + "))}
    return nobody | {"expected": tuple(label.split(" or "))}
