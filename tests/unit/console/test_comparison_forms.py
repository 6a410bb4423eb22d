"""A comparison as texts for others: what was recorded stays text in each of them."""

import dataclasses
from xml.etree import ElementTree

from support.experiments import experiment

from handoff_console.console.commands.comparison_forms import (
    comparison_junit,
    comparison_markdown,
    went_words,
)
from handoff_console.store.analysis.comparison.compare import comparisons

EVIL = "@team see <img src=x> | [this](http://evil.example) or www.evil.example \x00"


def hostile():
    made = experiment(["a", "a"], {"v1": ["a", "a"], "v2\x01": ["b", "a"]})
    first, second = made.cases
    return comparisons(
        dataclasses.replace(made, cases=(dataclasses.replace(first, text=EVIL), second))
    )


def test_recorded_text_is_no_tag_no_link_and_calls_nobody_in_a_pull_request():
    said = comparison_markdown(hostile())

    (row,) = [line for line in said.splitlines() if "team" in line]
    assert row.startswith(
        "| c0 | @\N{WORD JOINER}team see \\<img src=x\\> \\| \\[this\\](http\\://evil"
    )
    assert r"www\.evil.example" in row
    assert row.replace(r"\|", "").count("|") == 6


def test_signs_that_xml_has_no_form_for_leave_the_report_readable():
    root = ElementTree.fromstring(comparison_junit(hostile()))

    (suite,) = root
    assert suite.get("name") == r"v2\x01 vs v1"
    assert (suite.get("tests"), suite.get("failures")) == ("3", "1")


def test_a_case_whose_trials_disagree_says_how_many_were_right():
    went = {"v1": ["a a b", "a a a"], "v2": ["a b b", "b b b"]}
    (found,) = comparisons(experiment(["a", "a"], went, trials_each=3))
    said = comparison_markdown([found])

    assert [went_words(row) for row in found.rows] == [
        "a → a at first, right in 66.7 % → 33.3 % of its trials",
        "a → b",
    ]
    assert (
        "| a at first, right in 66.7 % of its trials | a at first, right in 33.3 % of its trials |"
        in said
    )
    assert "| c1 | request 1 | a | a | b |" in said
