"""Sessions in a store, for screens: failed, healthy, hostile, running, and very large ones."""

import dataclasses
from collections.abc import Iterable
from contextlib import closing
from pathlib import Path

from support.logs import Log

from handoff_console.runtime.process import this_process
from handoff_console.store.db import open_store
from handoff_console.store.writer import StoreSink

FAILED = "s-failed"
HEALTHY = "s-healthy"
HOSTILE = "s-hostile"

HOSTILE_TEXT = (
    "<script>window.hacked = true</script><img src=x onerror='window.hacked = true'>"
    "![a](http://192.0.2.1/pixel.png) [link](javascript:alert(1)) **bold** :red[colour] $x^2$ "
    "\x1b[31mred\x1b[0m \u202egnp.exe\u202c nul:\x00 bell:\x07 %{y} &lt;b&gt; `code` </style></div>"
)

FLOW = {
    "name": "support",
    "agents": [
        {"name": "triage", "handoffs": [{"target": "supervisor", "via": "transfer"}]},
        {"name": "supervisor", "handoffs": [{"target": "billing"}, {"target": "refunds"}]},
        {"name": "billing", "handoffs": [{"target": "ledger"}]},
        {"name": "refunds", "handoffs": []},
        {"name": "ledger", "handoffs": []},
    ],
}


def double_charge() -> Log:
    """Billing hits its step limit, and the answer does not say that it is incomplete."""
    log = Log(flow=FLOW).user("Why was I charged twice last month?")
    triage = log.root("triage")
    log.step(triage, tokens=220)
    supervisor = log.transfer(
        triage, "supervisor", grant=14_000, reason="a charge has to be explained"
    )
    log.step(supervisor, tokens=410)
    task = "Find the payments of customer 4812 in September"
    billing = log.call(
        supervisor, "billing", grant=3_000, task=task, inputs={"customer_id": "4812"}
    )
    log.step(billing, tokens=520).tool(billing, "list_payments", "PAY-117, PAY-118")
    ledger = log.call(
        billing, "ledger", grant=900, task="Look up PAY-118", inputs={"payment": "PAY-118"}
    )
    log.step(ledger, tokens=310).close(ledger, "not_found", notes="no entry PAY-118")
    log.call(billing, "ledger", refused="pool")
    for _ in range(5):
        log.step(billing, tokens=260).tool(billing, "list_payments", "the same page again")
    log.close(billing, "limit_reached", reason="steps", notes="two pages of five were read")
    log.step(supervisor, tokens=380, says="You were charged once.")
    log.close(supervisor, "ok", values={"text": "You were charged once."})
    return log.end("ok")


def refund_policy() -> Log:
    """A question that is answered by the second agent."""
    log = Log(flow=FLOW).user("How long does a refund take?")
    triage = log.root("triage")
    log.step(triage, tokens=140)
    supervisor = log.transfer(triage, "supervisor", reason="a policy question")
    log.step(supervisor, tokens=260, says="Five working days.")
    log.close(supervisor, "ok", values={"text": "Five working days."})
    return log.end("ok")


def hostile(text: str = HOSTILE_TEXT) -> Log:
    """Every free text of the session tries to be more than text."""
    log = Log(flow={"name": text, "agents": [{"name": text}]}).user(text)
    root = log.root(text)
    log.step(root, tokens=100, says=text).tool(root, text, text, error=text)
    child = log.call(root, text, grant=2_000, task=text, inputs={text: text}, reason=text)
    log.step(child, tokens=100, says=text).deny(child, text)
    log.reject_output(child, text).close(child, "error", notes=text, values={text: text})
    log.call(root, text, refused="target", choices=(text,), reason=text)
    log.step(root, tokens=100, says="x" * 1_000_000)
    return log.close(root, "error", notes=text).end("error")


def running(pid: int = 0) -> Log:
    """A session in the middle of its work, in the process of this id; 0 was not recorded."""
    log = Log(flow=FLOW)
    if pid:
        started = dataclasses.replace(
            log.events[0].payload,
            host=this_process().host,
            boot=this_process().boot,
            pid=pid,
            process_started=1.0,
        )
        log.events[0] = log.events[0]._replace(payload=started)
    log.user("Is the service down?")
    triage = log.root("triage")
    log.step(triage, tokens=90)
    log.transfer(triage, "supervisor")
    return log


def wide(handoffs: int, steps: int = 0) -> Log:
    """A root that calls so many workers, one after the other, each with so many steps."""
    log = Log(flow=FLOW, pool_tokens=100_000_000).user(f"Look into {handoffs} payments")
    root = log.root("supervisor")
    names = ("billing", "ledger", "refunds", "search", "account", "writer", "audit", "mail", "tax")
    for number in range(handoffs):
        log.step(root, tokens=40)
        child = log.call(
            root, names[number % 9], grant=2_000, task=f"Look into payment {number}", inputs={}
        )
        for _ in range(steps):
            log.step(child, tokens=37)
            log.tool(child, "list_payments", f"page of {number}")
        status = "error" if number % 97 == 96 else "ok"
        log.close(child, status, notes=f"payment {number}")
    return log.close(root, "ok").end("ok")


def record(path: Path, sessions: Iterable[tuple[str, Log]], *, age_seconds: float = 0.0) -> Path:
    """Write logs into a store, each under its id, the first one the newest."""
    with closing(open_store(path, create=True)) as db, StoreSink(db) as sink:
        for number, (session_id, log) in enumerate(sessions):
            later = -60.0 * number - age_seconds
            for digest, body in log.sink.bodies.items():
                sink.keep(digest, body, session_id)
            for event in log.events:
                sink.append(event._replace(session_id=session_id, at=event.at + later))
            sink.commit()
    return path
