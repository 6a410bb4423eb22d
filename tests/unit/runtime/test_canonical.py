"""Canonical JSON: any value has a text, and equal values have the same one."""

import math
import subprocess
import sys
from dataclasses import dataclass
from datetime import date
from enum import StrEnum
from pathlib import Path

import pytest
from pydantic import BaseModel

from handoff_console.runtime.canonical import (
    canonical,
    canonical_text,
    digest,
    estimate_tokens,
    json_schema,
)


class Point(BaseModel):
    x: int
    on: date


@dataclass
class Pair:
    left: int
    right: str


class Colour(StrEnum):
    RED = "red"


class Unspeakable:
    def __repr__(self) -> str:
        raise RuntimeError("no words")


def test_keys_are_sorted_and_nothing_stands_between_the_parts():
    assert canonical_text({"b": [1, 2.5, None], "a": {"d": True, "c": "x"}}) == (
        '{"a":{"c":"x","d":true},"b":[1,2.5,null]}'
    )


def test_text_is_written_as_it_is_in_utf8():
    assert canonical({"city": "Zürich 🏔"}) == '{"city":"Zürich 🏔"}'.encode()


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (Point(x=1, on=date(2026, 1, 5)), '{"on":"2026-01-05","x":1}'),
        (Pair(1, "a"), '{"left":1,"right":"a"}'),
        (Colour.RED, '"red"'),
        (date(2026, 1, 5), '"2026-01-05"'),
        (Path("/tmp/a"), '"/tmp/a"'),
        ((1, 2), "[1,2]"),
        ({"b", "c", "a"}, '["a","b","c"]'),
        ([frozenset({2, 1}), {"z"}], '[[1,2],["z"]]'),
        (b"text", '"text"'),
        (math.nan, '"NaN"'),
        ([math.inf, -math.inf], '["Infinity","-Infinity"]'),
        ({2: "a", None: "b"}, '{"2":"a","null":"b"}'),
        ({2: "a", "b": math.nan}, '{"2":"a","b":"NaN"}'),
        ({(1, 2): 3}, '{"[1,2]":3}'),
        (complex(1, 2), '"1+2j"'),
    ],
)
def test_what_json_has_no_form_for_is_written_as_close_as_it_gets(value, text):
    assert canonical_text(value) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (b"\xff\x00", '"\\\\xff\\u0000"'),
        ({"raw": b"\xff"}, '{"raw":"\\\\xff"}'),
        (Unspeakable(), '"<Unspeakable>"'),
        ({Unspeakable(): 1}, '{"<Unspeakable>":1}'),
        (object(), '"<object object>"'),
    ],
)
def test_a_value_that_cannot_be_shown_has_a_text_too(value, text):
    assert canonical_text(value) == text


def test_a_number_too_long_for_the_decimal_system_is_written_in_hexadecimal():
    assert canonical_text([16**5_000]) == f'["0x1{"0" * 5_000}"]'


def test_a_value_that_contains_itself_ends():
    circle: list[object] = [1]
    circle.append({"again": circle})

    assert canonical_text(circle) == '[1,{"again":"[circular]"}]'


def test_a_value_that_nests_too_deeply_is_cut_off():
    deep: object = "the end"
    for _ in range(5_000):
        deep = [deep]

    assert canonical_text(deep) == "[" * 100 + '"[nested too deeply]"' + "]" * 100


def test_a_lone_surrogate_is_escaped_and_the_bytes_are_utf8():
    text = canonical_text({"name": "half \ud83d of an emoji"})

    assert text == '{"name":"half \\ud83d of an emoji"}'
    text.encode("utf-8")


def test_sets_have_the_same_text_in_every_process():
    code = (
        "from handoff_console.runtime.canonical import canonical_text;"
        "print(canonical_text({'tags': {'red', 'green', 'blue', 'black'}}))"
    )
    texts = {
        subprocess.run(
            [sys.executable, "-c", code],
            env={"PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    }

    assert texts == {'{"tags":["black","blue","green","red"]}\n'}


def test_a_schema_is_made_once_and_whoever_has_it_may_change_it(monkeypatch):
    class Found(BaseModel):
        at: Point

    whole = Found.model_json_schema()
    json_schema(Found)["properties"].clear()
    monkeypatch.setattr(Found, "model_json_schema", None)

    assert json_schema(Found) == whole


def test_a_digest_depends_on_the_body_and_on_the_key():
    assert digest(b"4812", b"key") == "60c6010544da921fb98c911aed890416"
    assert digest(b"4812", b"key") != digest(b"4813", b"key")
    assert digest(b"4812", b"key") != digest(b"4812", b"another")


@pytest.mark.parametrize(("size_bytes", "tokens"), [(0, 0), (1, 1), (4, 1), (5, 2), (4_000, 1_000)])
def test_an_estimate_is_a_quarter_of_the_bytes_rounded_up(size_bytes, tokens):
    assert estimate_tokens(size_bytes) == tokens
