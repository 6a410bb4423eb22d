"""What is said to somebody who writes a flow and misspells an argument, or forgets a wrapper."""

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from handoff_console.runtime import (
    Agent,
    Edge,
    Flow,
    FlowError,
    Limits,
    Recording,
    Session,
    Tool,
    resume,
    run,
    say,
)
from handoff_console.runtime.errors import ArgumentUnknown
from handoff_console.runtime.options import RunOptions
from handoff_console.runtime.rerun import rerun


def look_up(number: int) -> int:
    """Look a number up."""
    return number


NOTHING = Recording("s", (), lambda digest: None)
DESK = Flow("desk", [Agent("desk", model=lambda _: say("Hello."))])


@pytest.mark.parametrize(
    ("make", "begins"),
    [
        (lambda: Agent("a", modle="x"), "Agent has no argument 'modle'; did you mean 'model'? It"),
        (lambda: Agent("a", instructions="x"), "Agent has no argument 'instructions'; it takes: n"),
        (lambda: Tool(look_up, efect="read"), "Tool has no argument 'efect'; did you mean 'effe"),
        (lambda: Edge.call("b", desc=""), "Edge has no argument 'desc'; did you mean 'descriptio"),
        (lambda: Edge.transfer("b", feilds=()), "Edge has no argument 'feilds'; did you mean 'fie"),
        (lambda: Flow("d", [], pool=1), "Flow has no argument 'pool'; did you mean 'pool_tokens'?"),
        (lambda: Limits(max_step=1), "Limits has no argument 'max_step'; did you mean 'max_steps'"),
        (lambda: Session(DESK, snk=1), "Session has no argument 'snk'; did you mean 'sink'? It t"),
        (lambda: RunOptions(modell=1), "RunOptions has no argument 'modell'; did you mean 'model"),
        (lambda: resume(DESK, NOTHING, decision=()), "resume has no argument 'decision'; did you"),
        (lambda: resume(DESK, NOTHING, moer=1), "resume has no argument 'moer'; did you mean 'mo"),
        (lambda: rerun(DESK, NOTHING, "h1", mdoe=1), "rerun has no argument 'mdoe'; did you mean"),
        (lambda: asyncio.run(run(DESK, "Hi", clok=1)), "run has no argument 'clok'; did you mean "),
    ],
)  # fmt: skip
def test_an_argument_that_is_spelt_wrong_is_named_with_the_right_one(
    make: Callable[[], Any], begins: str
):
    with pytest.raises(ArgumentUnknown) as raised:
        make()

    assert str(raised.value).startswith(begins)
    assert isinstance(raised.value, TypeError)


def test_the_sentence_ends_with_what_there_is():
    with pytest.raises(ArgumentUnknown) as raised:
        Limits(seconds=1)

    assert str(raised.value) == (
        "Limits has no argument 'seconds'; did you mean 'deadline_seconds'? It takes: max_steps, "
        "max_tokens, deadline_seconds."
    )


@pytest.mark.parametrize(
    ("make", "said"),
    [(Agent, "missing 1 required"), (lambda: Limits(max_steps=0), "greater than 0")],
)
def test_other_mistakes_are_said_as_python_and_pydantic_say_them(make, said):
    with pytest.raises((TypeError, ValueError), match=said) as raised:
        make()

    assert not isinstance(raised.value, ArgumentUnknown)


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (
            lambda: Flow("d", [Agent("a", tools=[look_up])]),
            "the tools of 'a' hold look_up, no Tool; say Tool(look_up).",
        ),
        (
            lambda: Flow("d", [Agent("a", edges=["b"])]),
            "the edges of 'a' hold 'b', no Edge; say Edge.call(NAME) or Edge.transfer(NAME) with "
            "the name of an agent.",
        ),
        (lambda: Flow("d", Agent("a")), "its agents are no list; say [a]."),
        (lambda: Flow("d", ["a"]), "its agents hold 'a', no Agent; say Agent(NAME)."),
        (
            lambda: Flow("d", [Agent("a", tools=Tool(look_up))]),
            "the tools of 'a' are no list; say [Tool(look_up)].",
        ),
        (
            lambda: Flow("d", [Agent("a", edges=Edge.call("b")), Agent("b")]),
            "the edges of 'a' are no list; put [ ] around the one to 'b'.",
        ),
    ],
)
def test_what_is_no_tool_no_edge_or_no_list_is_named_with_what_to_say(make, said):
    with pytest.raises(FlowError) as raised:
        make()

    assert str(raised.value) == f"Flow 'd' cannot run: {said}"
