"""A long talk, then a hand-over to an engineer with much to do: sliced, with everything, or not.

The sliced receiver gets the payload and the last turns; the other one gets the whole talk and reads
it again in every step. One agent that does it all saves the hand-over and reads the talk as often.
Source: S2, "Context and State Management During the Handoff" and "Token Economics and Latency".
"""

import re
from dataclasses import replace
from typing import Any

from pydantic import BaseModel

from handoff_console.runtime import (
    Agent,
    Edge,
    Flow,
    Limits,
    ModelCall,
    ModelReply,
    Tool,
    answer,
    hand_over,
    say,
    use,
)
from handoff_console.runtime.contract import ContextPolicy
from handoff_console.sample_runs.pace import by_rule
from handoff_console.sample_runs.rules import first_error, has_any, values_of
from handoff_console.sample_runs.sample_flow import SampleFlow

REPORT = "shop-monthly"
TALK = (
    "Our reports have been slow since the weekend.",
    "It is the monthly report of the shop, version 7.2, and it used to take two minutes. Now it is "
    "nearly forty. My colleague thinks that it is the new server, but I am not sure; the other "
    "reports are as they were, and the people in the branch in Aalby say that theirs are fast.",
    "We have restarted everything twice. I also emptied the cache, logged out and in again, and "
    "tried it from home in the evening. It makes no difference, and on Monday the board wants it.",
    "The name of the report is shop-monthly. Please have somebody look into it.",
)
"""What the user says, a turn each; the last turn is handed over."""
_PAGES = (
    "02:00 start, 14 queries",
    "02:01 query 1 to 5 done",
    "02:02 query 6 scans the table orders, no index used",
    "02:19 query 6 done, 1017 s",
    "02:20 query 7 scans the table orders, no index used",
    "02:36 query 7 done, 955 s; query 8 to 14 done",
    "02:38 report written",
)
_ASKS = (
    "I am sorry to hear that. Which report is it, which version do you use, and how long does it "
    "take now? Do others see the same, and has anything changed on your side since Friday?",
    "Thank you, that helps. What have you tried so far, and did anything make a difference, even "
    "for a moment? Please also tell me by when you need it, so that I can say so to the engineer.",
    "I see. I will pass this on. What is the name of the report, exactly as it stands in the list?",
)


class SlowReport(BaseModel):
    """What the engineer has to know."""

    report: str
    version: str | None = None
    """As it was said."""


def log_page(report: str, page: int) -> dict[str, Any]:
    """Read a page of the log of a report's last run."""
    more = page < len(_PAGES)
    return {"line": _PAGES[page - 1], "next_page": page + 1 if more else None, "report": report}


def triage(call: ModelCall) -> ModelReply | None:
    """Ask until it is known what is slow, then hand over."""
    turns = [m["content"] for m in call.messages if m["role"] == "user"]
    if not has_any(turns[0], ("slow", "takes long")):
        return None
    if REPORT not in call.text:
        return say(_ASKS[min(len(turns), len(_ASKS)) - 1])
    version = re.search(r"version (\d[\d.]*\d)", " ".join(turns))
    return hand_over(
        "engineer",
        "it is known which report is slow",
        task="Find out why the report is slow",
        summary="The monthly report of the shop has been slow since the weekend.",
        report=REPORT,
        version=version[1] if version else None,
    )


def engineer(call: ModelCall) -> ModelReply:
    """Read the log page by page and name what takes long."""
    return _read_on(call, call.inputs["report"])


def triage_alone(call: ModelCall) -> ModelReply | None:
    """Ask until it is known what is slow, then read the log as well."""
    return _read_on(call, REPORT) if REPORT in call.text else triage(call)


def _read_on(call: ModelCall, report: str) -> ModelReply:
    if error := first_error(call):
        return answer("error", f"I could not read the log: {error}")
    pages = values_of(call, "logs.page")
    if not pages or pages[-1]["next_page"]:
        number = pages[-1]["next_page"] if pages else 1
        return use("logs.page", report=report, page=number)
    scans = [page["line"] for page in pages if "no index" in page["line"]]
    return say(
        f"{len(scans)} of 14 queries read the whole table orders because no index is used: "
        f"{'; '.join(scans)}. I propose to rebuild its index; nothing has been changed."
    )


def with_context(policy: ContextPolicy) -> Flow:
    """Return the flow in which the engineer gets to read what this policy lets through."""
    return flow.changed(
        agents=[
            replace(agent, edges=[replace(edge, context=policy) for edge in agent.edges])
            for agent in flow.agents
        ]
    )


def one_agent() -> Flow:
    """Return the flow in which triage does everything itself, in one context."""
    first, second = flow.agents
    alone = replace(
        first,
        prompt=f"{first.prompt} {second.prompt}",
        tools=second.tools,
        edges=(),
        model=by_rule(triage_alone),
    )
    return flow.changed(agents=[alone])


flow = Flow(
    "diagnosis",
    description=(
        "Triage talks for several turns, then hands over to an engineer who works in eight steps, "
        "on a payload and the last turns instead of the whole talk."
    ),
    examples=("Our report shop-monthly is slow.", TALK[0]),
    agents=[
        Agent(
            "triage",
            "You find out what is slow: which report, since when, what was tried. Then pass the "
            "values on that are needed.",
            edges=[
                Edge.transfer(
                    "engineer",
                    "Reports that are slow, once it is known which one.",
                    payload=SlowReport,
                    context=ContextPolicy.SLICE,
                    limits=Limits(max_steps=12, max_tokens=20_000, deadline_seconds=60),
                )
            ],
            model=by_rule(triage),
        ),
        Agent(
            "engineer",
            "You find out why a report is slow by reading its log to the end.",
            tools=[Tool(log_page, name="logs.page", inline=True)],
            model=by_rule(engineer),
        ),
    ],
)

sample = SampleFlow(flow, title="A slice of a long talk, or all of it")
