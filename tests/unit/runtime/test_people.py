"""What only a person can say: approvals and questions, durable and bound to what was shown."""

import asyncio
from typing import Any

import pytest

from handoff_console.runtime import (
    Agent,
    Approval,
    Decision,
    Edge,
    Effect,
    EventList,
    Flow,
    ModelCall,
    ModelReply,
    Question,
    Recording,
    SessionResult,
    Status,
    Tool,
    answer,
    hand_over,
    resume,
    run,
    say,
    together,
    use,
)
from handoff_console.runtime.rerun import rerun


class Mailbox:
    """Counts what really went out."""

    def __init__(self) -> None:
        self.sent: list[str] = []
        self.looked = 0

    def flow(self, **options: Any) -> Flow:
        def mail(to: str) -> str:
            self.sent.append(to)
            return f"sent to {to}"

        def look(order: str) -> str:
            self.looked += 1
            return f"{order} is on its way"

        def clerk(call: ModelCall) -> ModelReply:
            if not call.results:
                return together(use("mail", to="bob"), use("look", order="A-1"))
            return say(" | ".join(result.content for result in call.results))

        tools = [
            Tool(mail, effect=Effect.EXTERNAL, inline=True, **options),
            Tool(look, inline=True),
        ]
        return Flow("mailbox", [Agent("clerk", "Mail.", tools=tools, may_write=True, model=clerk)])


def suspended(box: Mailbox, **options: Any) -> tuple[EventList, SessionResult, Approval]:
    sink = EventList()
    result = asyncio.run(run(box.flow(**options), "Tell bob.", sink=sink))
    (waiting,) = result.waiting_for
    assert isinstance(waiting, Approval)
    return sink, result, waiting


def gone_on(box: Mailbox, sink: EventList, result: SessionResult, *decisions: Decision) -> Any:
    recording = Recording(result.session_id, list(sink.events), sink.body)
    return asyncio.run(resume(box.flow(), recording, sink=sink, decisions=decisions))


def kinds(sink: EventList) -> list[str]:
    return [event.kind for event in sink.events]


# R32
def test_an_external_act_waits_for_a_person_and_its_siblings_do_not():
    box = Mailbox()
    sink, result, approval = suspended(box)

    assert (box.sent, box.looked) == ([], 1)
    assert result.status is Status.NEEDS_INPUT
    assert (approval.tool, approval.arguments, approval.path) == ("mail", {"to": "bob"}, "t1")
    assert kinds(sink)[-1] == "session_suspended"
    assert sink.committed == len(sink.events)


# R33
def test_an_explicit_yes_runs_exactly_what_was_shown_once_and_repeats_nothing_else():
    box = Mailbox()
    sink, result, approval = suspended(box)
    yes = Decision(approval_id=approval.approval_id, approved=True, shown=approval.shown)

    final = gone_on(box, sink, result, yes)

    assert (box.sent, box.looked) == (["bob"], 1)
    assert final.answer == "sent to bob | A-1 is on its way"
    assert kinds(sink).count("tool_called") == 2
    assert kinds(sink).count("model_called") == 2
    (decided,) = (e.payload for e in sink.events if e.kind == "approval_decided")
    assert decided.proposed == decided.approved_arguments


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"approved": False}, "denied"),
        ({"approved": "yes!"}, "denied"),
        ({"approved": ""}, "denied"),
        ({"shown": "something else"}, "stale"),
        ({"arguments": {"nobody": "bob"}}, "invalid"),
    ],
)
# R33
def test_anything_but_a_clear_yes_to_what_was_shown_is_a_no(change, reason):
    box = Mailbox()
    sink, result, approval = suspended(box)
    fields = {"approval_id": approval.approval_id, "approved": True, "shown": approval.shown}

    final = gone_on(box, sink, result, Decision(**{**fields, **change}))

    assert box.sent == []
    assert f"a person has to approve it ({reason})" in final.answer
    assert "tool_denied" in kinds(sink)


def test_edited_arguments_are_checked_again_and_are_what_runs():
    box = Mailbox()
    sink, result, approval = suspended(box)
    edited = Decision(
        approval_id=approval.approval_id,
        approved=True,
        shown=approval.shown,
        arguments={"to": "eve"},
    )

    gone_on(box, sink, result, edited)

    assert box.sent == ["eve"]
    (decided,) = (e.payload for e in sink.events if e.kind == "approval_decided")
    assert sink.body(decided.proposed) == {"to": "bob"}
    assert sink.body(decided.approved_arguments) == {"to": "eve"}


def test_an_approval_that_nobody_gave_in_time_is_a_no():
    box = Mailbox()
    sink, result, approval = suspended(box, approval_seconds=-1.0)
    yes = Decision(approval_id=approval.approval_id, approved=True, shown=approval.shown)
    recording = Recording(result.session_id, list(sink.events), sink.body)

    asyncio.run(resume(box.flow(approval_seconds=-1.0), recording, sink=sink, decisions=[yes]))

    assert box.sent == []
    (decided,) = (e.payload for e in sink.events if e.kind == "approval_decided")
    assert (decided.approved, decided.reason) == (False, "expired")


