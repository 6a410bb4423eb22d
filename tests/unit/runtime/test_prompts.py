"""Prompt versions from files."""

from pathlib import Path

import pytest
from support.sessions import play

from handoff_console.runtime import Agent, Edge, Flow, FlowError, say
from handoff_console.runtime.prompts import AgentPrompt, PromptVersion, load_prompts

WHOLE = """---
handoff_description: "Invoices and charges."
examples:
  - Why was I charged twice?
  - 'Where is my invoice?'
targets: support, sales
model: offline:bm25
threshold: 1.5
---
# Billing
Answer about invoices.
---
Nothing else.
"""

FLOW = Flow(
    "support",
    agents=[
        Agent(
            "triage",
            "Route.",
            edges=[Edge.transfer("billing"), Edge.transfer("sales")],
            model=lambda call: say(call.messages[0]["content"]),
        ),
        Agent("billing", "Bill."),
        Agent("sales", "Sell."),
    ],
    model=lambda call: say("hi"),
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "prompts" / "v2"
    made.mkdir(parents=True)
    return made


def loaded(folder: Path, text: str, agent: str = "triage") -> AgentPrompt:
    (folder / f"{agent}.md").write_bytes(text.encode())
    return load_prompts(folder).agents[agent]


def problem(folder: Path, text: str | bytes) -> str:
    (folder / "triage.md").write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(FlowError) as refused:
        load_prompts(folder)
    return str(refused.value).removeprefix("Flow 'v2' cannot run: ")


def test_a_file_has_front_matter_and_instructions(folder):
    assert loaded(folder, WHOLE) == AgentPrompt(
        instructions="# Billing\nAnswer about invoices.\n---\nNothing else.",
        handoff_description="Invoices and charges.",
        examples=("Why was I charged twice?", "Where is my invoice?"),
        targets=("support", "sales"),
        model="offline:bm25",
        threshold=1.5,
    )


def test_a_file_without_front_matter_is_all_instructions(folder):
    assert loaded(folder, "Route the user.\n") == AgentPrompt("Route the user.")


def test_targets_may_be_a_list_and_may_be_none(folder):
    assert loaded(folder, "---\ntargets:\n- billing\n- sales\n---\n").targets == (
        "billing",
        "sales",
    )
    assert loaded(folder, "---\ntargets:\n---\n").targets == ()
    assert loaded(folder, "---\nmodel: x\n---\n").targets is None


def test_one_example_needs_no_list(folder):
    assert loaded(folder, "---\nexamples: My bill\n---\n").examples == ("My bill",)


@pytest.mark.parametrize("text", ["\ufeff---\nmodel: m\n---\nHi", "---\r\nmodel: m\r\n---\r\nHi"])
def test_files_of_other_editors_are_read_alike(folder, text):
    assert loaded(folder, text) == AgentPrompt("Hi", model="m")


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("---\nmodel: m\nHi", "the front matter has no closing line of ---."),
        (
            "---\ncolour: red\n---\n",
            "'colour: red' is none of: handoff_description, examples, targets, model, threshold, "
            "instructions.",
        ),
        (
            "---\nred\n---\n",
            "'red' is none of: handoff_description, examples, targets, model, threshold, "
            "instructions.",
        ),
        (
            "---\ninstructions: Be kind.\n---\n",
            "instructions stand below the front matter; `instructions:` is for a file without any, "
            "and takes the flow's own away.",
        ),
        (
            "---\ninstructions:\n---\nBe kind.\n",
            "instructions stand below the front matter; `instructions:` is for a file without any, "
            "and takes the flow's own away.",
        ),
        ("---\nthreshold: high\n---\n", "threshold 'high' is no number."),
        ("---\nmodel:\n- a\n- b\n---\n", "model is no list."),
        ("---\nexamples: one\n- two\n---\n", "examples is no list."),
        (b"\xff\xfe", "it is not UTF-8."),
    ],
)
def test_a_file_that_cannot_be_read_is_named_with_what_is_wrong(folder, text, sentence):
    assert problem(folder, text) == f"triage.md cannot be read: {sentence}"


def test_a_version_that_is_not_there_lists_those_that_are(folder):
    loaded(folder, "Hi")

    with pytest.raises(FlowError) as refused:
        load_prompts(folder.parent / "v3")

    assert str(refused.value) == (
        "Flow 'v3' cannot run: there is no prompt version 'v3'; there are: v2."
    )


