"""Acts that failed without saying that they did nothing: a person has to find out."""

from contextlib import closing

from support.sessions import play

from handoff_console.console.commands.waiting import pending_of
from handoff_console.runtime import Agent, Effect, Flow, Redaction, Tool, ToolError, say, use
from handoff_console.store.db import open_reader
from handoff_console.store.effects import StoreLedger
from handoff_console.store.writer import open_sink


def shop(raised: Exception) -> Flow:
    """Return a flow that pays, whatever comes of it, and then wants to write to somebody."""

    async def pay(bill: str) -> None:
        raise raised

    async def mail(to: str) -> str:
        return "sent"

    steps = [use("pay", bill="B-1"), use("mail", to="bob")]
    return Flow(
        "shop",
        [
            Agent(
                "clerk",
                tools=[Tool(pay, effect=Effect.WRITE), Tool(mail, effect=Effect.EXTERNAL)],
                may_write=True,
                model=lambda call: steps[len(call.results)] if len(call.results) < 2 else say("ok"),
            )
        ],
    )


def waiting_for(path, raised):
    with open_sink(path, create=True) as sink:
        played = play(shop(raised), sink=sink, ledger=StoreLedger(sink.db, Redaction()))
        assert played.result.waiting_for
    with closing(open_reader(path)) as db:
        return pending_of(db, "s1")


def test_a_payment_that_timed_out_waits_for_the_operator_beside_the_approval(tmp_path):
    found = waiting_for(tmp_path / "handoff.db", TimeoutError("the bank is slow"))

    assert [approval.tool for approval in found.approvals] == ["mail"]
    assert [(one.place, one.tool, one.arguments) for one in found.effects] == [
        ("h1.1.0", "pay", {"bill": "B-1"})
    ]


def test_a_payment_that_said_it_did_nothing_does_not(tmp_path):
    found = waiting_for(tmp_path / "handoff.db", ToolError("no such bill"))

    assert [approval.tool for approval in found.approvals] == ["mail"]
    assert found.effects == ()
