"""A flow of a user's own that charges the card which a message names, in a file that it keeps."""

from pathlib import Path

CARD = "4111 1111 1111 1111"
MESSAGE = f"Charge order A-1 to {CARD}, please."

TILL = '''\
"""Charges the card that a message names, once the order was looked up."""

import os
import re
import signal
from pathlib import Path

from handoff_console.runtime import Agent, Effect, Flow, Tool, say, use

HERE = Path(__file__).parent
CARD = re.compile(r"\\\\d{4} \\\\d{4} \\\\d{4} \\\\d{4}|\\\\[redacted: card number\\\\]")


def die(when: str) -> None:
    """End this process at once, where it is to die at this moment."""
    if os.environ.get("DIES") == when:
        os.kill(os.getpid(), signal.SIGKILL)


def look_up(order: str) -> dict:
    """Look an order up."""
    die("looking")
    return {"order": order, "total": 30}


def charge(card: str, total: int) -> str:
    """Charge a card."""
    with (HERE / "charged.txt").open("a") as out:
        out.write(f"{card} {total}\\\\n")
    die("charging")
    return "charged"


def mail(to: str) -> str:
    """Send a letter."""
    return "sent"


def clerk(call):
    text = call.messages[1]["content"]
    with (HERE / "read.txt").open("a") as out:
        out.write(f"{text}\\\\n")
    steps = [use("look_up", order="A-1"), use("charge", card=CARD.search(text)[0], total=30)]
    if "letter" in text:
        steps.insert("later" in text, use("mail", to="bob"))
    done = len(call.results)
    die(f"after {done}")
    return steps[done] if done < len(steps) else say(f"Done: {call.results[-1].content}")


flow = Flow("till", [
    Agent(
        "clerk", model=clerk, may_write=True,
        tools=[
            Tool(look_up, inline=True),
            Tool(charge, effect=Effect.WRITE, inline=True),
            Tool(mail, effect=Effect.EXTERNAL, inline=True),
        ],
    ),
])
'''.replace("\\\\", "\\")


def with_till(folder: Path) -> Path:
    """Write the flow into a folder, as `till.py`."""
    path = folder / "till.py"
    path.write_text(TILL)
    return path


def lines(path: Path) -> list[str]:
    """Return the lines of a file that the flow wrote; none where it wrote none."""
    return path.read_text().splitlines() if path.exists() else []
