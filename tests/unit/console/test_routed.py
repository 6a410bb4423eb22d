"""What tells the sides of a comparison apart, and what does not."""

import shutil
from pathlib import Path

import pytest

from handoff_console import sample_runs
from handoff_console.console.commands.errors import CommandError
from handoff_console.console.commands.flows import load_flow
from handoff_console.console.commands.routed import Side, side
from handoff_console.runtime.errors import FlowError

PROMPTS = Path(sample_runs.__file__).parent / "prompts" / "servicedesk"


def chosen(word: str, *, folder: Path | None = None, model: str = "offline:bm25") -> Side:
    return side(load_flow("servicedesk"), word, model, Path("none.db"), folder)


def rule(call):
    return None


@pytest.fixture
def versions(tmp_path) -> Path:
    """Return a folder with v2 under the names it is compared by."""
    for name in ("v2", "renamed", "changed"):
        shutil.copytree(PROMPTS / "v2", tmp_path / name)
    return tmp_path


def digests(one: Side) -> tuple[str, str, dict[str, str]]:
    version = one.version
    return (
        version.version_hash,
        version.routing_hash,
        {name: text.digest for name, text in version.agents.items()},
    )


def test_another_label_and_other_line_ends_change_no_hash(versions):
    for path in (versions / "renamed").glob("*.md"):
        path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes().replace(b"\n", b"\r\n"))

    one, other = (chosen(name, folder=versions) for name in ("v2", "renamed"))

    assert digests(one) == digests(other)
    assert one.reads("route") == other.reads("route")
    assert one.reads("full") == other.reads("full")


def test_the_order_of_files_changes_no_hash(versions):
    for path in sorted((versions / "renamed").glob("*.md"), reverse=True):
        text = path.read_text()
        path.unlink()
        path.write_text(text)

    assert digests(chosen("v2", folder=versions)) == digests(chosen("renamed", folder=versions))


def test_a_description_changes_what_is_read_and_its_agent_alone(versions):
    path = versions / "changed" / "billing.md"
    path.write_text(path.read_text().replace("Invoices", "All invoices"))

    one, other = (chosen(name, folder=versions) for name in ("v2", "changed"))

    assert one.version.version_hash != other.version.version_hash
    assert one.version.routing_hash != other.version.routing_hash
    differ = {n for n, text in digests(one)[2].items() if text != digests(other)[2][n]}
    assert differ == {"billing"}


def test_instructions_are_read_by_a_language_model_and_not_by_an_offline_router(versions):
    (versions / "changed" / "triage.md").write_text("Be quick.\n")
    (versions / "own.py").write_text("def route(agent, messages):\n    return 'hello'\n")
    model = f"{versions / 'own.py'}:route"

    offline = [chosen(name, folder=versions) for name in ("v2", "changed")]
    live = [chosen(name, folder=versions, model=model) for name in ("v2", "changed")]

    assert offline[0].version.version_hash != offline[1].version.version_hash
    assert offline[0].version.routing_hash == offline[1].version.routing_hash
    assert live[0].version.routing_hash != live[1].version.routing_hash
    assert offline[0].version.offline
    assert not live[0].version.offline


def test_a_function_that_was_edited_is_another_router(tmp_path):
    import os

    path = tmp_path / "own.py"
    path.write_text("def route(agent, messages):\n    return 'hello'\n")
    first = chosen("v2", model=f"{path}:route").reads("route")
    path.write_text("def route(agent, messages):\n    return 'goodbye'\n")
    os.utime(path, (1, 1))

    import linecache

    linecache.checkcache()
    assert chosen("v2", model=f"{path}:route").reads("route") != first


def test_the_model_of_one_agent_can_be_what_varies():
    one = chosen("v2+billing=offline:bm25")

    assert one.version.label == "v2+billing=offline:bm25"
    assert one.models["billing"] == "offline:bm25"
    assert one.version.agents["billing"].model == "offline:bm25"
    assert one.version.version_hash != chosen("v2").version.version_hash
    assert one.version.routing_hash == chosen("v2").version.routing_hash


def test_the_context_policy_of_an_edge_can_be_what_varies():
    one = chosen("v2+triage>billing=full_history")

    (edge,) = (e for e in one.start.edges if e.target == "billing")
    assert edge.context == "full_history"
    assert one.version.version_hash != chosen("v2").version.version_hash
    assert one.reads("full") != chosen("v2").reads("full")
    assert one.reads("route") == chosen("v2").reads("route")


def test_the_flow_itself_can_be_what_varies(tmp_path):
    path = tmp_path / "one.py"
    path.write_text(
        "from handoff_console.runtime import Agent, Edge, Flow\n"
        "agents = [Agent('triage', edges=[Edge.transfer('billing', 'All.')]), Agent('billing')]\n"
        "flow = Flow('alone', agents, model='offline:bm25')\n"
    )

    one = chosen(f"{path}:flow")

    assert (one.version.flow, one.start.name) == ("alone", "triage")
    assert set(one.version.agents) == {"triage", "billing"}


def test_the_flows_own_prompts_are_a_side_too():
    assert chosen(".").version.routing_hash == chosen("v2").version.routing_hash


@pytest.mark.parametrize(
    ("word", "error", "said"),
    [
        ("v9", CommandError, "has no prompt version 'v9'; there are: v1, v2, v3, v4"),
        ("v2+triage", CommandError, "'triage' in 'v2\\+triage' changes nothing"),
        ("v2+nobody=x", CommandError, "has no agent 'nobody'"),
        ("v2+triage>sales=packet", CommandError, "may not hand off to 'sales'"),
        ("v2+triage>billing=all", CommandError, "no context policy 'all'; there are: "),
        ("v2+triage=offline:none", FlowError, "wants the model 'offline:none'"),
    ],
)
def test_what_does_not_exist_is_named(word, error, said):
    with pytest.raises(error, match=said):
        chosen(word)


def own_flow(folder: Path) -> str:
    path = folder / "one.py"
    path.write_text(
        "from handoff_console.runtime import Agent, Edge, Flow\n"
        "agents = [Agent('triage', edges=[Edge.transfer('desk', 'All.')]), Agent('desk')]\n"
        "flow = Flow('alone', start='triage', agents=agents, model='offline:bm25')\n"
    )
    return f"{path}:flow"


@pytest.mark.parametrize("is_sample", [True, False])
def test_where_the_first_version_is_said_to_go_it_is_found(tmp_path, is_sample):
    beside = tmp_path / "own"
    beside.mkdir()
    loaded = load_flow("parcels" if is_sample else own_flow(beside))
    store = tmp_path / "handoff.db"

    with pytest.raises(CommandError, match="it has none yet") as refused:
        side(loaded, "v1", "offline:bm25", store, None)

    folder = tmp_path / "prompts" / "parcels" / "v1" if is_sample else beside / "prompts" / "v1"
    assert f"Make one as files {folder / 'AGENT.md'}, one for each agent" in str(refused.value)
    folder.mkdir(parents=True)
    agent = loaded.flow.agents[-1].name
    (folder / f"{agent}.md").write_text("Be quick.\n")
    found = side(loaded, "v1", "offline:bm25", store, None)
    assert found.flow.agent(agent).prompt == "Be quick."
