"""Routing by word vectors, loaded from the installed package and from nowhere else."""

import builtins
import socket

import pytest

from handoff_console.runtime import Agent, Edge, EventList, Flow, FlowError
from handoff_console.runtime.models import as_model
from handoff_console.runtime.models import wordllama as module
from handoff_console.runtime.models.wordllama import WordLlama


@pytest.fixture
def model(monkeypatch):
    pytest.importorskip("wordllama", reason="the extra `embed` is not installed")

    def nowhere(*_):
        raise AssertionError("a network was looked for")

    monkeypatch.setattr(socket.socket, "connect", nowhere)
    module._loaded.cache_clear()
    return WordLlama()


def flow(threshold: float = 0.0) -> Flow:
    return Flow(
        "desk",
        [
            Agent(
                "triage",
                edges=[
                    Edge.transfer("orders", "Parcels and deliveries that are on their way."),
                    Edge.transfer("billing", "Invoices, payments and charges."),
                ],
                threshold=threshold,
                model="offline:wordllama",
            ),
            Agent("orders", model=lambda call: "on its way"),
            Agent("billing", model=lambda call: "paid"),
        ],
    )


async def routed(message: str, **options) -> list[str]:
    from handoff_console.runtime import run

    sink = EventList()
    await run(flow(**options), message, sink=sink)
    return [e.payload.target for e in sink.events if e.kind == "handoff_opened"][1:]


def test_its_name_has_the_digest_of_its_weights(model):
    assert model.name == "offline:wordllama-256@64b47a2d"
    assert (model.offline, model.reads_prompt) == (True, False)


def test_what_means_the_same_is_found_without_a_word_in_common(model):
    import asyncio

    assert asyncio.run(routed("When does the courier bring my box?")) == ["orders"]
    assert asyncio.run(routed("How much money do I owe you?")) == ["billing"]


def test_what_is_like_nothing_is_held_back(model):
    import asyncio

    assert asyncio.run(routed("Who painted the Mona Lisa?")) == []
    assert asyncio.run(routed("How much money do I owe you?", threshold=0.9)) == []


def test_without_its_library_it_says_what_to_install(monkeypatch):
    real = builtins.__import__

    def missing(name, *rest):
        if name == "wordllama":
            raise ModuleNotFoundError("No module named 'wordllama'", name="wordllama")
        return real(name, *rest)

    module._loaded.cache_clear()
    monkeypatch.setattr(builtins, "__import__", missing)

    with pytest.raises(FlowError, match=r"pip install 'handoff-console\[embed\]'"):
        as_model("offline:wordllama", "desk", "triage")
