"""Whatever was left out of a record: said again, it is what it was, to the byte."""

from hypothesis import given
from hypothesis import strategies as st

from handoff_console.runtime import Agent, EventList, Flow, Recording, Redaction, Session, say
from handoff_console.runtime.clock import VirtualClock, run_virtual
from handoff_console.runtime.filling import filled
from handoff_console.runtime.gaps import gaps

RULES = Redaction()
SECRETS = {
    "card number": ["4111 1111 1111 1111", "5500 0000 0000 0004", "4111-1111-1111-1111"],
    "key": ["sk-proj-abcdefghijklmnop1234", "AKIAABCDEFGHIJKLMNOP"],
    "token": ["hf_abcdefghijklmnopqrstuvwx"],
}
"""Values that are left out by their form, under the names of their marks."""
PLAIN = st.text("abc äß中 .,!?\n", max_size=12)
SECRET = st.sampled_from([(name, value) for name, them in SECRETS.items() for value in them])


@given(parts=st.lists(st.tuples(PLAIN, SECRET), min_size=1, max_size=5), end=PLAIN)
def test_with_its_values_a_message_is_what_the_user_said(parts, end):
    text = " | ".join([f"{plain} {value}" for plain, (_, value) in parts]) + f" | {end}"
    sink = EventList(b"key")

    async def talk():
        flow = Flow("shop", [Agent("clerk", model=lambda _: say("ok"))])
        await Session(flow, sink=sink, clock=VirtualClock(), session_id="s1").say(text)

    run_virtual(talk())
    opened = next(e.seq for e in sink.events if e.kind == "handoff_opened")
    begun = Recording("s1", sink.events[:opened], sink.body)
    values: dict[str, list[str]] = {}
    for _, (name, value) in parts:
        values.setdefault(name, []).append(value)

    whole = filled(begun, values, RULES)

    said = next(e.payload.message for e in begun.events if e.kind == "user_message_received")
    assert {gap.name: gap.marks for gap in gaps(begun)} == {n: len(v) for n, v in values.items()}
    assert gaps(whole) == []
    assert whole.body(said)["content"] == text
