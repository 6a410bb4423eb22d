"""The cases of a comparison as a spreadsheet reads them."""

import csv
import io

from support.comparisons import CASES, experiment

from handoff_console.console.viewmodels.compare_export import cases_csv
from handoff_console.store.analysis.comparison.cases import RouteCase
from handoff_console.store.analysis.comparison.compare import comparison


def read(found):
    return list(csv.DictReader(io.StringIO(cases_csv(found, found.rows), newline="")))


def test_every_case_is_a_row_with_both_decisions():
    rows = read(comparison(experiment(), "v2", "v3"))

    assert len(rows) == len(CASES)
    assert rows[0] == {
        "id": "c1", "change": "regressed", "input": "Why was I charged twice?",
        "expected": "billing", "tags": "charges", "critical": "yes", "flaky": "",
        "v2 decided": "billing", "v2 right": "1", "v2 score": "2.5000", "v2 tokens": "40",
        "v2 session": "", "v3 decided": "orders", "v3 right": "0", "v3 score": "2.5000",
        "v3 tokens": "40", "v3 session": "",
    }  # fmt: skip


def test_what_did_not_run_is_empty_and_not_wrong():
    rows = read(comparison(experiment(a=("", *["billing"] * 7)), "v2", "v3"))

    assert (rows[0]["change"], rows[0]["v2 decided"], rows[0]["v2 right"]) == ("missing", "", "")


def test_a_text_that_a_spreadsheet_would_run_is_only_text():
    evil = RouteCase("c1", '=HYPERLINK("http://192.0.2.1","x")', ("billing",))
    made = experiment(["billing"], ["billing"], cases=[evil])

    assert read(comparison(made, "v2", "v3"))[0]["input"] == "'" + evil.text
