"""The flows screen: what there is, what one is made of, and what is not loaded."""

from pathlib import Path

import pytest
from support.seen import component, text

from handoff_console import sample_runs
from handoff_console.console.settings import FLOWS_VARIABLE
from handoff_console.runtime.prompts import load_prompts
from handoff_console.sample_runs import GROUPS, NAMES

pytestmark = pytest.mark.usefixtures("store")

MINE = """
from handoff_console.runtime import Agent, Edge, Effect, Flow, Tool, say

def pay(cents: int) -> None:
    pass

flow = Flow("mine", [
    Agent("front", "Be <b>kind</b>.", edges=[Edge.transfer("back", context="slice", fields=("a",))],
          model=lambda call: say("hi")),
    Agent("back", tools=[Tool(pay, effect=Effect.EXTERNAL)], may_write=True,
          model=lambda call: say("hi")),
])
"""


@pytest.fixture
def mine(tmp_path, monkeypatch):
    """A flow of the user's own that the console was started with."""
    path = tmp_path / "mine.py"
    path.write_text(MINE)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv(FLOWS_VARIABLE, '["mine.py:flow"]')
    return path


def button(page, label):
    return next(one for one in page.button if one.label == label)


def test_all_samples_are_listed_by_what_they_show(screen):
    page = screen("flows")

    assert not page.exception
    said = text(page, "flow_list")
    assert all(group in said for group in GROUPS)
    assert said.startswith("Start here Charged twice? A supervisor and two workers A supervisor")
    assert sum(len(names) for names in GROUPS.values()) == len(NAMES) == len(set(NAMES))


@pytest.mark.usefixtures("mine")
def test_a_flow_of_ones_own_is_listed_with_its_file_and_its_agents(screen):
    said = text(screen("flows"), "flow_list")

    assert said.startswith("Yours mine mine.py:flow · front, back Start here ")


def test_a_flow_shows_its_agents_edges_with_policy_and_limits(screen):
    page = screen("flows", name="bank")

    assert not page.exception
    assert text(page, "flow_head") == "Put through to the mortgage advisor bank"
    assert "✓ Nothing about this flow looks unintended." in text(page, "flow_warnings")
    card = text(page, "flow_agent")
    assert card.startswith("receptionist starts model rules (follows rules and does not read its")
    assert (
        "hands off to mortgages Loans for houses and flats. goes along a packet: goal, summary and "
        "facts, nothing of the conversation has to have amount_eur, years limits at most 6 steps, "
        "8,000 tokens, 30 s next turn stays with it" in card
    )
    assert "Its prompt, 73 characters" in card
    assert "pool 50,000 tokens for all its handoffs together" in text(page, "flow_limits")
    assert page.code[0].value.splitlines()[0] == "handoff flows bank"
    assert "receptionist" in page.get("graphviz_chart")[0].proto.spec


def test_a_flow_is_shown_with_the_prompts_of_each_of_its_versions(screen):
    own = screen("flows", name="servicedesk", who="billing")
    page = screen("flows", name="servicedesk", who="billing", prompts="v4")

    assert not page.exception
    assert text(own, "flow_versions") == "Prompts the flow's own v1 v2 v3 v4"
    folder = Path(sample_runs.__file__).parent / "prompts" / "servicedesk" / "v4"
    description = load_prompts(folder).agents["billing"].handoff_description
    assert text(page, "flow_agent").startswith(f"billing {description} model")
    assert not text(own, "flow_agent").startswith(f"billing {description} model")
    assert [line.split(" --message")[0] for line in page.code[0].value.splitlines()] == [
        "handoff flows servicedesk --prompts v4",
        "handoff run servicedesk --prompts v4",
    ]
    assert button(page, "▶ Run it with its own prompts")


def test_a_flow_without_versions_names_none(screen):
    page = screen("flows", name="bank")

    with pytest.raises(AssertionError, match="no component 'flow_versions'"):
        component(page, "flow_versions")


def test_a_version_that_is_not_there_is_said_and_the_flow_is_shown(screen):
    page = screen("flows", name="servicedesk", prompts="v9")

    assert not page.exception
    assert text(page, "unknown_prompts") == (
        "Flow 'servicedesk' cannot run: there is no prompt version 'v9'; there are: v1, v2, v3, v4."
    )
    assert page.code[0].value.startswith("handoff flows servicedesk\n")


def test_the_agent_in_the_address_is_the_one_whose_card_is_shown(screen):
    page = screen("flows", name="letters", who="clerk")
    other = screen("flows", name="support", who="billing")
    unknown = screen("flows", name="support", who="nobody")

    assert "letters.send reaches outside asks a person first" in text(page, "flow_agent")
    assert text(other, "flow_agent").startswith("billing")
    assert text(unknown, "flow_agent").startswith("supervisor")


def test_what_is_probably_not_meant_stands_first_and_leads_to_its_agent(screen):
    page = screen("flows", name="monolith")

    assert text(page, "flow_warnings") == (
        "1 thing is allowed, but probably not meant Agent 'assistant' has 20 tools; with more than "
        "10 it is probably two agents. → assistant"
    )


def test_a_flow_of_the_user_shows_its_warnings_at_their_places(screen, mine):
    page = screen("flows", name="mine.py:flow")
    back = screen("flows", name="mine.py:flow", who="back")

    assert "The edge 'front' → 'back' has no description" in text(page, "flow_agent")
    assert "goes along a slice: the checked values" in text(page, "flow_agent")
    assert "may see a" in text(page, "flow_agent")
    assert "Be <b>kind</b>." in text(page, "flow_agent")
    assert "pay reaches outside asks a person first" in text(back, "flow_agent")
    assert "The tool 'pay' of agent 'back' has no description" in text(back, "flow_agent")


def test_a_flow_of_the_user_is_listed_first(screen, mine):
    assert text(screen("flows"), "flow_list").startswith("Yours mine")


def test_no_code_is_loaded_because_an_address_names_it(screen, tmp_path):
    (tmp_path / "bad.py").write_text("open('loaded', 'w')\n")

    page = screen("flows", name=f"{tmp_path}/bad.py:flow")

    assert "This console was not started with the flow" in text(page, "unknown_flow")
    assert component(page, "flow_list")
    assert not (tmp_path / "loaded").exists()


def test_an_unknown_flow_is_said_and_the_list_is_there(screen):
    page = screen("flows", name="nothing")

    assert text(page, "unknown_flow") == (
        "There is no flow 'nothing'; choose one of those that are listed."
    )
    assert component(page, "flow_list")


def test_the_way_back_leads_to_the_list(screen):
    page = button(screen("flows", name="bank"), "← All flows").click().run()

    assert component(page, "flow_list")
    assert "name" not in page.query_params


def test_a_flow_can_be_run_from_its_page(screen):
    page = button(screen("flows", name="bank"), "▶ Run it").click().run()

    assert not page.exception
    assert page.selectbox(key="live_flow").value == "bank"
