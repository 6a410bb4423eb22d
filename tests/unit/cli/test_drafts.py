"""A draft of descriptions becomes a prompt version that reads back as what was written."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from handoff_console.console.commands.drafts import (
    AgentWords,
    DraftRefused,
    drafted,
    next_label,
    prompt_file,
    save_version,
    words_of,
)
from handoff_console.console.commands.flows import LoadedFlow
from handoff_console.console.commands.prompt_folders import own_folder, version_folders
from handoff_console.runtime import Agent, Edge, Flow
from handoff_console.runtime.prompts import AgentPrompt, load_prompts

BILLING = AgentPrompt(
    instructions="Look up payments.\n\nNever promise a refund.",
    handoff_description="Charges, payments and invoices",
    examples=("Why was I charged twice?", "Send me my invoice"),
    targets=("orders",),
    model="offline:bm25",
    threshold=0.5,
)
TEXT = st.text(st.characters(codec="utf-8", exclude_categories=["C", "Z"]), min_size=1)


def test_a_draft_is_read_back_as_it_was_saved(tmp_path):
    agents = {"billing": BILLING, "orders": AgentPrompt(None, "Parcels and returns")}

    version = save_version(tmp_path / "prompts", "v5", agents)

    assert version.label == "v5"
    assert version.agents == agents
    assert sorted(path.name for path in tmp_path.rglob("*.md")) == ["billing.md", "orders.md"]


def test_a_version_is_never_overwritten(tmp_path):
    save_version(tmp_path, "v5", {"billing": BILLING})

    with pytest.raises(DraftRefused, match="There is a version 'v5' already"):
        save_version(tmp_path, "v5", {"billing": AgentPrompt("other")})

    assert load_prompts(tmp_path / "v5").agents == {"billing": BILLING}
    assert [path.name for path in tmp_path.iterdir()] == ["v5"]


def test_a_version_that_came_with_the_flow_keeps_its_name(tmp_path):
    with pytest.raises(DraftRefused, match="There is a version 'v1' already"):
        save_version(tmp_path / "prompts", "v1", {"billing": BILLING}, taken=["v1"])

    assert list(tmp_path.iterdir()) == []


def test_a_draft_keeps_the_files_of_its_version_and_changes_only_what_was_changed(tmp_path):
    flow = Flow(
        "desk",
        agents=[
            Agent("triage", edges=[Edge("billing", via="transfer")]),
            Agent("billing", description="Charges", edges=[Edge("orders", via="transfer")]),
            Agent("orders"),
        ],
        model="offline:bm25",
    )
    base = save_version(tmp_path, "v1", {"triage": AgentPrompt("Route."), "billing": BILLING})
    shown = base.applied_to(flow)
    changed = {
        "triage": words_of(shown)["triage"],
        "billing": AgentWords("Charges and refunds", BILLING.examples, BILLING.instructions),
    }

    files = drafted(base, shown, changed)

    assert files["triage"] == AgentPrompt("Route.")
    assert files["billing"] == replace(BILLING, handoff_description="Charges and refunds")
    assert drafted(None, flow, {"billing": AgentWords("Charges", (), "")}) == {}


def test_examples_that_a_draft_takes_away_stay_away(tmp_path):
    flow = Flow(
        "desk",
        agents=[Agent("billing", "Bill.", description="Charges", examples=("My bill",))],
        model="offline:bm25",
    )
    fewer = {"billing": AgentWords("Charges", (), "Bill.")}
    same = {"billing": AgentWords("Charges and refunds", ("My bill",), "Bill.")}

    saved = save_version(tmp_path, "v1", drafted(None, flow, fewer))

    assert saved.applied_to(flow).agent("billing").examples == ()
    assert drafted(None, flow, same)["billing"].examples is None


@pytest.mark.parametrize(
    ("words", "read"),
    [
        (AgentWords("", (), "Bill."), ("", "Bill.")),
        (AgentWords("Charges", (), ""), ("Charges", "")),
        (AgentWords("", (), ""), ("", "")),
    ],
)
def test_a_field_that_was_emptied_is_empty_in_the_version(tmp_path, words, read):
    flow = Flow(
        "desk", agents=[Agent("billing", "Bill.", description="Charges")], model="offline:bm25"
    )

    saved = save_version(tmp_path, "v1", drafted(None, flow, {"billing": words}))

    shown = saved.applied_to(flow)
    assert (shown.agent("billing").description, shown.agent("billing").prompt) == read
    again = save_version(
        tmp_path, "v2", drafted(saved, shown, {"billing": AgentWords("Charges", (), "Bill.")})
    ).applied_to(flow)
    assert words_of(again) == words_of(flow)


def test_a_draft_begins_with_what_the_router_reads_of_an_agent():
    flow = Flow(
        "desk",
        agents=[
            Agent("triage", edges=[Edge.transfer("billing", "Money."), Edge.transfer("orders")]),
            Agent("sales", edges=[Edge.transfer("billing", "Offers."), Edge.transfer("triage")]),
            Agent("billing", description="Charges"),
            Agent("orders", description="Parcels"),
        ],
        model="offline:bm25",
    )

    words = words_of(flow)

    assert (words["billing"].description, words["orders"].description) == ("Money.", "Parcels")


def test_new_versions_of_a_sample_stand_beside_the_store_and_those_of_a_flow_beside_its_file(
    tmp_path,
):
    flow = Flow("desk", agents=[Agent("triage")], model="offline:bm25")
    sample = LoadedFlow(flow, "desk", tmp_path / "installed", is_sample=True)
    own = LoadedFlow(flow, "mine/flow.py:flow", tmp_path / "mine")
    for folder in ("installed", "prompts/desk", "mine/prompts"):
        save_version(tmp_path / folder, "v1", {"triage": AgentPrompt("Route.")})
    save_version(tmp_path / "prompts" / "desk", "v2", {"triage": AgentPrompt("Route.")})

    store = tmp_path / "handoff.db"
    assert own_folder(sample, store) == tmp_path / "prompts" / "desk"
    assert version_folders(sample, store) == {
        "v1": tmp_path / "installed" / "v1",
        "v2": tmp_path / "prompts" / "desk" / "v2",
    }
    assert own_folder(own, store) == tmp_path / "mine" / "prompts"
    assert version_folders(own, store) == {"v1": tmp_path / "mine" / "prompts" / "v1"}


@pytest.mark.parametrize("label", ["", "../v5", "a/b", ".hidden", "x" * 41, "v 5", "v5\n"])
def test_a_name_that_is_no_folder_is_refused(tmp_path, label):
    with pytest.raises(DraftRefused, match="cannot be the name of a version"):
        save_version(tmp_path, label, {"billing": BILLING})

    assert list(tmp_path.iterdir()) == []


def test_an_agent_whose_name_is_a_path_writes_nowhere(tmp_path):
    with pytest.raises(DraftRefused, match="cannot have a file of its name"):
        save_version(tmp_path / "prompts", "v5", {"../../evil": BILLING})

    assert list(tmp_path.iterdir()) == []


def test_an_empty_draft_says_so(tmp_path):
    with pytest.raises(DraftRefused, match="change a description first"):
        save_version(tmp_path, "v5", {})


def test_a_folder_that_is_a_file_is_named(tmp_path):
    (tmp_path / "prompts").write_text("no folder")

    with pytest.raises(DraftRefused, match="cannot be written to"):
        save_version(tmp_path / "prompts", "v5", {"billing": BILLING})


def test_the_next_version_is_numbered_on():
    assert next_label(["v1", "v3", "baseline", "v2"]) == "v4"
    assert next_label(["v9", "v10"]) == "v11"
    assert next_label([]) == "v1"


@given(description=TEXT, examples=st.lists(TEXT, max_size=3), instructions=st.text(max_size=80))
def test_whatever_is_typed_stays_in_its_field(
    tmp_path_factory, description, examples, instructions
):
    folder = tmp_path_factory.mktemp("prompts")
    prompt = AgentPrompt(
        f"I{instructions}", f"d{description}d", tuple(f"e{it}e" for it in examples)
    )
    typed = " ".join(prompt.instructions.replace("\r\n", "\n").split())

    read = save_version(folder, "v1", {"billing": prompt}).agents["billing"]

    assert read.handoff_description == prompt.handoff_description
    assert read.examples == prompt.examples
    assert " ".join(read.instructions.split()) == typed


def test_a_body_that_looks_like_front_matter_is_a_body(tmp_path):
    prompt = AgentPrompt("---\nmodel: other\n---\nhello")

    assert prompt_file(prompt).startswith("---\n\n---\n")
    assert save_version(tmp_path, "v1", {"a": prompt}).agents["a"] == prompt
