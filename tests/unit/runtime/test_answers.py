"""Reading what a worker answered."""

import json

import pytest
from pydantic import BaseModel, field_validator

from handoff_console.runtime import HandoffResult, Status
from handoff_console.runtime.answers import read_answer
from handoff_console.runtime.contract import answer_text


class Invoices(BaseModel):
    invoices: list[str]

    @field_validator("invoices")
    @classmethod
    def _known(cls, invoices: list[str]) -> list[str]:
        if "INV-0" in invoices:
            raise ValueError("INV-0 was never issued")
        return invoices


def read(text: str, schema: type[BaseModel] | None = Invoices) -> HandoffResult | str:
    return read_answer(text, schema, steps_used=2, max_bytes=200)


def typed(**fields: object) -> str:
    return json.dumps({"status": "ok", "data": {"invoices": ["INV-1"]}, "notes": "found"} | fields)


def test_plain_text_is_an_answer_where_text_is_asked_for():
    assert read("It was a proration.", None) == HandoffResult(
        status=Status.OK, data={"text": "It was a proration."}, steps_used=2
    )


def test_a_typed_answer_is_read_where_text_is_asked_for():
    assert read('{"status": "not_found", "notes": "no such order"}', None) == HandoffResult(
        status=Status.NOT_FOUND, notes="no such order", steps_used=2
    )


@pytest.mark.parametrize(
    "text", ['{"total": 3}', '{"status": "ok", "total": 3}', "[1, 2]", "{oops"]
)
def test_json_that_is_no_result_is_text_where_text_is_asked_for(text):
    assert read(text, None) == HandoffResult(status=Status.OK, data={"text": text}, steps_used=2)


def test_data_is_validated_against_the_schema():  # R13
    assert read(typed()) == HandoffResult(
        status=Status.OK, data={"invoices": ["INV-1"]}, notes="found", steps_used=2
    )


def test_json_in_a_code_fence_is_read():
    assert read(f"```json\n{typed()}\n```") == read(typed())


def test_what_the_model_says_of_its_steps_is_ignored():
    answer = read(typed(steps_used=99))

    assert isinstance(answer, HandoffResult)
    assert answer.steps_used == 2


@pytest.mark.parametrize("status", ["not_found", "needs_input", "error"])
def test_a_status_other_than_ok_owes_no_data(status):
    answer = read(typed(status=status, data=None))

    assert isinstance(answer, HandoffResult)
    assert (answer.status, answer.data) == (status, None)


@pytest.mark.parametrize(("said", "transient"), [(True, True), (False, False), ("false", False)])
def test_only_a_plain_true_marks_an_error_as_transient(said, transient):  # R11
    answer = read(typed(status="error", data=None, transient=said))

    assert isinstance(answer, HandoffResult)
    assert answer.transient is transient


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("  ", "the answer is empty; say something, or call a tool."),
        ("x" * 201, "the answer has 201 bytes; a result may have 200: send what was asked for."),
        ("I found them.", "the answer is no JSON object with status, data and notes."),
        ("[" * 200, "the answer is no JSON object with status, data and notes."),
        ('{"status": "ok"', "the answer is no JSON object with status, data and notes."),
        (
            typed(confidence=1),
            "the answer has unknown fields (confidence); it may have: data, notes, status.",
        ),
        (
            typed(**{"x" * 101: 1}),
            "the answer has unknown fields (1 of them); it may have: data, notes, status.",
        ),
        (typed(status="done"), "status is none of: ok, not_found, needs_input, error."),
        (typed(status="limit_reached"), "status is none of: ok, not_found, needs_input, error."),
        (typed(status=["ok"]), "status is none of: ok, not_found, needs_input, error."),
        (
            typed(data=None),
            "data does not fit Invoices: value: Input should be a valid dictionary or instance of "
            "Invoices.",
        ),
        (typed(data={}), "data does not fit Invoices: invoices: Field required."),
        (
            typed(data={"invoices": ["INV-0"]}),
            "data does not fit Invoices: invoices: INV-0 was never issued.",
        ),
        (typed(notes=5), "notes: Input should be a valid string."),
        (typed(status="error", data="none"), "data: Input should be a valid dictionary."),
    ],
)
def test_what_does_not_fit_is_told_in_one_sentence(text, problem):  # R12
    assert read(text) == problem


def test_an_answer_of_brackets_alone_breaks_nothing():
    assert read_answer("{" * 100_000, Invoices, steps_used=1, max_bytes=200_000) == (
        "the answer is no JSON object with status, data and notes."
    )
    deep = '{"a":' * 50_000 + "1" + "}" * 50_000
    assert read_answer(deep, Invoices, steps_used=1, max_bytes=1_000_000) == (
        "the answer is no JSON object with status, data and notes."
    )


@pytest.mark.parametrize(
    ("result", "shown"),
    [
        (HandoffResult(status=Status.OK, data={"text": "Hello."}), "Hello."),
        (HandoffResult(status=Status.OK, data={"a": "ü"}, notes="Found one."), "Found one."),
        (HandoffResult(status=Status.OK, data={"a": "ü"}), '{"a": "ü"}'),
        (HandoffResult(status=Status.OK, data={"text": 5}), '{"text": 5}'),
        (HandoffResult(status=Status.NOT_FOUND), "not_found"),
    ],
)
def test_a_user_is_shown_text_then_notes_then_data_then_the_status(result, shown):
    assert answer_text(result) == shown
