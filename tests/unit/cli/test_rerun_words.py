"""The command line that a screen shows for a re-run does the same."""

import json
import shlex

import pytest

from handoff_console.console.cli import rerunning
from handoff_console.console.cli.parser import arguments_of
from handoff_console.console.cli.terminal import Terminal
from handoff_console.console.commands.rerun_inputs import Given
from handoff_console.console.commands.rerun_orders import RerunOrder
from handoff_console.console.commands.rerun_words import rerun_command
from handoff_console.console.commands.typed_values import value_like
from handoff_console.runtime.edits import Edits
from handoff_console.runtime.rerun_player import Mode

EDITS = [
    Edits(),
    Edits(task='Say it\'s "done"; now.'),
    Edits(inputs={"customer_id": 4812, "name": "O'Neil", "list": [1, None], "text": "two words"}),
    Edits(without_inputs=("since", "until")),
    Edits(goal="Find = it.", summary="", claimed={"serial": "A-1", "paid": True, "no": "12"}),
    Edits(allowed_tools=("look", "note")),
    Edits(allowed_tools=()),
    Edits(limits={"max_steps": 9, "max_tokens": 40_000, "deadline_seconds": 2.5}),
    Edits(limits={"max_tokens": 12_345_678}),
    Edits(output_schema="Text"),
    Edits(model="offline:bm25"),
    Edits(tool_results={"look": {"payments": [], "next": None}, "2.0": "nobody"}),
    Edits(armed=("mail", "note")),
    Edits(denied=("mail", "note")),
]


@pytest.mark.parametrize("edits", EDITS)
@pytest.mark.parametrize("mode", [Mode.LIVE, Mode.CONTINUE])
def test_what_is_typed_is_understood_as_what_was_meant(edits, mode, monkeypatch, tmp_path):
    monkeypatch.setattr(rerunning, "given", lambda *_: Given("clerk", {}, "support"))
    graft = "r-1" if mode is Mode.CONTINUE else ""
    order = RerunOrder(
        handoff_id="h2", mode=mode, edits=edits, times=3, named="my flow.py:flow", graft=graft
    )

    program, *words = shlex.split(rerun_command("s-1", order, store="my.db"))
    arguments = arguments_of(words)
    understood = rerunning._order(tmp_path, arguments, Terminal())

    assert (program, arguments.session, arguments.db) == ("handoff", "s-1", "my.db")
    assert understood.edits == edits
    for name in ("handoff_id", "mode", "times", "named", "graft"):
        assert getattr(understood, name) == getattr(order, name)


@pytest.mark.parametrize("before", ["a text", 5120, None])
@pytest.mark.parametrize("value", ["4812", "null", '"quoted"', "[1]", "plain", " ", 4812, [1]])
def test_a_text_is_told_from_a_number_whatever_stood_there_before(before, value):
    edits = Edits(inputs={"x": value})
    command = rerun_command("s-1", RerunOrder(handoff_id="h2", mode=Mode.WHAT_IF, edits=edits))
    (said,) = (word for word in shlex.split(command) if word.startswith("inputs.x="))

    if isinstance(before, str) and not isinstance(value, str):
        assert value_like(before, said.partition("=")[2]) == json.dumps(value)
    else:
        assert value_like(before, said.partition("=")[2]) == value


def test_what_is_no_single_word_is_a_file_there():
    edits = Edits(prompt="Be brief.\nBe kind.", model=lambda call: None)
    command = rerun_command("s-1", RerunOrder(handoff_id="h2", mode=Mode.WHAT_IF, edits=edits))

    assert command == ("handoff rerun s-1 h2 --mode what-if --prompt FILE --model FILE.py:NAME")
