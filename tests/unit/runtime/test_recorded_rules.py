"""What a flow goes by that is code, as it is recorded and as it is told to be other."""

import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st

from handoff_console.runtime import Agent, EventList, Flow, Redaction, run, say
from handoff_console.runtime.recorded_rules import (
    check_rules,
    other_checks,
    other_redaction,
    redaction_rules,
    tells_rules,
)
from handoff_console.runtime.redaction import SENSITIVE_KEYS

KEYS = st.frozensets(st.sampled_from(sorted(SENSITIVE_KEYS)) | st.text(max_size=5), max_size=9)
RULES = st.builds(Redaction, keys=KEYS, patterns=st.booleans())


class Own(Redaction):
    """Rules of somebody's own."""


def no(request):
    return None


def snapshot(**changes) -> dict:
    flow = Flow("one", [Agent("a", ingress=[no])], model=lambda call: say("hi"), **changes)
    sink = EventList()
    asyncio.run(run(flow, "Hi.", sink=sink))
    return sink.body(sink.events[0].payload.flow_digest)


def test_a_session_records_by_which_rules_it_went():
    recorded = snapshot(redaction=Redaction(keys=frozenset({"customer_name"}), patterns=False))

    assert recorded["redaction"] == {"keys": ["customer_name"], "patterns": False}
    assert recorded["agents"][0]["ingress"] == check_rules([no])
    assert tells_rules(recorded)


def test_a_flow_that_was_recorded_without_its_rules_does_not_tell_them():
    recorded = snapshot()
    del recorded["redaction"]

    assert not tells_rules(recorded)


@pytest.mark.parametrize("key", ["keys", "patterns", "redaction"])
def test_a_flow_whose_redaction_removes_its_own_rules_does_not_tell_them(key):
    assert not tells_rules(snapshot(redaction=Redaction(keys=frozenset({key}))))


@given(RULES, RULES)
def test_rules_are_told_to_differ_exactly_where_they_do(one, other):
    said = other_redaction(redaction_rules(one), redaction_rules(other))

    assert bool(said) is (one != other)


@pytest.mark.parametrize(
    ("now", "was", "said"),
    [
        (
            Redaction(keys=SENSITIVE_KEYS | {"customer"}),
            Redaction(),
            "by now they leave out 'customer' too",
        ),
        (
            Redaction(keys=SENSITIVE_KEYS - {"iban", "ssn"}),
            Redaction(),
            "by now they no longer leave out 'iban' and 'ssn'",
        ),
        (
            Redaction.off(),
            Redaction(),
            "by now they no longer leave out 'access_key', 'access_token' and 40 more names, nor "
            "what has the form of a secret",
        ),
        (
            Redaction(keys=frozenset({"customer"})),
            Redaction(keys=frozenset({"iban"}), patterns=False),
            "by now they leave out 'customer' and what has the form of a secret too, and no longer "
            "'iban'",
        ),
        (
            Redaction(),
            Redaction(patterns=False),
            "by now they leave out what has the form of a secret too",
        ),
        (
            Redaction(),
            Redaction(keys=SENSITIVE_KEYS | {"x" * 41}),
            f"by now they no longer leave out '{'x' * 40}…'",
        ),
        (Own(), Redaction(), "they are a class of the flow's own, with another source"),
        (Redaction(), Own(), "they were a class of the flow's own"),
    ],
)
def test_in_what_rules_differ_is_said(now, was, said):
    assert other_redaction(redaction_rules(now), redaction_rules(was)) == said


def test_checks_are_told_by_name_whatever_their_order():
    first, second = [lambda request: None, lambda request: ""]
    now, was = check_rules([first, no, second]), check_rules([second, no, first])

    assert list(other_checks(now, was)) == []
    assert list(other_checks(check_rules([no]), was)) == [("<lambda>", "is gone")]
    assert list(other_checks(was, check_rules([no]))) == [("<lambda>", "is new")]
    assert list(other_checks(now[:2], now)) == [("<lambda>", "has another source")]
