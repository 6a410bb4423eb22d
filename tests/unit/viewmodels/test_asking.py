"""What a person sees who is to decide: every sign of it, who asks, and until when."""

import pytest

from handoff_console.console.commands.waiting import Pending, PendingApproval, PendingQuestion
from handoff_console.console.viewmodels.asking import asking, pieces
from handoff_console.runtime import Decision
from handoff_console.runtime.contract import Effect

SCHEMA = {"properties": {"to": {"type": "string"}, "cents": {"type": "integer"}}}


def approval(**fields) -> PendingApproval:
    known = {
        "approval_id": "h2.1.0",
        "handoff_id": "h2",
        "agent": "cashier",
        "path": "t1/2.0",
        "tool": "pay",
        "effect": Effect.EXTERNAL,
        "arguments": {"to": "Ana", "cents": 1_900},
        "shown": "d" * 32,
        "asked_at": 1_000.0,
        "expires_at": 4_600.0,
        "parameters": SCHEMA,
    }
    known["recorded"] = fields.get("arguments", known["arguments"])
    return PendingApproval(**{**known, **fields})


def shown(**fields):
    return asking(Pending("s", (approval(**fields),)), now=1_000.0).acts[0]


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("Dear Ana,\nthanks.", [("Dear Ana,\nthanks.", "plain")]),
        ("", []),
        ("to ", [("to", "plain"), ("·", "space")]),
        ("a \nb", [("a", "plain"), ("·", "space"), ("\nb", "plain")]),
        ("\n  b", [("\n", "plain"), ("··", "space"), ("b", "plain")]),
        ("a\t", [("a", "plain"), ("→", "space")]),
        ("pay\u202eeno", [("pay", "plain"), ("U+202E", "sign"), ("eno", "plain")]),
        ("a\u200bb\u00a0c", [("a", "plain"), ("U+200B", "sign"), ("b", "plain"),
                             ("U+00A0", "sign"), ("c", "plain")]),
        ("\x1b[31mred", [("U+001B", "sign"), ("[31mred", "plain")]),
        ("a\r\n", [("a", "plain"), ("U+000D", "sign"), ("\n", "plain")]),
        ("Größe 日本 🙂", [("Größe 日本 🙂", "plain")]),
    ],
)  # fmt: skip
def test_every_sign_of_a_text_is_shown(text, parts):
    assert [tuple(piece) for piece in pieces(text)] == parts


@pytest.mark.parametrize(
    ("effect", "words"),
    [
        (Effect.READ, ("ask for", "asked for")),
        (Effect.WRITE, ("write", "written")),
        (Effect.EXTERNAL, ("send", "sent")),
    ],
)
def test_only_what_leaves_the_house_is_sent(effect, words):
    assert shown(effect=effect).words == words


def test_a_megabyte_is_shown_whole():
    (piece,) = pieces("x" * 1_000_000)

    assert len(piece.text) == 1_000_000


def test_an_act_says_who_wants_what_where_and_until_when():
    act = shown()

    assert act.title == "cashier wants to use pay"
    assert act.effect == "external: it reaches people or systems outside"
    assert act.where == "h2 · t1/2.0"
    assert act.expires == "No answer within 1 h 0 min is a no."
    assert act.is_open
    assert [(a.name, a.typed, a.takes) for a in act.arguments] == [
        ("to", "Ana", ""), ("cents", "1900", "a whole number"),
    ]  # fmt: skip


def test_too_late_is_a_no_and_nobody_can_decide_any_more():
    found = asking(Pending("s", (approval(),)), now=5_000.0)

    assert found.acts[0].expires == "Nobody answered until 1970-01-01 01:16:40 UTC, which is a no."
    assert (found.left, found.can_go_on) == (0, True)


def test_what_was_decided_stands_with_the_arguments_that_were_approved():
    said = Decision(
        approval_id="h2.1.0", approved=True, shown="d" * 32, arguments={"to": "Bo", "cents": 1},
        decided_by="Ana", note="as agreed",
    )  # fmt: skip
    act = shown(said=said)

    assert act.said == "Yes, with changes, says Ana: as agreed"
    assert [a.typed for a in act.arguments] == ["Bo", "1"]
    assert not act.is_open


def test_long_and_nested_values_get_a_field_of_several_lines_and_say_their_size():
    act = shown(arguments={"to": "x" * 300, "cents": 1, "lines": [{"n": 1}, {"n": 2}]})
    to, cents, lines = act.arguments

    assert (to.size, to.is_long, cents.is_long) == ("300 characters", True, False)
    (long,) = shown(arguments={"to": "x" * 5_000}).arguments
    assert long.size == "5,000 characters; scroll to read all of them"
    assert lines.pieces[0].text == '[\n  {\n    "n": 1\n  },\n  {\n    "n": 2\n  }\n]'
    assert (lines.typed, lines.takes) == ('[{"n": 1}, {"n": 2}]', "JSON")


def test_a_question_stands_with_who_asks_and_is_open_until_somebody_answered():
    asked = PendingQuestion(subject="h3#1", agent="human", path="t1~1", text="Which \x1bone?")
    open_one = asking(Pending("s", (), (asked,)), now=0.0)

    assert open_one.questions[0].title == "A person is asked"
    assert open_one.questions[0].where == "h3 · t1~1"
    assert (open_one.left, open_one.can_go_on) == (1, False)
    assert asking(Pending("s"), now=0.0).is_empty
