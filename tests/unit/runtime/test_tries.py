"""A model that fails for a moment is asked again, inside the limits; in virtual time."""

import json
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from handoff_console.runtime import (
    Agent,
    EventList,
    Flow,
    Limits,
    ModelError,
    ModelReply,
    Recording,
    Scripted,
    SessionResult,
    Status,
    TransientModelError,
    resume,
    run,
    say,
)
from handoff_console.runtime.canonical import canonical_text
from handoff_console.runtime.clock import VirtualClock, run_virtual
from handoff_console.runtime.events import (
    BudgetCharged,
    FirstTokenReceived,
    HandoffClosed,
    ModelCalled,
    ModelReplied,
    payload_fields,
)
from handoff_console.runtime.models import ModelCall, Terms

BUSY = TransientModelError("the model is busy")


class Flaky:
    """Answers each request with the next line; a line may be an error."""

    name, offline, reads_prompt = "flaky", True, True

    def __init__(self, *lines: ModelReply | Exception, **terms: Any) -> None:
        self.terms = Terms(max_tries=3, **terms)
        self.calls: list[ModelCall] = []
        self._lines = lines

    async def reply(self, call: ModelCall, /) -> ModelReply:
        self.calls.append(call)
        line = self._lines[len(self.calls) - 1]
        if isinstance(line, Exception):
            raise line
        return line


def ask(model: Any, **changes: Any) -> tuple[SessionResult, EventList]:
    flow = Flow("one", [Agent("solo", "Answer.")], model=model, **changes)
    log = EventList()
    result = run_virtual(run(flow, "Hello?", sink=log, clock=VirtualClock(), session_id="s1"))
    return result, log


def of(log: EventList, kind: type) -> Sequence[Any]:
    return [event.payload for event in log.events if isinstance(event.payload, kind)]


def test_a_transient_error_is_no_step_and_every_try_is_recorded():
    model = Flaky(BUSY, BUSY, say("Hello."))

    result, log = ask(model)

    assert (result.status, result.answer) == (Status.OK, "Hello.")
    assert [(call.step, call.try_number) for call in of(log, ModelCalled)] == [
        (1, 1),
        (1, 2),
        (1, 3),
    ]
    assert [(r.error, r.transient) for r in of(log, ModelReplied)] == [
        ("the model is busy", True),
        ("the model is busy", True),
        ("", False),
    ]
    assert of(log, HandoffClosed)[0].steps_used == 1


def test_a_step_cap_of_one_does_not_stop_the_second_try():
    limits = Limits(max_steps=1, max_tokens=1_000, deadline_seconds=30)

    result, _ = ask(Flaky(BUSY, say("Hello.")), limits=limits)

    assert result.answer == "Hello."


def test_the_pauses_double_and_are_at_most_a_quarter_longer():
    _, log = ask(Flaky(BUSY, BUSY, say("Hello."), backoff_seconds=1.0))

    asked = [e.elapsed_seconds for e in log.events if isinstance(e.payload, ModelCalled)]
    assert 1.0 <= asked[1] - asked[0] <= 1.25
    assert 2.0 <= asked[2] - asked[1] <= 2.5


def test_what_the_provider_asks_for_counts_instead_of_the_backoff():
    busy = TransientModelError("busy", retry_after_seconds=8.0)

    _, log = ask(Flaky(busy, say("Hello.")))

    first, second = (e for e in log.events if isinstance(e.payload, ModelCalled))
    assert 8.0 <= second.elapsed_seconds - first.elapsed_seconds <= 10.0


def test_nobody_waits_for_a_try_that_would_come_after_the_deadline():
    busy = TransientModelError("busy", retry_after_seconds=60.0)
    limits = Limits(max_steps=3, max_tokens=10_000, deadline_seconds=30)

    result, log = ask(Flaky(busy, say("Too late.")), limits=limits)

    assert (result.status, result.answer) == (Status.ERROR, "the model failed: busy")
    assert log.events[-1].elapsed_seconds == 0.0


def test_after_the_last_try_the_handoff_fails_and_is_not_tried_again_as_a_whole():
    model = Flaky(BUSY, BUSY, BUSY, say("Never."))

    result, _ = ask(model)

    assert (result.status, result.result.transient) == (Status.ERROR, False)
    assert result.answer == "the model failed 3 times: the model is busy"
    assert len(model.calls) == 3


def test_a_model_without_terms_is_asked_once_and_its_handoff_may_be_tried_again():
    result, log = ask(Scripted({"solo": [BUSY]}))

    assert (result.status, result.result.transient) == (Status.ERROR, True)
    assert len(of(log, ModelCalled)) == 1


def test_an_error_that_will_not_pass_is_not_tried_again():
    model = Flaky(ModelError("no such model"), say("Never."))

    result, _ = ask(model)

    assert result.answer == "the model failed: no such model"
    assert len(model.calls) == 1


def test_a_try_that_may_be_billed_is_charged_as_estimated():
    broken = TransientModelError("the answer broke off", billed=True)

    _, log = ask(Flaky(broken, say("Hello.")))

    called, replied, charged = (
        of(log, kind)[0] for kind in (ModelCalled, ModelReplied, BudgetCharged)
    )
    assert replied.input_tokens == charged.tokens == called.estimate_tokens > 0
    assert (replied.measured, charged.estimated) == (False, True)
    assert of(log, HandoffClosed)[0].measured is False


