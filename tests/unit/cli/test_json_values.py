"""What a person types for a tool's arguments, checked at the field before anything is sent."""

from typing import Literal

import pytest
from pydantic import BaseModel, Field

from handoff_console.console.commands.json_values import problems, typed_value
from handoff_console.runtime import Tool


class Line(BaseModel):
    name: str = Field(max_length=5)
    count: int = Field(ge=1)


def order(
    to: str,
    cents: int,
    lines: list[Line],
    kind: Literal["express", "slow"] = "slow",
    note: str | None = None,
    share: float = 0.5,
    gift: bool = False,
) -> None:
    """Order something."""


SCHEMA = Tool(order).spec["parameters"]


def typed(name, text):
    return typed_value(text, SCHEMA["properties"][name], SCHEMA)


@pytest.mark.parametrize(
    ("name", "text", "value"),
    [
        ("to", " Ana  ", " Ana  "),
        ("to", "4812", "4812"),
        ("to", "[1]", "[1]"),
        ("cents", "1900", 1900),
        ("lines", '[{"name": "lamp", "count": 2}]', [{"name": "lamp", "count": 2}]),
        ("kind", "express", "express"),
        ("note", "null", None),
        ("note", "as agreed", "as agreed"),
        ("share", "0.25", 0.25),
        ("gift", "true", True),
    ],
)
def test_what_fits_is_taken_as_the_kind_of_value_that_the_field_has(name, text, value):
    assert typed(name, text) == value


@pytest.mark.parametrize(
    ("name", "text", "sentence"),
    [
        ("cents", "nineteen", "It has to be a whole number."),
        ("cents", "19.5", "It has to be a whole number."),
        ("cents", "true", "It has to be a whole number."),
        ("cents", "", "It has to be a whole number."),
        ("share", "NaN", "It has to be a number."),
        ("gift", "yes", "It has to be true or false."),
        ("kind", "fast", 'It has to be one of: "express", "slow".'),
        ("lines", "lamp", "It has to be a list, as [ … ]."),
        ("lines", '[{"name": "lamp"}]', "Item 1: 'count' is missing."),
        ("lines", '[{"name": "lamp", "count": 0}]', "Item 1: count: It has to be at least 1."),
        (
            "lines",
            '[{"name": "lantern", "count": 1}]',
            "Item 1: name: It has to be at most 5 characters long.",
        ),
    ],
)
def test_what_does_not_fit_is_said_at_the_field(name, text, sentence):
    with pytest.raises(ValueError, match=r"^It(em \d:)? ") as said:
        typed(name, text)

    assert str(said.value) == sentence


def test_all_arguments_together_are_what_the_tool_would_take():
    whole = {"to": "Ana", "cents": 1, "lines": []}

    assert list(problems(whole, SCHEMA, SCHEMA)) == []
    assert list(problems({"to": "Ana", "cents": 1}, SCHEMA, SCHEMA)) == ["'lines' is missing."]
    assert list(problems({**whole, "bcc": "x"}, SCHEMA, SCHEMA)) == [
        "There is no 'bcc'; there are: cents, gift, kind, lines, note, share, to."
    ]


def test_a_schema_that_says_nothing_takes_json_and_any_text():
    assert typed_value("12", {}) == 12
    assert typed_value("twelve", {}) == "twelve"


def test_a_pattern_of_another_kind_is_left_to_the_tool():
    assert typed_value("Zoë", {"type": "string", "pattern": r"^\p{L}+$"}) == "Zoë"


def test_a_number_larger_than_any_float_is_a_whole_number():
    huge = int("9" * 400)

    assert typed("cents", "9" * 400) == huge
    with pytest.raises(ValueError, match="at most 10"):
        typed_value("9" * 400, {"type": "integer", "maximum": 10})


def test_what_is_nested_too_deep_is_no_list():
    with pytest.raises(ValueError, match="a list"):
        typed("lines", "[" * 100_000)
