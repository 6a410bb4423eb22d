"""The typed boundary: what a request and a result may say."""

import pytest
from pydantic import ValidationError

from handoff_console.runtime import HandoffRequest, HandoffResult, Limits, Status, Usage
from handoff_console.runtime.contract import Reaction, reaction_to

REQUEST = {
    "task": "Find the three most recent invoices for the customer",
    "inputs": {"customer_id": "4812"},
    "allowed_tools": ["billing.list_invoices"],
    "limits": {"max_steps": 6, "max_tokens": 8000, "deadline_seconds": 30},
    "output_schema": "InvoiceLookupResult",
}
RESULT = {"status": "ok", "data": {"a": 1}, "notes": "found", "steps_used": 4}


def problem(of: type, fields: object) -> str:
    with pytest.raises(ValidationError) as refused:
        of.model_validate(fields)
    (first, *_) = refused.value.errors()
    return f"{'.'.join(map(str, first['loc']))}: {first['msg']}"


def test_a_request_has_the_five_fields_of_the_document():  # R1
    request = HandoffRequest.model_validate(REQUEST)

    assert request.model_dump(mode="json") == REQUEST


def test_a_request_is_complete_without_the_optional_ones():  # R5
    request = HandoffRequest(task="Find it")

    assert request.limits == Limits(max_steps=6, max_tokens=8_000, deadline_seconds=30.0)
    assert (request.inputs, request.allowed_tools, request.output_schema) == ({}, (), "Text")


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({}, "task: Field required"),
        ({**REQUEST, "history": []}, "history: Extra inputs are not permitted"),
        (
            {**REQUEST, "limits": {"max_steps": 0}},
            "limits.max_steps: Input should be greater than 0",
        ),
        ({**REQUEST, "limits": {"seconds": 3}}, "limits.seconds: Extra inputs are not permitted"),
    ],
)
def test_a_request_with_a_missing_or_extra_field_is_refused(fields, said):  # R1
    assert problem(HandoffRequest, fields) == said


def test_a_request_is_frozen():  # R1
    request = HandoffRequest.model_validate(REQUEST)

    with pytest.raises(ValidationError, match="Instance is frozen"):
        request.task = "Something else"


@pytest.mark.parametrize(
    ("task", "said"),
    [
        ("  ", "the task is empty; say in one sentence what is to be done"),
        (
            "Find it.\nThen pay it.",
            "the task has several lines; say it in one sentence on one line",
        ),
    ],
)
def test_a_task_is_one_sentence_on_one_line(task, said):  # R2
    assert problem(HandoffRequest, {"task": task}) == f"task: Value error, {said}"


CONVERSATION = [
    {"role": "user", "content": "My card is …"},
    {"role": "assistant", "content": "Yes"},
]


@pytest.mark.parametrize(
    "value",
    [
        CONVERSATION,
        tuple(CONVERSATION),
        {"so_far": CONVERSATION},
        [[CONVERSATION]],
        {"a": {"b": [{"c": CONVERSATION}]}},
    ],
)
def test_inputs_hold_values_never_the_conversation(value):  # R3
    assert problem(HandoffRequest, {"task": "Find it", "inputs": {"context": value}}) == (
        "inputs: Value error, input 'context' is a list of messages; pass the specific values the "
        "worker needs, not the conversation"
    )


@pytest.mark.parametrize("value", ["text", 4812, ["a", "b"], [{"role": "admin"}], {"content": "x"}])
def test_inputs_may_hold_any_other_value(value):  # R3
    assert HandoffRequest(task="Find it", inputs={"context": value}).inputs == {"context": value}


def test_a_result_has_the_four_fields_of_the_document():  # R8
    result = HandoffResult.model_validate(RESULT)

    assert result.model_dump(mode="json", exclude={"transient"}) == RESULT
    assert [status.value for status in Status] == [
        "ok",
        "not_found",
        "needs_input",
        "error",
        "limit_reached",
    ]


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        (
            {**RESULT, "status": "done"},
            "status: Input should be 'ok', 'not_found', 'needs_input', 'error' or 'limit_reached'",
        ),
        ({**RESULT, "confidence": 1}, "confidence: Extra inputs are not permitted"),
        ({**RESULT, "steps_used": -1}, "steps_used: Input should be greater than or equal to 0"),
        ({**RESULT, "data": "text"}, "data: Input should be a valid dictionary"),
    ],
)
def test_any_other_result_is_refused(fields, said):  # R8
    assert problem(HandoffResult, fields) == said


@pytest.mark.parametrize(
    ("status", "transient", "attempt", "reaction"),
    [
        (Status.OK, False, 1, Reaction.CONTINUE),
        (Status.NOT_FOUND, False, 1, Reaction.ACCEPT),
        (Status.NEEDS_INPUT, False, 1, Reaction.ASK),
        (Status.LIMIT_REACHED, False, 1, Reaction.PRESENT_AS_INCOMPLETE),
        (Status.ERROR, False, 1, Reaction.REPORT),
        (Status.ERROR, True, 1, Reaction.RETRY),
        (Status.ERROR, True, 2, Reaction.REPORT),
        (Status.NOT_FOUND, True, 1, Reaction.ACCEPT),
    ],
)
def test_every_status_has_one_reaction(status, transient, attempt, reaction):  # R9 R10 R11
    assert (
        reaction_to(HandoffResult(status=status, transient=transient), attempt=attempt) is reaction
    )


def test_limits_within_others_are_the_narrower_of_each():
    wide = Limits(max_steps=9, max_tokens=100, deadline_seconds=9)
    narrow = Limits(max_steps=3, max_tokens=900, deadline_seconds=1)

    assert wide.within(narrow) == Limits(max_steps=3, max_tokens=100, deadline_seconds=1)


def test_usage_is_input_plus_output():
    assert Usage(30, 12).tokens == 42
