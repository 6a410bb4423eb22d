"""Sessions in a store: written by hand-made logs, with the digests that the store would make."""

import dataclasses
from typing import Any

from support.logs import Log

from handoff_console.runtime.canonical import digest
from handoff_console.runtime.events import Event, EventSink, Payload
from handoff_console.store.writer import StoreSink


def write(sink: StoreSink, session_id: str, log: Log, *, later_seconds: float = 0.0) -> list[Event]:
    """Record a log under an id, and return the events as they were recorded."""
    events = keep(sink, session_id, log, later_seconds=later_seconds)
    for event in events:
        sink.append(event)
    sink.commit()
    return events


def keep(sink: EventSink, session_id: str, log: Log, *, later_seconds: float = 0.0) -> list[Event]:
    """Keep a log's bodies, and return its events with the digests of this sink."""
    renamed = {name: digest(body, sink.digest_key) for name, body in log.sink.bodies.items()}
    for name, body in log.sink.bodies.items():
        rewritten = body
        for old, new in renamed.items():  # contexts name other bodies
            rewritten = rewritten.replace(old.encode(), new.encode())
        if rewritten != body:
            renamed[name] = digest(rewritten, sink.digest_key)
        sink.keep(renamed[name], rewritten, session_id)
    return [
        event._replace(
            session_id=session_id,
            at=round(event.at + later_seconds, 6),
            request_id=event.request_id and f"{session_id}-{event.request_id}",
            payload=_with_digests(event.payload, renamed),
        )
        for event in log.events
    ]


def _with_digests(payload: Payload, renamed: dict[str, str]) -> Payload:
    changed: dict[str, Any] = {
        name: renamed[value]
        for name in payload.digests
        if isinstance(value := getattr(payload, name), str) and value in renamed
    }
    return dataclasses.replace(payload, **changed) if changed else payload  # type: ignore[type-var]


def charged_twice(question: str = "Why was I charged twice last month?") -> Log:
    """Triage transfers to billing, and billing answers: 19 events."""
    log = Log().user(question)
    triage = log.root("triage")
    log.step(triage, tokens=120)
    billing = log.transfer(triage, "billing", task="Find the double charge of customer 4812")
    log.step(billing, tokens=150, says="One of the two was a proration.")
    log.close(billing, "ok", values={"text": "One of the two was a proration."}, notes="checked")
    return log.end("ok")


def failed(question: str = "Where is parcel 77?") -> Log:
    """An agent whose model fails."""
    log = Log().user(question)
    root = log.root("parcels")
    log.step(root, tokens=0, error="the model did not answer")
    return log.close(root, "error").end("error")


def at_its_limit(question: str = "List all invoices") -> Log:
    log = Log().user(question)
    root = log.root("invoices")
    log.step(root, tokens=300)
    return log.close(root, "limit_reached", reason="steps").end("limit_reached", reason="steps")


def not_found(question: str = "Is there a customer 9999?") -> Log:
    log = Log().user(question)
    root = log.root("triage")
    log.step(root, tokens=80)
    return log.close(root, "not_found").end("not_found")


def at_work(question: str = "Is the service down?") -> Log:
    """A session that is not closed."""
    log = Log().user(question)
    root = log.root("triage")
    log.step(root, tokens=90)
    log.transfer(root, "outage")
    return log


def waiting(question: str = "Change my address") -> Log:
    log = Log().user(question)
    root = log.root("accounts")
    log.step(root, tokens=50)
    return log.ask_user(root, "Which address is the new one?")