def test_a_decision_is_used_once():
    box = Mailbox()
    sink, result, approval = suspended(box)
    yes = Decision(approval_id=approval.approval_id, approved=True, shown=approval.shown)
    gone_on(box, sink, result, yes)

    again = Recording(result.session_id, list(sink.events[:-1]), sink.body)
    other = EventList()
    other.bodies.update(sink.bodies)
    asyncio.run(resume(box.flow(), again, sink=other, decisions=[yes]))

    assert box.sent == ["bob"]


def test_somebody_who_sits_there_is_asked_at_once():
    box = Mailbox()

    def ask(waiting: Approval | Question) -> Decision:
        assert isinstance(waiting, Approval)
        return Decision(approval_id=waiting.approval_id, approved=True, shown=waiting.shown)

    result = asyncio.run(run(box.flow(), "Tell bob.", ask=ask))

    assert (result.waiting_for, box.sent) == ((), ["bob"])


# R46
def test_a_handoff_to_a_person_waits_for_the_answer_and_passes_it_on():
    def triage(call: ModelCall) -> ModelReply:
        return hand_over("human", "the customer is angry")

    flow = Flow("desk", [Agent("triage", edges=[Edge.transfer("human", "Angry.")], model=triage)])
    sink = EventList()

    first = asyncio.run(run(flow, "I want your boss!", sink=sink))
    (question,) = first.waiting_for
    assert isinstance(question, Question)
    assert (question.agent, question.path) == ("human", "t1~1")
    assert question.text == "I want your boss! (the customer is angry)"

    recording = Recording(first.session_id, list(sink.events), sink.body)
    answers = {question.handoff_id: "I am sorry, I will call you."}
    final = asyncio.run(resume(flow, recording, sink=sink, answers=answers))

    assert (final.status, final.answer) == (Status.OK, "I am sorry, I will call you.")


def test_a_missing_value_travels_to_the_user_and_the_answer_travels_back():
    def clerk(call: ModelCall) -> ModelReply:
        if "4812" in call.messages[-1]["content"]:
            return say("Customer 4812 has two invoices.")
        return answer(Status.NEEDS_INPUT, "Which customer?")

    flow = Flow("desk", [Agent("clerk", model=clerk)])
    sink = EventList()
    first = asyncio.run(run(flow, "List the invoices.", sink=sink, wait_for_answers=True))
    (question,) = first.waiting_for
    assert isinstance(question, Question)

    recording = Recording(first.session_id, list(sink.events), sink.body)
    final = asyncio.run(
        resume(
            flow,
            recording,
            sink=sink,
            answers={question.handoff_id: "It is 4812."},
            wait_for_answers=True,
        )
    )

    assert (question.text, final.answer) == ("Which customer?", "Customer 4812 has two invoices.")
    assert kinds(sink).count("handoff_closed") == 1


def interviewing() -> Flow:
    """Asks three questions in a row."""

    def clerk(call: ModelCall) -> ModelReply:
        said = [m["content"] for m in call.messages if m["role"] == "user"][1:]
        if len(said) < 3:
            return answer(Status.NEEDS_INPUT, f"Question {len(said) + 1}?")
        return say(" | ".join(said))

    return Flow("desk", [Agent("clerk", model=clerk)])


def test_each_answer_counts_for_one_question_however_often_the_session_is_resumed():
    sink = EventList()
    result = asyncio.run(run(interviewing(), "Hello.", sink=sink, wait_for_answers=True))
    asked = []
    for text in ("one", "two", "three"):
        (question,) = result.waiting_for
        assert isinstance(question, Question)
        asked.append(question.text)
        recording = Recording(result.session_id, list(sink.events), sink.body)
        result = asyncio.run(
            resume(
                interviewing(),
                recording,
                sink=sink,
                answers={question.handoff_id: text},
                wait_for_answers=True,
            )
        )

    assert asked == ["Question 1?", "Question 2?", "Question 3?"]
    assert (result.waiting_for, result.answer) == ((), "one | two | three")
    assert kinds(sink).count("input_given") == 3


def test_all_of_its_answers_are_given_again_when_it_is_verified():
    said = iter(["one", "two", "three"])
    sink = EventList()
    result = asyncio.run(
        run(interviewing(), "Hello.", sink=sink, ask=lambda _: next(said), wait_for_answers=True)
    )
    recording = Recording(result.session_id, list(sink.events), sink.body)

    came = asyncio.run(rerun(interviewing(), recording, "h1", wait_for_answers=True))

    assert (came.same_result, came.session.answer) == (True, "one | two | three")
