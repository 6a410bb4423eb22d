"""The command lines that a page shows mean the store that the page shows."""

import pytest

from handoff_console.console import shell_lines
from handoff_console.console.commands.attempt_names import AttemptName
from handoff_console.console.settings import STORE_VARIABLE


@pytest.mark.parametrize(
    ("store", "named"),
    [("here/handoff.db", ""), ("there/handoff.db", "there/handoff.db"), ("a b.db", "a b.db")],
)
def test_a_store_is_named_unless_it_is_the_one_of_this_folder(tmp_path, monkeypatch, store, named):
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    monkeypatch.setenv(STORE_VARIABLE, str(tmp_path / store))

    line = shell_lines.diff_command(AttemptName("s1", "h2"), AttemptName("s2"))

    quoted = f"'{tmp_path / named}'" if " " in named else f"{tmp_path / named}"
    assert line == f"handoff diff s1:h2 s2{f' --db {quoted}' if named else ''}"


@pytest.mark.parametrize(
    ("store", "flow", "shown"),
    [
        ("handoff.db", "mine.py:flow", "mine.py:flow"),
        ("other.db", "mine.py:flow", "{here}/mine.py:flow"),
        ("other.db", "mine.py", "{here}/mine.py"),
        ("other.db", "/there/mine.py:flow", "/there/mine.py:flow"),
        ("other.db", "support", "support"),
    ],
)
def test_a_line_that_names_the_store_works_in_any_folder(tmp_path, monkeypatch, store, flow, shown):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv(STORE_VARIABLE, str(tmp_path / store))

    assert shell_lines.known_everywhere(flow) == shown.format(here=tmp_path)
