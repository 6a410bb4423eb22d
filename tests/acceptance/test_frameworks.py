"""Agents of other frameworks behind our request, gate and result, as docs/examples shows them.

Skipped where the framework is not installed: neither is needed for anything else.
"""

import runpy
from pathlib import Path
from typing import Any

import pytest
from support.sessions import Played

from handoff_console.runtime import EventList, Flow, run

pytestmark = pytest.mark.acceptance

EXAMPLES = Path(__file__).parents[2] / "docs" / "examples"


def example(name: str) -> dict[str, Any]:
    return runpy.run_path(str(EXAMPLES / name))


def ran(flow: Flow) -> Played:
    import asyncio

    played = Played(EventList(b"key"))
    played.outcome = asyncio.run(run(flow, "Why was I charged twice?", sink=played.sink))
    return played


def is_an_ordinary_worker(played: Played, answer: str) -> None:
    assert played.result.answer == answer
    assert played.routes() == ["user → desk", "desk → billing"]
    opened = played.one("handoff_opened", "h2")
    assert (opened.grant_tokens, opened.max_tokens) == (4_000, 4_000)
    closed = played.one("handoff_closed", "h2")
    assert (closed.status, closed.target) == ("ok", "billing")
    request = played.sink.body(played.one("handoff_requested", "h2").request)
    assert request["inputs"] == {"customer_id": "4812"}
    assert played.count("budget_charged") == 3


def test_a_langgraph_graph_works_behind_our_request_gate_and_result():
    pytest.importorskip("langgraph", reason="langgraph is not installed")

    played = ran(example("langgraph_worker.py")["flow"])

    is_an_ordinary_worker(played, "in_0042 was charged twice")
    replied = played.one("model_replied", "h2")
    assert replied.measured is False  # a graph does not say what it took


def test_an_agent_of_the_openai_sdk_works_behind_our_request_gate_and_result():
    agents = pytest.importorskip("agents", reason="openai-agents is not installed")
    from openai.types.responses import (
        ResponseFunctionToolCall,
        ResponseOutputMessage,
        ResponseOutputText,
    )

    calls: list[Any] = []

    class Scripted(agents.Model):
        """Asks for the invoices, then says what it read; what a server of the provider would."""

        async def get_response(self, system_instructions, input, *rest, **options):
            calls.append((system_instructions, input))
            usage = agents.Usage(requests=1, input_tokens=100, output_tokens=20, total_tokens=120)
            if len(calls) == 1:
                asked = ResponseFunctionToolCall(
                    type="function_call",
                    call_id="c1",
                    name="list_invoices",
                    arguments='{"customer_id": "4812"}',
                )
                return agents.ModelResponse(output=[asked], usage=usage, response_id=None)
            text = ResponseOutputText(
                type="output_text", text=f"I read: {input[-1]['output']}", annotations=[]
            )
            said = ResponseOutputMessage(
                id="m1", type="message", role="assistant", status="completed", content=[text]
            )
            return agents.ModelResponse(output=[said], usage=usage, response_id=None)

        # The SDK asks for it; the example never streams.
        def stream_response(self, *args, **options):
            raise NotImplementedError

    there = example("openai_agents_worker.py")
    there["clerk"].model = Scripted()

    played = ran(there["flow"])

    is_an_ordinary_worker(played, "I read: customer 4812: in_0042, 29.00 EUR, paid twice")
    assert calls[0][0] == "Answer from the customer's invoices."
    replied = played.one("model_replied", "h2")
    assert (replied.input_tokens, replied.output_tokens, replied.measured) == (200, 40, True)
