"""A flow of a user's own that acts on the world outside, in a file that it keeps."""

from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

from handoff_console.console.commands.flows import load_flow
from handoff_console.runtime import Origin, run
from handoff_console.runtime.clock import VirtualClock, run_virtual
from handoff_console.store.writer import open_sink

MAIL = '''\
"""Writes letters, after a yes; and asks when it does not know to whom."""

import os
import signal
from pathlib import Path

from handoff_console.runtime import Agent, Edge, Effect, Flow, Status, Tool
from handoff_console.runtime import answer, hand_over, say, use

OUT = Path(__file__).with_name("sent.txt")


def mail(to: str, text: str = "Hello") -> dict[str, str]:
    """Send a letter."""
    with OUT.open("a") as out:
        out.write(f"{to}: {text}\\n")
    if os.environ.get("DIES") == "after":
        os.kill(os.getpid(), signal.SIGKILL)
    return {"sent_to": to}


def note(text: str) -> str:
    """Note something."""
    if os.environ.get("DIES") == "before":
        os.kill(os.getpid(), signal.SIGKILL)
    with OUT.open("a") as out:
        out.write(f"noted {text}\\n")
    if os.environ.get("DIES") == "after":
        os.kill(os.getpid(), signal.SIGKILL)
    return f"noted {text}"


def clerk(call):
    if "boss" in call.text:
        return hand_over("human", "somebody else has to decide")
    if "card" in call.text and not call.results:
        return use("mail", to="bob", text="card 4111 1111 1111 1111")
    if "note" in call.text and not call.results:
        return use("note", text="this")
    said = [m["content"] for m in call.messages if m["role"] == "user"]
    if "whom" in call.text and len(said) == 1:
        return answer(Status.NEEDS_INPUT, "To whom?")
    if not call.results:
        return use("mail", to=said[-1].rpartition(" ")[2].strip("."))
    return say(f"Done: {call.results[-1].content}")


flow = Flow("mail", [
    Agent(
        "clerk", model=clerk, may_write=True, prompt="Write letters.",
        tools=[
            Tool(mail, effect=Effect.EXTERNAL, inline=True),
            Tool(note, effect=Effect.WRITE, inline=True),
        ],
        edges=[Edge.transfer("human", "For decisions.")],
    ),
])
'''


def mailbox(folder: Path, text: str = MAIL) -> Path:
    """Write the flow into a folder, as `mail.py`."""
    path = folder / "mail.py"
    path.write_text(text)
    return path


def sent(folder: Path) -> list[str]:
    """Return what really went out, a line each."""
    out = folder / "sent.txt"
    return out.read_text().splitlines() if out.exists() else []


def asked_long_ago(store: Path, message: str = "Write to bob.") -> str:
    """Let the flow of the current folder have asked for a yes in 2020; return the session."""
    flow = load_flow("mail.py:flow").flow
    clock = VirtualClock(datetime(2020, 1, 1, 9, 0, tzinfo=UTC))
    with closing(open_sink(store, create=True)) as sink:
        origin = Origin(flow_source="mail.py:flow")
        result = run_virtual(run(flow, message, sink=sink, clock=clock, origin=origin))
    return result.session_id
