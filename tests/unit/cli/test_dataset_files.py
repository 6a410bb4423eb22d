"""Data sets and what is imported as one: files of every form, and those that are none."""

import csv
import json

import pytest

from handoff_console.console.commands.dataset_imports import import_cases
from handoff_console.console.commands.datasets import read_dataset
from handoff_console.console.commands.errors import InputRefused

DEEP = "[" * 100_000


def test_clinc_gives_its_part_and_those_for_nobody(tmp_path):
    path = tmp_path / "data_full.json"
    path.write_text(json.dumps({"test": [["My bill", "bill"]], "oos_test": [["Moon", "oos"]]}))

    cases = import_cases(path, "clinc")

    assert [(case.text, case.label) for case in cases] == [("My bill", "bill"), ("Moon", "abstain")]


@pytest.mark.parametrize(
    ("name", "form", "content", "says"),
    [
        ("d.json", "clinc", '{"test": [["no intent"]]}', "no list of pairs"),
        ("d.json", "clinc", '{"test": {"a": 1}}', "no list of pairs"),
        ("d.json", "clinc", '{"train": []}', "it has no part 'test'; it has: train"),
        ("d.json", "clinc", DEEP, "it is no JSON"),
        ("d.jsonl", "csv", DEEP, "it is no JSON"),
        (
            "d.csv",
            "csv",
            "text,label\n" + "x" * 1_100_000 + ",a\n",
            "more than 1,000,000 characters",
        ),
        ("d.csv", "csv", "text,label\n,a\n", "it has no text"),
    ],
)
def test_what_is_no_data_set_is_refused_in_a_sentence(tmp_path, name, form, content, says):
    path = tmp_path / name
    path.write_text(content)

    with pytest.raises(InputRefused, match=says):
        import_cases(path, form)


@pytest.mark.parametrize("bound", [10, 2**31 - 1])
def test_the_longest_cell_is_the_same_whatever_bound_a_library_has_set(tmp_path, bound):
    whole, longer = tmp_path / "whole.csv", tmp_path / "longer.csv"
    whole.write_text(f"input,expected\n{'x' * 1_000_000},billing\n")
    longer.write_text(f"input,expected\n{'x' * 1_000_001},billing\n")

    csv.field_size_limit(bound)
    assert len(read_dataset(str(whole)).cases[0].text) == 1_000_000
    csv.field_size_limit(bound)
    with pytest.raises(InputRefused, match="a cell of it has more than 1,000,000 characters"):
        read_dataset(str(longer))


@pytest.mark.parametrize("form", ["csv", "clinc"])
def test_a_folder_is_no_data_set(tmp_path, form):
    with pytest.raises(InputRefused, match="it is a folder"):
        import_cases(tmp_path, form)


def test_a_line_that_is_nested_too_deep_is_no_case(tmp_path):
    path = tmp_path / "deep.jsonl"
    path.write_text(DEEP)

    with pytest.raises(InputRefused, match="line 1: it is no JSON"):
        read_dataset(str(path))


def test_line_ends_of_windows_in_a_cell_make_no_other_case(tmp_path):
    one, other = tmp_path / "one.csv", tmp_path / "other.csv"
    one.write_bytes(b'input,expected\n"My\nbill",billing\n')
    other.write_bytes(b'\xef\xbb\xbfinput,expected\r\n"My\r\nbill",billing\r\n')

    assert read_dataset(str(one)).digest == read_dataset(str(other)).digest
