"""`docs/events.md` lists every kind and field there is, with its unit, and nothing else."""

import re
from pathlib import Path

import pytest

from handoff_console.runtime.events import KINDS, Event

PAGE = (Path(__file__).parents[3] / "docs" / "events.md").read_text("utf-8")
UNITS = {"", "seconds", "tokens", "steps", "currency", "digest", "text"}


def tables() -> dict[str, list[list[str]]]:
    """Return the rows of the table under each heading of a kind, and of the envelope."""
    found: dict[str, list[list[str]]] = {}
    for part in re.split(r"^#{2,3} ", PAGE, flags=re.MULTILINE)[1:]:
        title, _, text = part.partition("\n")
        lines = [line for line in text.splitlines() if line.startswith("| `")]
        rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
        if rows:
            found[title] = rows
    return found


TABLES = tables()


def fields_of(title: str) -> list[str]:
    return [row[0].strip("`") for row in TABLES[title]]


def test_every_kind_stands_in_it_and_no_other():
    assert sorted(TABLES.keys() - {"The envelope"}) == sorted(KINDS)


@pytest.mark.parametrize("kind", sorted(KINDS))
def test_every_field_of_a_kind_stands_in_it_in_order_and_no_other(kind):
    assert fields_of(kind) == [name for name, _ in KINDS[kind].defaults]


def test_the_envelope_stands_in_it():
    assert fields_of("The envelope") == list(Event._fields)


@pytest.mark.parametrize("kind", sorted(KINDS))
def test_digests_texts_and_units_are_named(kind):
    payload = KINDS[kind]
    for cells in TABLES[kind]:
        name, unit = cells[0].strip("`"), cells[1]
        assert unit in UNITS, (name, unit)
        assert (unit == "digest") == (name in payload.digests), name
        assert (unit == "text") == (name in payload.free_text), name
        if name.endswith(("_seconds", "_tokens")):
            assert unit == name.rsplit("_", 1)[1], name


@pytest.mark.parametrize("kind", sorted(KINDS))
def test_a_kind_says_when_it_happens(kind):
    when = PAGE.partition(f"### {kind}\n")[2].partition("\n\n|")[0]

    assert when.strip().endswith(".")
    assert KINDS[kind].__doc__