def test_a_folder_without_prompts_is_no_version(tmp_path):
    with pytest.raises(FlowError, match=r"there is no prompt version 'none'; there are: none\.$"):
        load_prompts(tmp_path / "none")


def test_a_version_replaces_what_it_says_and_leaves_the_rest():
    version = PromptVersion("v2", {"triage": AgentPrompt("Route well.", targets=("billing",))})

    flow = version.applied_to(FLOW)

    assert [edge.target for edge in flow.agents[0].edges] == ["billing"]
    assert flow.agents[1] is FLOW.agents[1]
    played = play(flow)
    assert played.result.answer.startswith("Route well.")
    assert played.one("session_started").prompt_version == "v2"
    assert played.one("agent_activated").prompt_version == "v2"


def test_a_version_without_examples_keeps_the_flows_and_an_empty_list_takes_them_away(folder):
    flow = Flow(
        "desk", [Agent("billing", "Bill.", examples=("My bill",), model=lambda _: say("hi"))]
    )
    silent = PromptVersion("v1", {"billing": loaded(folder, "---\nmodel: own\n---\n")})
    none = PromptVersion("v2", {"billing": loaded(folder, "---\nexamples:\nmodel: own\n---\n")})

    assert silent.applied_to(flow).agent("billing").examples == ("My bill",)
    assert none.applied_to(flow).agent("billing").examples == ()
    assert silent.digest != none.digest


def test_a_version_without_instructions_keeps_the_flows():
    version = PromptVersion("v2", {"triage": AgentPrompt(threshold=0.0, examples=("Hi",))})

    agent = version.applied_to(FLOW).agents[0]

    assert (agent.prompt, agent.threshold, agent.examples) == ("Route.", 0.0, ("Hi",))


def test_a_key_with_nothing_after_it_takes_away_what_the_flow_says(folder):
    flow = Flow("desk", [Agent("billing", "Bill.", description="Charges", model=lambda _: say(""))])
    version = PromptVersion(
        "v2", {"billing": loaded(folder, "---\nhandoff_description:\ninstructions:\n---\n")}
    )

    agent = version.applied_to(flow).agent("billing")

    assert (agent.description, agent.prompt) == ("", "")


def test_what_a_version_says_of_an_agent_counts_for_edges_with_words_of_their_own():
    flow = Flow(
        "desk",
        [
            Agent(
                "triage",
                edges=[Edge.transfer("billing", "Money."), Edge.transfer("orders", "Parcels.")],
            ),
            Agent("billing"),
            Agent("orders"),
        ],
        model=lambda _: say("hi"),
    )
    said = PromptVersion("v2", {"billing": AgentPrompt(handoff_description="Charges and refunds")})
    silent = PromptVersion("v3", {"billing": AgentPrompt("Look up payments.")})

    def read_of(version: PromptVersion) -> list[str]:
        changed = version.applied_to(flow)
        return [changed.edge_description(edge) for edge in changed.agent("triage").edges]

    assert read_of(said) == ["Charges and refunds", "Parcels."]
    assert read_of(silent) == ["Money.", "Parcels."]


@pytest.mark.parametrize(
    ("agents", "sentence"),
    [
        (
            {"README": AgentPrompt("Hi")},
            "prompt version 'v2' has a file for 'README'; the agents are: billing, sales, triage.",
        ),
        (
            {"triage": AgentPrompt("Hi", targets=("billing", "suport"))},
            "prompt version 'v2' lets 'triage' hand off to 'suport'; the flow lets it hand off to: "
            "billing, sales.",
        ),
        (
            {"billing": AgentPrompt("Hi", targets=("sales",))},
            "prompt version 'v2' lets 'billing' hand off to 'sales'; the flow lets it hand off to: "
            "nobody.",
        ),
    ],
)
def test_a_version_that_does_not_fit_the_flow_is_refused(agents, sentence):
    with pytest.raises(FlowError) as refused:
        PromptVersion("v2", agents).applied_to(FLOW)

    assert str(refused.value) == f"Flow 'support' cannot run: {sentence}"


def test_equal_text_is_the_same_version_whatever_its_label():
    first = PromptVersion("v1", {"triage": AgentPrompt("Hi")})
    same = PromptVersion("v2", {"triage": AgentPrompt("Hi")})
    other = PromptVersion("v1", {"triage": AgentPrompt("Hi!")})

    assert first.digest == same.digest != other.digest
