"""Input files: three forms, every bad line named, nothing taken for what it is not."""

import io
import json
import sys

import pytest

from handoff_console.console.commands.errors import InputRefused
from handoff_console.console.commands.files import LONGEST_CHARACTERS
from handoff_console.console.commands.inputs import (
    LONGEST_LINE_CHARACTERS,
    InputFile,
    InputRequest,
)

NO_COLUMN = "no column is called 'text', 'input' or 'message'"


@pytest.fixture
def records(tmp_path):
    """Return a function that reads content, named like this, as records."""

    def read(name, content):
        path = tmp_path / name
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        source = InputFile(str(path))
        try:
            return list(source.records())
        finally:
            source.close()

    return read


def test_plain_text_is_a_request_a_line_and_blank_lines_are_none(records):
    assert records("asked.txt", "Where is my parcel?\n\n  I want a refund \r\n") == [
        InputRequest(1, "Where is my parcel?", {}),
        InputRequest(3, "I want a refund", {}),
    ]


@pytest.mark.parametrize("name", ["text", "input", "message"])
def test_json_lines_have_their_message_under_any_of_three_names(records, name):
    line = json.dumps({name: "Hello", "label": "greeting"})

    assert records("asked.jsonl", line) == [InputRequest(1, "Hello", {"label": "greeting"})]


def test_the_first_of_the_three_names_is_the_message_and_the_others_are_kept(records):
    line = json.dumps({"message": "m", "text": "t", "input": "i"})

    assert records("asked.jsonl", line) == [InputRequest(1, "t", {"input": "i", "message": "m"})]


def test_values_that_are_no_text_are_kept_as_json(records):
    line = json.dumps({"text": "Hello", "id": 7, "tags": ["a", "b"], "none": None})

    assert records("x.jsonl", line)[0].metadata == {"id": "7", "tags": '["a","b"]', "none": "null"}


def test_json_lines_are_recognised_under_any_name(records):
    assert records("asked", '\n{"text": "Hello"}')[0].message == "Hello"


def test_csv_has_its_message_in_a_column_and_keeps_the_others(records):
    content = 'label,text\nbilling,"Two lines,\nand a comma"\nother,Plain\n'

    assert records("asked.csv", content) == [
        InputRequest(2, "Two lines,\nand a comma", {"label": "billing"}),
        InputRequest(4, "Plain", {"label": "other"}),
    ]


def test_a_file_with_a_byte_order_mark_is_read_without_it(records):
    assert records("asked.csv", b"\xef\xbb\xbftext\nHello\n") == [InputRequest(2, "Hello", {})]


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("{", "it is not JSON (Expecting property name enclosed in double quotes at column 2)"),
        ('{"text": "a', "it is not JSON (Unterminated string starting at column 10)"),
        ('{"text": "a\tb"}', "it is not JSON (Invalid control character at column 12)"),
        ("[1]", "it is a JSON list, not an object"),
        ("7", "it is a JSON number, not an object"),
        ("true", "it is a JSON boolean, not an object"),
        ('{"question": "Hello"}', "it has none of the keys 'text', 'input' or 'message'"),
        ('{"text": ["Hello"]}', "its 'text' is a list, not a text"),
        ('{"text": null}', "its 'text' is a null, not a text"),
        ('{"text": "  "}', "its message is empty"),
        ('{"text": "\\udc80"}', "it has half of a character (\\udc80)"),
        ('{"text": "\\ud800"}', "it has half of a character (\\ud800)"),
        ("[" * 100_000, "it is JSON with a number or a nesting too large to read"),
    ],
)
def test_a_bad_json_line_says_what_is_wrong_and_the_next_one_is_read(records, line, problem):
    first, second = records("asked.jsonl", f'{line}\n{{"text": "Hello"}}\n')

    assert (first.line, first.problem) == (1, problem)
    assert second == InputRequest(2, "Hello", {})


def test_a_line_that_is_not_utf8_is_bad_and_the_next_one_is_read(records):
    first, second = records("asked.txt", b"caf\xe9\ncaf\xc3\xa9\n")

    assert (first.line, first.problem) == (1, "it is not UTF-8")
    assert second.message == "café"


