"""A record may come from anywhere: what has another form than its events say is one sentence."""

import asyncio

import pytest
from support.towns import Journal, Town

from handoff_console.runtime import Recording, run
from handoff_console.runtime.errors import EventError
from handoff_console.runtime.events import (
    HandoffClosed,
    ModelReplied,
    ToolReturned,
    UserMessageReceived,
)
from handoff_console.runtime.taping import read_tape


@pytest.fixture(scope="module")
def recording():
    town = Town()
    journal = Journal(town)
    result = asyncio.run(run(town.flow(), "Go.", sink=journal))
    return Recording(result.session_id, list(journal.events), journal.body)


def with_another_body(recording, digest, value):
    def body(name):
        return value if name == digest else recording.body(name)

    return Recording(recording.session_id, recording.events, body)


@pytest.mark.parametrize("value", [None, 7, "said", [], {}, {"content": 5}])
@pytest.mark.parametrize(
    ("kind", "field"),
    [
        (UserMessageReceived, "message"),
        (ModelReplied, "reply"),
        (ToolReturned, "result"),
        (HandoffClosed, "result"),
    ],
)
def test_an_answer_of_another_form_is_said_in_a_sentence(recording, kind, field, value):
    said = next(e.payload for e in recording.events if isinstance(e.payload, kind))
    damaged = with_another_body(recording, getattr(said, field), value)

    with pytest.raises(EventError, match=r"^What session '.*' said has another form than its eve"):
        read_tape(damaged)


@pytest.mark.parametrize(
    "calls", [5, ["look"], [{"name": 5}], [{"id": "c1", "name": "look", "arguments": "{}"}]]
)
def test_a_reply_with_calls_of_another_form_is_said_too(recording, calls):
    said = next(e.payload for e in recording.events if isinstance(e.payload, ModelReplied))
    reply = {"role": "assistant", "content": "", "tool_calls": calls}

    with pytest.raises(EventError):
        read_tape(with_another_body(recording, said.reply, reply))


def test_an_answer_to_a_question_that_nobody_asked_is_said_too(recording):
    events = [e for e in recording.events if e.kind != "model_called"]

    with pytest.raises(EventError):
        read_tape(Recording(recording.session_id, events, recording.body))
