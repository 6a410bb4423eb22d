"""Laws of canonical JSON, for every value."""

import json
import math
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from handoff_console.runtime.canonical import canonical, canonical_text

NUMBERS = st.integers() | st.floats(allow_nan=False, allow_infinity=False)
JSON = st.recursive(
    st.none() | st.booleans() | NUMBERS | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=20,
)
SURROGATES = st.text(st.characters(categories=["Cs", "L"]))
ANYTHING = st.recursive(
    JSON | st.binary() | st.floats() | st.dates() | st.uuids() | st.complex_numbers() | SURROGATES,
    lambda inner: (
        st.lists(inner)
        | st.tuples(inner, inner)
        | st.frozensets(st.text() | st.integers() | st.binary())
        | st.dictionaries(st.text() | st.integers() | SURROGATES | st.binary(), inner)
    ),
    max_leaves=20,
)


@given(JSON)
def test_every_json_value_comes_back_as_it_was(value):
    assert same(json.loads(canonical_text(value)), value)


@given(JSON)
def test_writing_what_was_read_gives_the_same_bytes(value):
    assert canonical(json.loads(canonical_text(value))) == canonical(value)


@given(st.dictionaries(st.text(), NUMBERS | st.text(), max_size=6))
def test_the_order_of_keys_makes_no_difference(value):
    turned = dict(reversed(value.items()))

    assert canonical(turned) == canonical(value)


@given(ANYTHING)
def test_any_value_has_a_text_that_is_valid_json_in_valid_utf8(value):
    json.loads(canonical(value).decode("utf-8"))


def same(read: Any, written: Any) -> bool:
    """Compare JSON values; 1, 1.0 and True are three different ones."""
    if type(read) is not type(written):
        return False
    if isinstance(read, dict):
        return read.keys() == written.keys() and all(same(read[k], written[k]) for k in read)
    if isinstance(read, list):
        return len(read) == len(written) and all(map(same, read, written))
    if isinstance(read, float):
        return math.copysign(1, read) == math.copysign(1, written) and read == written
    return bool(read == written)
