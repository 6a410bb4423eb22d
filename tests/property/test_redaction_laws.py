"""Laws of redaction, for every value."""

import json

from hypothesis import given
from hypothesis import strategies as st

from handoff_console.runtime.canonical import canonical_text
from handoff_console.runtime.redaction import SENSITIVE_KEYS, Redaction

RULES = Redaction()
MARKER = "q7Zmarker"
WORDS = st.sampled_from(
    ["a", "order", "token", "pass", "key", "basic", "bearer", "12", "4111", ":"]
)
TEXTS = st.text(max_size=20) | st.lists(WORDS, max_size=6).map(" ".join)
SPELLED = st.sampled_from(sorted(SENSITIVE_KEYS)).flatmap(
    lambda key: st.sampled_from(
        [
            key,
            key.upper(),
            key.replace("_", "-"),
            key.replace("_", " "),
            key.replace("_", ""),
            f"x_{key}",
            f"{key}-2",
        ]
    )
)
SECRETS = st.recursive(
    st.just(MARKER) | st.text(max_size=5).map(lambda text: f"{text}{MARKER}{text}"),
    lambda inner: (
        st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=5), inner, max_size=2)
    ),
    max_leaves=4,
)
VALUES = st.recursive(
    TEXTS | st.integers() | st.none(),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(TEXTS, inner, max_size=3)
        | st.dictionaries(SPELLED, SECRETS, min_size=1, max_size=2)
    ),
    max_leaves=12,
)


@given(VALUES)
def test_nothing_under_a_sensitive_key_is_left(value):  # R63
    assert MARKER not in canonical_text(RULES.clean(value))


@given(VALUES)
def test_nothing_under_a_sensitive_key_is_left_when_the_value_is_json_in_a_text(value):  # R63
    text = json.dumps({"result": value}, ensure_ascii=False)

    assert MARKER not in RULES.clean_text(text)
    assert MARKER not in RULES.clean_text(f'<data from="tool">\n{text}\n</data>')


@given(VALUES | TEXTS)
def test_what_may_hold_nothing_is_left_as_it_is(value):
    if not RULES.may_hold(canonical_text(value)):
        assert RULES.clean(value) == value


@given(VALUES)
def test_cleaning_twice_is_cleaning_once(value):
    once = RULES.clean(value)

    assert RULES.clean(once) == once
