"""Where in the user's own files something went wrong."""

import functools
import importlib.util
import sys

import pytest

from handoff_console.runtime.blame import defined_at, raised_at

DESK = """
from shelf import take

def own(call):
    return call.nothing

def through_a_neighbour(call):
    return take(call)

def through_a_library(call):
    import json
    return json.loads("{")
"""
SHELF = """
def take(call):
    raise KeyError("shelf")
"""


@pytest.fixture
def desk(tmp_path, monkeypatch):
    """Return the module of a user's file, with another of theirs beside it."""
    (tmp_path / "desk.py").write_text(DESK)
    (tmp_path / "shelf.py").write_text(SHELF)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "shelf", raising=False)
    spec = importlib.util.spec_from_file_location("desk", tmp_path / "desk.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def where(function) -> str:
    try:
        function("a call")
    except (AttributeError, KeyError, ValueError) as error:
        return raised_at(function, error)
    raise AssertionError("it did not raise")


@pytest.mark.parametrize(
    ("name", "place"),
    [
        ("own", "desk.py, line 5"),
        ("through_a_neighbour", "shelf.py, line 3"),
        ("through_a_library", "desk.py, line 12"),
    ],
)
def test_the_last_line_of_the_users_own_is_named(desk, name, place):
    assert where(getattr(desk, name)) == place


def test_where_a_function_stands_is_told_of_whatever_can_be_called(desk):
    class Worker:
        def __call__(self, call):
            return None

    assert defined_at(desk.own) == "desk.py, line 4"
    assert defined_at(functools.partial(desk.own)) == "desk.py, line 4"
    line = Worker.__call__.__code__.co_firstlineno
    assert defined_at(Worker()) == f"test_blame.py, line {line}"


def test_what_has_no_file_is_named():
    assert defined_at(len) == "len"
    assert raised_at(len, TypeError("no length")) == "len"
