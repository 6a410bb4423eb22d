"""Transition latency: from a transfer's request to its receiver's first token."""

from support.logs import Log

from handoff_console.runtime.events import FirstTokenReceived
from handoff_console.store.analysis.latency import Transition, transitions


def test_without_streaming_the_whole_reply_is_waited_for():
    log = Log().user("Help")
    billing = log.transfer(log.root("triage"), "billing")
    log.step(billing).step(billing)

    asked, replied = (
        next(e.elapsed_seconds for e in log.events if e.handoff_id == "h2" and e.kind == kind)
        for kind in ("handoff_requested", "model_replied")
    )
    seconds = round(replied - asked, 6)
    assert transitions(log.events) == (Transition("h2", "triage", "billing", seconds, False),)


def test_with_streaming_the_first_token_counts():
    log = Log().user("Help")
    billing = log.transfer(log.root("triage"), "billing")
    log.emit(billing, FirstTokenReceived(step=1))
    log.step(billing)

    assert [t.streamed for t in transitions(log.events)] == [True]


def test_calls_refusals_and_silence_have_no_latency():
    log = Log().user("Help")
    triage = log.root("triage")
    log.step(log.call(triage, "search"))
    log.transfer(triage, "fraud", refused="target")
    log.step(log.transfer(triage, "billing"), tokens=0, error="down")

    assert transitions(log.events) == ()
