"""A flow finds its own neighbours while the console's pages run, whatever they are called."""

import subprocess
import sys

import pytest

SCRIPT = """
import importlib, sys
from pathlib import Path
from streamlit.runtime.scriptrunner.exec_code import modified_sys_path
from handoff_console import console
from handoff_console.console import server
server.application()
sys.path.insert(0, {folder!r})
with modified_sys_path(str(Path(console.__file__).with_name("app.py"))):
    importlib.import_module("handoff_console.console.memory")
    print(importlib.import_module({name!r}).__file__)
"""


def found(folder, name):
    """Return where a module of that name is found while a page runs."""
    script = SCRIPT.format(folder=str(folder), name=name)
    said = subprocess.run([sys.executable, "-c", script], check=True, stdout=subprocess.PIPE)
    return said.stdout.decode().strip()


@pytest.mark.parametrize("name", ["settings", "theme", "commands"])
def test_a_neighbour_of_the_flow_comes_before_a_module_of_the_console(tmp_path, name):
    own = tmp_path / f"{name}.py"
    own.write_text("", encoding="utf-8")

    assert found(tmp_path, name) == str(own)
