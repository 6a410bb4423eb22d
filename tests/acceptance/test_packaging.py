"""The installed package keeps to its own names, loads little, and is complete."""

import json
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

pytestmark = pytest.mark.acceptance

CHECKOUT = Path(__file__).parents[2]
FOLDERS = ["runtime", "store", "sample_runs", "console"]


def python(code, folder):
    """Run code as a program started in a folder, and return what it prints, read as JSON."""
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=folder, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.fixture
def their_project(tmp_path):
    """Make a project of a user who has packages called `store` and `runtime` already."""
    for name in ["store", "runtime"]:
        (tmp_path / name).mkdir()
        (tmp_path / name / "__init__.py").write_text("OWNER = 'the user'\n")
    return tmp_path


@pytest.mark.parametrize(
    "imports",
    [
        "import store, runtime; import handoff_console.store, handoff_console.runtime",
        "import handoff_console.store, handoff_console.runtime; import store, runtime",
    ],
    ids=["theirs first", "ours first"],
)
def test_a_project_with_its_own_store_and_runtime_keeps_them_beside_ours(imports, their_project):
    code = f"""{imports}
import json
print(json.dumps({{
    "theirs": [store.OWNER, runtime.OWNER],
    "ours": [handoff_console.store.__name__, handoff_console.runtime.__name__],
    "mixed": hasattr(handoff_console.store, "OWNER") or hasattr(handoff_console.runtime, "OWNER"),
}}))"""

    assert python(code, their_project) == {
        "theirs": ["the user", "the user"],
        "ours": ["handoff_console.store", "handoff_console.runtime"],
        "mixed": False,
    }


def test_installing_takes_none_of_the_bare_names(tmp_path):
    code = f"""import importlib.util, json
print(json.dumps([name for name in {FOLDERS} if importlib.util.find_spec(name)]))"""

    assert python(code, tmp_path) == []


def test_the_runtime_loads_nothing_of_the_console(tmp_path):
    code = """import json, sys
before = set(sys.modules)
import handoff_console.runtime
heavy = {"streamlit", "pandas", "numpy", "plotly", "graphviz", "sqlite_utils", "sqlite3"}
print(json.dumps(sorted(heavy & (set(sys.modules) - before))))"""

    assert python(code, tmp_path) == []


def test_every_folder_with_modules_is_a_package():
    without_init = {
        str(module.parent.relative_to(CHECKOUT))
        for folder in FOLDERS
        for module in (CHECKOUT / folder).rglob("*.py")
        if not (module.parent / "__init__.py").exists()
    }

    assert not without_init, "the wheel leaves these folders out: add an __init__.py"


@pytest.mark.parametrize("folder", FOLDERS)
def test_every_package_says_that_it_is_typed(folder):
    assert (CHECKOUT / folder / "py.typed").exists()


def test_every_file_beside_the_code_goes_into_the_wheel():
    project = tomllib.loads((CHECKOUT / "pyproject.toml").read_text())
    patterns = project["tool"]["setuptools"]["package-data"]["*"]
    packed = {Path(pattern).suffix or pattern for pattern in patterns}

    left_out = [
        str(file.relative_to(CHECKOUT))
        for folder in FOLDERS
        for file in (CHECKOUT / folder).rglob("*")
        if file.is_file()
        and file.suffix != ".py"
        and file.parent.name != "__pycache__"
        and not packed & {file.suffix, file.name}
    ]

    assert not left_out, "add the suffix to [tool.setuptools.package-data]"
