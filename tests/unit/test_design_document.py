"""The page on design names every module of the runtime and of the store, and none that is gone."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "design.md").read_text("utf-8")


def modules_of(folder: Path) -> set[str]:
    names = {path.stem for path in folder.glob("*.py")} - {"__init__"}
    return names | {path.parent.name for path in folder.glob("*/__init__.py")}


def named_in_table(folder: str) -> list[str]:
    _, _, after = PAGE.partition(f"| module of `{folder}` |")
    table, _, _ = after.partition("\n\n")
    first_cells = re.findall(r"^\| (`[^|]+) \|", table, re.M)
    return [name for cell in first_cells for name in re.findall(r"`(\w+)`", cell)]


@pytest.mark.parametrize("folder", ["runtime", "store", "store/analysis"])
def test_every_module_stands_in_its_table_once(folder):
    named = named_in_table(folder)

    assert sorted(named) == sorted(modules_of(ROOT / folder))