def test_a_message_of_more_than_a_million_characters_is_bad(records):
    (record,) = records("asked.txt", "x" * (LONGEST_CHARACTERS + 1))

    assert record.problem == "its message has 1,000,001 characters; at most 1,000,000 are read"


@pytest.mark.parametrize(
    ("name", "line"),
    [("asked.txt", "{}"), ("asked.jsonl", '{{"text": "{}"}}'), ("asked.csv", '"",{}')],
)
def test_a_line_without_an_end_is_passed_over_in_pieces(records, name, line):
    long = line.format("x" * LONGEST_LINE_CHARACTERS)
    ways = {"asked.txt": "Hello", "asked.jsonl": '{"text": "Hello"}', "asked.csv": "Hello,"}
    first_line = "text,label\n" if name == "asked.csv" else ""

    first, second = records(name, f"{first_line}{long}\n{ways[name]}\n")

    problem = f"it has {len(long) + 1:,} characters; a line has at most 10,000,000"
    assert (first.problem, second.message) == (problem, "Hello")


def test_a_long_cell_is_read_and_a_row_of_many_is_passed_over(records):
    row = ",".join(["x" * 900_000] * 12)
    columns = ",".join(f"c{n}" for n in range(11))

    first, second = records("asked.csv", f"text,{columns}\n{row}\n{'y' * 900_000}{',' * 11}\n")

    assert first.problem == "it has 10,800,012 characters; a line has at most 10,000,000"
    assert second.message == "y" * 900_000


def test_a_row_with_too_few_cells_is_bad(records):
    rows = records("asked.csv", "text,label\nHello\nThere,x\n")

    assert [(row.line, row.problem) for row in rows] == [
        (2, "it has 1 cell where the first line has 2"),
        (3, ""),
    ]


def test_a_row_with_a_nul_is_bad_or_read_but_ends_nothing(records):
    *_, last = records("asked.csv", "text\nbef\0ore\nHello\n")

    assert last == InputRequest(3, "Hello", {})


@pytest.mark.parametrize(
    ("name", "content", "sentence"),
    [
        ("x.csv", "question,label\na,b\n", f"line 1: {NO_COLUMN}; it has: 'question', 'label'."),
        ("x.csv", "", f"line 1: {NO_COLUMN}; it is empty."),
        ("x.json", '[{"text": "a"}]', "is one JSON array; write one JSON object a line instead."),
    ],
)
def test_a_file_of_the_wrong_form_is_refused_as_a_whole(records, name, content, sentence):
    with pytest.raises(InputRefused) as refused:
        records(name, content)

    assert str(refused.value).endswith(sentence)


def test_a_missing_file_and_a_folder_are_refused_in_one_sentence(tmp_path):
    with pytest.raises(InputRefused, match=r"nowhere\.txt: there is no such file; check the path"):
        InputFile(str(tmp_path / "nowhere.txt"))
    with pytest.raises(InputRefused, match="it is a folder; name a file in it"):
        InputFile(str(tmp_path))


def test_equal_content_has_equal_digests_under_one_key_alone(tmp_path):
    for name in ("one.txt", "two.txt"):
        (tmp_path / name).write_text("Hello\n")
    one, two = (InputFile(str(tmp_path / name)) for name in ("one.txt", "two.txt"))

    assert one.digest(b"key") == two.digest(b"key") != one.digest(b"other")
    one.close()
    two.close()


def test_standard_input_is_read_like_a_file_and_can_be_read_twice(monkeypatch):
    stream = io.TextIOWrapper(io.BytesIO(b'{"text": "Hello"}\n'))
    monkeypatch.setattr(sys, "stdin", stream)
    source = InputFile("-")

    assert source.name == "standard input"
    assert list(source.records()) == list(source.records()) == [InputRequest(1, "Hello", {})]
    source.close()


def test_a_data_set_is_an_input_without_the_line_that_names_its_flow(records):
    lines = '{"flow": "desk"}\n{"input": "My bill", "expected": ["billing"]}\n'

    assert records("cases.jsonl", lines) == [
        InputRequest(2, "My bill", {"expected": '["billing"]'}),
    ]
    assert records("flow.jsonl", '{"flow": "desk", "text": "Hi"}\n') == [
        InputRequest(1, "Hi", {"flow": "desk"}),
    ]
