"""What tells one version of somebody's function from another."""

import functools
import inspect
from decimal import Decimal
from types import FunctionType

import pytest

from handoff_console.runtime import Tool
from handoff_console.runtime.sources import source_of, version_of

MOST = 500


def at_most(number, word="EUR"):
    def check(request):
        return None if request.total <= number else f"more than {number} {word}"

    return check


def below(request, *, most=100):
    return None if request.total <= most else "too much"


def constant(request):
    return None if request.total <= MOST else "too much"


class Most:
    def __init__(self, number, key="k"):
        self.number, self.key = number, key

    def __call__(self, request):
        return None if request.total <= self.number else "too much"

    def method(self, request):
        return self(request)


def test_a_function_is_told_by_its_text():
    assert source_of(below) == version_of(below).partition("\nmost")[0] == inspect.getsource(below)


def test_an_object_that_can_be_called_is_told_by_its_class_and_a_partial_by_its_function():
    assert source_of(Most(1)) == inspect.getsource(Most)
    assert source_of(functools.partial(below, most=3)) == inspect.getsource(below)


def test_what_has_no_text_is_told_without_its_place_in_memory():
    typed_in = FunctionType(below.__code__.replace(co_filename="<stdin>"), {}, "typed_in")

    assert source_of(len) == "<built-in function len>"
    assert source_of(typed_in) == "<function below>"
    assert "0x" not in source_of(functools.partial(len))


def test_a_tool_that_is_an_object_is_the_same_tool_in_the_next_process():
    first, second = (Tool(Most(1), name="check").spec["source"] for _ in range(2))

    assert first == second


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (at_most(500), at_most(100)),
        (at_most(Decimal("0.5")), at_most(Decimal("0.25"))),
        (functools.partial(below, most=1), functools.partial(below, most=2)),
        (functools.partial(below, 1), functools.partial(below, 2)),
        (Most(1), Most(2)),
        (Most(1).method, Most(2).method),
        (lambda request, most=1: most, lambda request, most=2: most),
    ],
)
def test_a_function_that_was_made_with_another_number_is_another_version(one, other):
    assert version_of(one) == version_of(one) != version_of(other)


def test_what_a_check_counts_is_no_part_of_its_version():
    class Once:
        def __init__(self, most):
            self._most, self.seen = most, 0

        def __call__(self, request):
            self.seen += 1

    def counting():
        seen = 0

        def check(request):
            nonlocal seen
            seen += 1

        return check

    for check in (Once(3), counting()):
        before = version_of(check)
        check(None)
        assert version_of(check) == before
    assert version_of(Once(3)) != version_of(Once(4))


def test_a_constant_of_its_module_is_part_of_a_version(monkeypatch):
    before = version_of(constant)
    monkeypatch.setattr(f"{__name__}.MOST", 300)

    assert before.endswith("\nMOST = 500")
    assert version_of(constant).endswith("\nMOST = 300")


def test_no_text_that_it_was_made_with_is_part_of_a_version_since_it_may_be_a_secret():
    assert version_of(at_most(1, "hunter2")) == version_of(at_most(1, "EUR"))
    assert version_of(Most(1, "hunter2")) == version_of(Most(1))


def test_a_name_that_has_no_value_yet_is_no_matter():
    def early():
        return later

    found = version_of(early)
    later = 3

    assert found != version_of(early)


def test_a_method_is_told_by_its_own_text():
    assert source_of(Most(1).method) == inspect.getsource(Most.method)
