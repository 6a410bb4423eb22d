"""A flow of the user's own, named as `file.py:name`; every mistake is one sentence."""

import textwrap

import pytest

from handoff_console.console.commands.errors import CommandError, FlowFileFailed, FlowNotFound
from handoff_console.console.commands.flow_files import file_reference, model_in_file
from handoff_console.console.commands.flows import adjusted, chosen_models, load_flow
from handoff_console.runtime import FlowError

FLOW = """
from handoff_console.runtime import Agent, Flow, say

def greet(call):
    return say("Hello")

flow = Flow("mine", agents=[Agent("greeter", model=greet)])
"""


@pytest.fixture
def file(tmp_path):
    """Return a function that writes a Python file and returns its path."""

    def write(content, name="flows.py"):
        path = tmp_path / name
        path.write_text(textwrap.dedent(content))
        return path

    return write


def test_a_flow_is_found_by_file_and_name(file):
    path = file(FLOW)

    loaded = load_flow(f"{path}:flow")

    assert loaded.flow.name == "mine"
    assert loaded.source == f"{path}:flow"
    assert not loaded.is_sample


def test_the_only_flow_of_a_file_needs_no_name(file):
    assert load_flow(str(file(FLOW))).flow.name == "mine"


def test_a_file_imports_its_neighbours_as_a_script_does(file):
    file("GREETING = 'from next door'\n", name="neighbour_of_a_flow.py")
    path = file(
        f"import neighbour_of_a_flow\n{FLOW}".replace('"mine"', "neighbour_of_a_flow.GREETING")
    )

    assert load_flow(f"{path}:flow").flow.name == "from next door"


def test_two_files_of_one_name_in_two_folders_keep_their_own_flows(file, tmp_path):
    for folder in ("here", "there"):
        (tmp_path / folder).mkdir()
        file(FLOW.replace("mine", folder), f"{folder}/flows.py")
    names = [f"{tmp_path / folder}/flows.py:flow" for folder in ("here", "there", "here")]

    assert [load_flow(name).flow.name for name in names] == ["here", "there", "here"]


def test_a_file_with_the_name_of_a_library_hides_nothing(file):
    path = file(FLOW, name="json.py")

    assert load_flow(f"{path}:flow").flow.name == "mine"
    import json

    assert json.loads("1") == 1


@pytest.mark.parametrize(
    ("content", "name", "sentence"),
    [
        (FLOW, ":flw", "has no 'flw'; it defines the flows: flow. Name one as `{path}:NAME`."),
        (FLOW, ":greet", "'greet' in {path} is no Flow but function; it defines the flows: flow."),
        ("x = 1", ":x", "'x' in {path} is no Flow but int; it defines no flow."),
        ("x = 1", "", "Which flow of {path} is meant is not clear: it defines no flow."),
        (FLOW + "other = flow.changed(name='other')", "", "it defines the flows: flow, other."),
    ],
)
def test_a_name_that_is_no_flow_lists_the_flows_there_are(file, content, name, sentence):
    path = file(content)

    with pytest.raises(FlowNotFound) as refused:
        load_flow(f"{path}{name}")

    assert sentence.format(path=path) in str(refused.value)


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (
            "import nolib",
            "line 1 could not be imported (ModuleNotFoundError: No module named 'nolib')",
        ),
        (
            "x = 1\nflow = (",
            "line 2 could not be imported (SyntaxError: '(' was never closed); correct it",
        ),
        ("x = 1\n\n1 / 0", "line 3 could not be imported (ZeroDivisionError: division by zero)"),
        ("raise SystemExit(3)", "line 1 could not be imported (SystemExit: 3)"),
        (
            "from handoff_console.runtime import Limits\nLimits(max_step=1)",
            "line 2 could not be imported: Limits has no argument 'max_step'; did you mean "
            "'max_steps'? It takes: max_steps, max_tokens, deadline_seconds.",
        ),
        ("raise ValueError('\\x1b[31mred\\nlines')", "(ValueError: red lines)"),
    ],
)
def test_a_file_that_cannot_be_imported_says_where_and_why(file, content, sentence):
    path = file(content)

    with pytest.raises(FlowFileFailed) as failed:
        load_flow(f"{path}:flow")

    assert sentence in str(failed.value)
    assert "\n" not in str(failed.value)


def test_a_flow_that_contradicts_itself_is_refused_in_its_own_words(file):
    path = file(FLOW.replace('model=greet)', 'model=greet, edges=[Edge.call("nobody")])')
                .replace("import Agent", "import Agent, Edge"))  # fmt: skip

    with pytest.raises(FlowError, match="hands off to 'nobody', which is no agent of it"):
        load_flow(f"{path}:flow")


def test_an_unknown_sample_lists_the_samples(tmp_path):
    with pytest.raises(
        FlowNotFound, match=r"no flow 'suport' \(is 'support' meant\?\); the samples are: .*support"
    ):
        load_flow("suport")
    with pytest.raises(FlowNotFound, match=r"There is no file .*nowhere\.py"):
        load_flow(f"{tmp_path}/nowhere.py:flow")


def test_what_names_a_file_is_told_from_what_names_a_sample():
    assert file_reference("support") is None
    assert file_reference("a/b.py:flow")._replace() == (file_reference("a/b.py:flow").path, "flow")
    assert file_reference("a/b.py").name == ""


def test_models_are_named_for_one_agent_or_for_all(file):
    path = file(FLOW)
    flow = load_flow(f"{path}:flow").flow

    models = chosen_models(flow, ["offline:bm25", f"greeter={path}:greet"])

    assert models.every_agent == "offline:bm25"
    assert models.by_agent["greeter"].__name__ == "greet"


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (
            ["greter=offline:bm25"],
            "has no agent 'greter' to give a model to; its agents are: greeter.",
        ),
        (["offline:bm25", "offline:bm25"], "'offline:bm25' is a second model for every agent"),
    ],
)
def test_a_model_for_nobody_is_refused(file, words, sentence):
    flow = load_flow(f"{file(FLOW)}:flow").flow

    with pytest.raises(CommandError) as refused:
        chosen_models(flow, words)

    assert sentence in str(refused.value)


def test_an_unknown_model_is_refused_before_a_store_is_made(file):
    flow = load_flow(f"{file(FLOW)}:flow").flow

    with pytest.raises(FlowError, match="wants the model 'gpt'"):
        chosen_models(flow, ["gpt"])


def test_a_model_that_a_file_does_not_have_is_refused(file):
    path = file(FLOW)

    with pytest.raises(FlowNotFound, match="has no model 'nothing'"):
        model_in_file(file_reference(f"{path}:nothing"))


def test_prompt_versions_stand_beside_the_flow(file, tmp_path):
    loaded = load_flow(f"{file(FLOW)}:flow")
    (tmp_path / "prompts" / "short").mkdir(parents=True)
    (tmp_path / "prompts" / "short" / "greeter.md").write_text("Say hello.")

    flow = adjusted(loaded, prompts="short", pool_tokens=9_000)

    assert (flow.prompt_version, flow.agents[0].prompt) == ("short", "Say hello.")
    assert flow.pool_tokens == 9_000
    with pytest.raises(FlowError, match="there is no prompt version 'long'; there are: short"):
        adjusted(loaded, prompts="long")


def test_a_pool_smaller_than_its_floor_is_refused(file):
    with pytest.raises(FlowError, match="the finish floor of 1,000 tokens leaves nothing"):
        adjusted(load_flow(f"{file(FLOW)}:flow"), pool_tokens=500)
