"""Which of many attempts are drawn."""

from types import SimpleNamespace

import pytest

from handoff_console.console.components.attempts import _in_sight


@pytest.mark.parametrize(
    ("attempts", "selected", "first_shown", "drawn"),
    [
        (2, 1, None, [1, 2]),
        (3, 1, None, [1, 2, 3]),
        (4, 1, None, [1, 4]),
        (4, 2, None, [1, 2, 3, 4]),
        (9, 3, None, [1, 2, 3, 9]),
        (9, 5, None, [1, 5, 9]),
        (9, 1, 2, [1, 2, 9]),
        (9, 5, 8, [1, 5, 8, 9]),
        (9, 1, 700, [1, 9]),
        (9, 1, 0, [1, 9]),
        (0, 0, None, []),
    ],
)
def test_none_is_left_out_where_all_have_room(attempts, selected, first_shown, drawn):
    chips = [
        SimpleNamespace(number=number, is_selected=number == selected)
        for number in range(1, attempts + 1)
    ]

    assert [chip.number for chip in _in_sight(chips, 3, first_shown)] == drawn
