"""What a worker that follows rules reads, told from its code; nothing is run for it."""

import functools
from dataclasses import dataclass

import pytest

from handoff_console import sample_runs
from handoff_console.console.commands.model_reading import may_read_prompt, reads_of
from handoff_console.runtime import ModelCall, say
from handoff_console.runtime.models import Bm25, CallableModel, Rules, Scripted, as_model
from handoff_console.sample_runs.pace import by_rule


def results(call: ModelCall) -> list[object]:
    return [one.value for one in call.results]


def helped(call):
    return say(str(results(call))) if call.inputs else None


def by_name(call):
    return say(str(_of(said=call)))


def _of(*, said):
    return said.request.task, said.packet


def again(call):
    return again(call) if call.step else say(call.text)


def kept(call):
    other = call
    return say(other.text)


def passed_to_a_stranger(call):
    return say(repr(call))


def spread(*call):
    return say(str(call))


@functools.wraps(helped)
def wrapped(call):
    return helped(call)


def inside(call):
    def given():
        return call.inputs

    return say(", ".join(word for word in call.text.split() if word in given()))


def own_name(call):
    def helped(asked):
        return say(asked.request.task)

    return helped(call)


@dataclass
class Asks:
    """A rule that is an object; one that is no key of a dictionary, as data classes are."""

    word: str = "Yes"

    def __call__(self, call):
        return say(self.word + call.text)


class Careful(Rules):
    """A user's own kind of model, which reads more than its rule."""

    async def reply(self, call, /):
        return say(call.request.task)


class Wrapped:
    """A user's own model around another one."""

    name, offline, reads_prompt = "wrapped", True, True

    def __init__(self, model):
        self.model = model

    async def reply(self, call, /):
        return say(call.request.task)


def without_a_value():
    def rule(call):
        return say(str(later(call)))

    return rule
    later = repr


@pytest.mark.parametrize(
    ("rule", "reads"),
    [
        (helped, {"results", "inputs"}),
        (by_name, {"request.task", "packet"}),
        (again, {"step", "text"}),
        (inside, {"text", "inputs"}),
        (kept, None),
        (passed_to_a_stranger, None),
        (spread, None),
        (wrapped, None),
        (lambda call: say(call.text), None),
        (functools.partial(helped), None),
        (own_name, None),
        (without_a_value(), None),
        (Asks(), None),
    ],
)
def test_what_a_rule_reads_is_followed_and_otherwise_nothing_is_said(rule, reads):
    assert reads_of(Rules(rule)) == reads
    assert reads_of(by_rule(rule)) == reads


def test_a_script_reads_nothing_a_router_the_text_and_of_others_nobody_knows():
    assert reads_of(Scripted({})) == set()
    assert reads_of(Bm25()) == {"text", "tools", "results", "agent"}
    assert reads_of(CallableModel(lambda agent, messages: "")) is None


@pytest.mark.parametrize("kind", [Careful, lambda rule: Wrapped(Rules(rule))])
def test_of_a_users_own_model_nobody_knows_whatever_it_is_made_from(kind):
    assert reads_of(kind(helped)) is None


def test_it_is_known_of_every_worker_of_the_samples():
    for name in sample_runs.NAMES:
        flow = sample_runs.sample(name).flow
        for agent in flow.agents:
            model = as_model(agent.model or flow.model, name, agent.name)
            assert reads_of(model) is not None, (name, agent.name)


def of_prompt(call):
    return say(call.messages[0]["content"])


@pytest.mark.parametrize(
    ("model", "may"),
    [
        (Rules(helped), False),
        (by_rule(helped), False),
        (Rules(of_prompt), True),
        (Rules(kept), True),  # what it does with the call cannot be followed
        (Scripted({}), False),
        (Bm25(), False),
        (CallableModel(lambda call: say("yes")), True),
    ],
)
def test_a_rule_that_looks_at_its_messages_may_read_its_prompt(model, may):
    assert may_read_prompt(model) is may
