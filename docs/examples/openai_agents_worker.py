"""An agent of the OpenAI Agents SDK as a worker: behind our request, gate, limits and result.

The SDK's agent keeps its instructions, tools and model. What it is asked, how long it may take,
what it used and what it came to are ours: `handoff run docs/examples/openai_agents_worker.py:flow`.
Needs `pip install openai-agents`, and a key for its model.
"""

from agents import Agent as SdkAgent
from agents import RunConfig, Runner, function_tool

from handoff_console.runtime import (
    Agent,
    CallableModel,
    Edge,
    Flow,
    Limits,
    ModelReply,
    Usage,
    delegate,
    say,
)


@function_tool
def list_invoices(customer_id: str) -> str:
    """List the invoices of a customer."""
    return f"customer {customer_id}: in_0042, 29.00 EUR, paid twice"


clerk = SdkAgent(
    name="clerk", instructions="Answer from the customer's invoices.", tools=[list_invoices]
)


async def ask_clerk(agent: str, messages: list) -> ModelReply:
    """Run the SDK's own loop on the request; its tracing stays off, ours records the handoff."""
    ran = await Runner.run(
        clerk, messages[-1]["content"], run_config=RunConfig(tracing_disabled=True)
    )
    used = ran.context_wrapper.usage
    return ModelReply(
        text=str(ran.final_output), usage=Usage(used.input_tokens, used.output_tokens)
    )


def desk(call):
    """Pass the question on, then the answer back; rules, no model."""
    if call.results:
        return say(call.results[0].value["data"]["text"])
    return delegate("billing", "Find out why the customer was charged twice", customer_id="4812")


flow = Flow(
    "sdk",
    [
        Agent(
            "desk",
            model=desk,
            edges=[Edge.call("billing", "Invoices.", limits=Limits(max_tokens=4_000))],
        ),
        Agent("billing", "See the clerk's instructions.", model=CallableModel(ask_clerk)),
    ],
)
