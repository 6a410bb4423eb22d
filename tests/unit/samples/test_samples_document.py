"""docs/samples.md says what the flows and the recorded sessions say."""

import re
from pathlib import Path

from support.samples import shipped

from handoff_console import sample_runs
from handoff_console.sample_runs import NAMES
from handoff_console.sample_runs.competitors import COMPETITORS
from handoff_console.store.analysis.economics import (
    pays_off_at,
    ratios,
    tokens_by_step,
    totals,
    transfer_costs,
)

DOCUMENT = (Path(sample_runs.__file__).parents[1] / "docs" / "samples.md").read_text("utf-8")


def row(name: str) -> list[str]:
    line = next(line for line in DOCUMENT.splitlines() if line.startswith(f"| {name} |"))
    return [cell.strip() for cell in line.strip("|").split("|")][1:]


def test_every_flow_stands_in_the_document_and_nothing_else():
    table = DOCUMENT.partition("## Flows")[2].partition("## Figures")[0]
    first_cells = [line.split("|")[1] for line in table.splitlines() if line.startswith("| `")]

    assert sorted(re.findall(r"`(\w+)`", " ".join(first_cells))) == sorted(NAMES)


def test_the_figures_of_many_agents_beside_one_are_those_of_the_sessions():  # R83 R96
    together, alone = shipped("research-a-worker-each"), shipped("research-one-agent")
    many, one = totals(together.events), totals(alone.events)
    more = ratios(many, one)
    right = [
        sum(
            sink.body(sink.events[-1].payload.answer)["data"]["prices"][name] == facts.price_eur
            for name, facts in COMPETITORS.items()
        )
        for sink in (together, alone)
    ]

    assert row("minutes") == [
        f"{many.seconds / 60:.1f}",
        f"{one.seconds / 60:.1f}",
        f"{ratios(one, many).seconds:.1f} × as fast",
    ]
    assert row("tokens") == [f"{many.tokens:,}", f"{one.tokens:,}", f"{more.tokens:.1f} ×"]
    assert row("cost, USD") == [f"{many.cost:.3f}", f"{one.cost:.3f}", f"{more.cost:.1f} ×"]
    assert row("handoffs")[:2] == [str(many.handoffs), str(one.handoffs)]
    assert row("prices that are right, of 15")[:2] == list(map(str, right))


def test_the_figures_of_a_hand_over_are_those_of_the_sessions():  # R82
    (sliced,) = transfer_costs(shipped("diagnosis-sliced").events)
    (full,) = transfer_costs(shipped("diagnosis-full-history").events)
    alone = shipped("diagnosis-one-agent").events
    last = [e.handoff_id for e in alone if e.kind == "handoff_opened"][-1]
    one_agent = tokens_by_step(alone, last)

    asking, prompts = row("asking for the transfer"), row("the receiver's first prompt")
    assert asking[:2] == [str(sliced.asking_tokens), str(full.asking_tokens)]
    assert prompts[:2] == [str(sliced.first_prompt_tokens), str(full.first_prompt_tokens)]
    for step in (1, 4, 5, 8):
        ways = (sliced.tokens_by_step, full.tokens_by_step, one_agent)
        assert row(f"after step {step}") == [f"{way[step - 1]:,}" for way in ways]
    assert pays_off_at(sliced.tokens_by_step, one_agent) == 5
    assert pays_off_at(full.tokens_by_step, one_agent) is None
