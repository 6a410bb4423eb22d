"""Where a handoff stands beside another one: said of two places, or looked up among many."""

from hypothesis import given
from hypothesis import strategies as st

from handoff_console.runtime.events import is_within, roots_of

calls = st.builds("/{}.{}".format, st.integers(1, 3), st.integers(0, 2))
transfers = st.builds("~{}".format, st.integers(1, 4))
branches = st.builds("~{}.{}".format, st.integers(1, 4), st.integers(0, 2))
paths = st.lists(st.one_of(calls, transfers, branches), max_size=4).map(lambda p: "t1" + "".join(p))


@given(paths, st.lists(paths, max_size=8))
def test_the_places_that_led_to_one_are_those_that_it_is_within(path, others):
    found = set(roots_of(path))

    assert path in found
    assert {one for one in others if is_within(path, one)} == found & set(others)
    assert all(is_within(path, one) for one in found)