def test_a_try_that_was_refused_costs_nothing():
    _, log = ask(Flaky(BUSY, say("Hello.")))

    assert of(log, ModelReplied)[0].input_tokens == 0
    assert len(of(log, BudgetCharged)) == 1


def test_failed_tries_that_use_up_the_tokens_stop_the_handoff():
    broken = TransientModelError("the answer broke off", billed=True)
    limits = Limits(max_steps=3, max_tokens=40, deadline_seconds=30)

    result, log = ask(Flaky(broken, say("Never.")), limits=limits)

    assert (result.status, result.reason) == (Status.LIMIT_REACHED, "tokens")
    assert len(of(log, ModelCalled)) == 1


def gone_on(model: Any, **changes: Any) -> tuple[SessionResult, EventList]:
    """Ask a model that is killed before it answers, and go on with this one."""
    _, log = ask(Flaky(say("Nobody heard this.")), **changes)
    asked = next(n for n, e in enumerate(log.events, 1) if isinstance(e.payload, ModelCalled))
    del log.events[asked:]
    left = Recording("s1", tuple(log.events), log.body)
    flow = Flow("one", [Agent("solo", "Answer.")], model=model, **changes)
    return run_virtual(resume(flow, left, sink=log, clock=VirtualClock())), log


def test_an_answer_that_died_with_the_process_takes_away_no_try():
    result, log = gone_on(Flaky(BUSY, BUSY, say("Hello.")))

    assert (result.status, result.answer) == (Status.OK, "Hello.")
    assert [call.try_number for call in of(log, ModelCalled)] == [1, 2, 3, 4]


def test_an_answer_that_died_with_the_process_is_no_failure_of_the_model():
    result, log = gone_on(Flaky(ModelError("no such model")))
    replay = Recording("s1", tuple(log.events[:-1]), log.body)
    flow = Flow("one", [Agent("solo", "Answer.")], model=Flaky())
    again = run_virtual(resume(flow, replay, sink=EventList(), clock=VirtualClock()))

    assert result.answer == again.answer == "the model failed: no such model"


def test_an_answer_that_died_and_used_up_the_tokens_stops_the_handoff():
    limits = Limits(max_steps=3, max_tokens=40, deadline_seconds=30)

    result, log = gone_on(Flaky(say("Never.")), limits=limits)

    assert (result.status, result.reason) == (Status.LIMIT_REACHED, "tokens")
    assert len(of(log, ModelCalled)) == 1


def test_no_reply_may_be_longer_than_the_model_terms_allow():
    model = Flaky(say("Hello."), max_output_tokens=500)

    _, log = ask(model)

    assert (of(log, ModelCalled)[0].max_output_tokens, model.calls[0].max_output_tokens) == (
        500,
        500,
    )


def test_the_settings_of_a_model_are_recorded_with_each_call():
    _, log = ask(Flaky(say("Hello."), settings={"temperature": 0.2}))

    assert log.body(of(log, ModelCalled)[0].settings) == {"temperature": 0.2, "max_tries": 3}


@given(
    st.dictionaries(st.text(max_size=5), st.none() | st.booleans() | st.integers() | st.text()),
    st.none() | st.integers(min_value=1),
    st.integers(min_value=1),
    st.floats(min_value=0, max_value=60),
)
def test_the_terms_of_a_model_are_those_that_were_recorded(settings, tokens, tries, seconds):
    terms = Terms(
        settings=settings, max_output_tokens=tokens, max_tries=tries, backoff_seconds=seconds
    )

    assert Terms.as_recorded(json.loads(canonical_text(terms.recorded))) == terms


def test_of_terms_that_every_model_has_nothing_is_recorded():
    assert Terms().recorded == {}
    assert Terms(max_tries=2, backoff_seconds=0.5).recorded == {"max_tries": 2}


def test_a_model_without_settings_records_none():
    _, log = ask(Scripted({"solo": [say("Hello.")]}))

    assert "settings" not in payload_fields(of(log, ModelCalled)[0])


def test_the_first_token_is_recorded_when_it_arrives():
    line = say("Hello.", first_token_seconds=0.4, latency_seconds=2.0)

    _, log = ask(Scripted({"solo": [line]}))

    (first,) = (e for e in log.events if isinstance(e.payload, FirstTokenReceived))
    (replied,) = (e for e in log.events if isinstance(e.payload, ModelReplied))
    assert (first.payload.step, first.elapsed_seconds, replied.elapsed_seconds) == (1, 0.4, 2.0)
    assert first.seq == replied.seq - 1


def test_a_first_token_is_recorded_once_and_not_after_the_reply():
    class Eager:
        name, offline, reads_prompt = "eager", True, True

        async def reply(self, call: ModelCall, /) -> ModelReply:
            self.call = call
            call.first_token()
            call.first_token()
            return say("Hello.")

    model = Eager()

    _, log = ask(model)
    model.call.first_token()

    assert len(of(log, FirstTokenReceived)) == 1


@pytest.mark.parametrize("error", [TimeoutError("slow"), ConnectionError("gone")])
def test_the_usual_errors_of_a_network_are_transient(error):
    result, _ = ask(Flaky(error, say("Hello.")))

    assert result.answer == "Hello."
