"""The same work at another speed."""

import asyncio

import pytest

from handoff_console.runtime import EventList, Tool, TransientModelError, run
from handoff_console.runtime.clock import VirtualClock, run_virtual
from handoff_console.runtime.models import Terms
from handoff_console.sample_runs import NAMES, sample
from handoff_console.sample_runs.competitors import READ_SECONDS
from handoff_console.sample_runs.pace import LONGEST_SECONDS, SHORTEST_SECONDS, Paced, paced


def at_speed(name: str, speed: float) -> EventList:
    shown, sink = sample(name), EventList()
    flow = paced(shown.recorded_flow, speed)
    run_virtual(run(flow, shown.messages[0], sink=sink, clock=VirtualClock(), session_id="s"))
    return sink


@pytest.mark.parametrize("name", NAMES)
def test_at_any_speed_the_same_is_said_and_done(name):
    at_once, slowly = at_speed(name, 0), at_speed(name, 1)

    assert {event.kind for event in at_once.events} == {event.kind for event in slowly.events}
    assert len(at_once.events) == len(slowly.events)
    assert at_once.bodies == slowly.bodies


@pytest.mark.parametrize("name", NAMES)
def test_a_flow_takes_no_time_unless_it_is_paced(name):
    assert at_speed(name, 0).events[-1].elapsed_seconds == 0


@pytest.mark.parametrize("name", NAMES)
def test_each_answer_takes_as_long_as_a_language_model_would(name):
    replies = [event.payload for event in at_speed(name, 1).events if event.kind == "model_replied"]
    longest = max(agent.model.longest_seconds for agent in paced(sample(name).flow, 1).agents)

    assert all(SHORTEST_SECONDS <= reply.latency_seconds <= longest for reply in replies)
    assert longest == LONGEST_SECONDS or name.startswith("research")
    assert all(reply.measured for reply in replies)


def test_a_tool_that_lasts_takes_that_long_at_any_length_of_its_result():
    events = at_speed("research_alone", 1).events

    reads = [
        e.payload for e in events if e.kind == "tool_returned" and e.payload.tool == "web.read"
    ]
    assert {round(read.duration_seconds, 6) for read in reads} == {READ_SECONDS}


def test_four_times_the_speed_takes_a_quarter_of_the_time():
    once, four_times = at_speed("support", 1), at_speed("support", 4)

    assert once.events[-1].elapsed_seconds == pytest.approx(
        4 * four_times.events[-1].elapsed_seconds, abs=1e-4
    )


def test_workers_called_together_work_at_the_same_time():
    events = at_speed("support", 1).events

    opened = [event.elapsed_seconds for event in events if event.kind == "handoff_opened"][1:]
    closed = [event.elapsed_seconds for event in events if event.kind == "handoff_closed"][:2]
    assert max(opened) < min(closed)


def test_tools_take_time_too_and_stay_the_same_version():
    flow = sample("support").flow

    slowed = paced(flow, 1)

    assert [tool.spec for agent in slowed.agents for tool in agent.tools] == [
        tool.spec for agent in flow.agents for tool in agent.tools
    ]
    returned = [e.payload for e in at_speed("support", 1).events if e.kind == "tool_returned"]
    assert all(0.05 < result.duration_seconds < 10 for result in returned)


def test_a_tool_with_a_length_of_its_own_is_left_alone():
    async def slow() -> str:
        """Take its time."""
        await asyncio.sleep(0)
        return "done"

    def threaded() -> str:
        """Run in a thread of its own."""
        return "done"

    tools = [Tool(slow), Tool(threaded)]
    flow = sample("invoices").flow
    (agent,) = flow.agents
    with_tools = flow.changed(
        agents=[type(agent)("billing", tools=tools, model=agent.model)], schemas={}
    )

    assert paced(with_tools, 1).agents[0].tools == tools


class _Failing:
    name, offline, reads_prompt = "failing", False, True
    terms = Terms(max_tries=2)

    async def reply(self, call):
        raise TransientModelError("overloaded")


def test_a_model_that_fails_takes_its_time_to_fail_and_keeps_its_terms():
    async def seconds() -> float:
        with pytest.raises(TransientModelError):
            await model.reply(None)
        return asyncio.get_running_loop().time()

    model = Paced(_Failing(), speed=1)

    assert run_virtual(seconds()) == SHORTEST_SECONDS
    assert (model.name, model.offline, model.reads_prompt) == ("failing", False, True)
    assert model.terms.max_tries == 2
