"""The what-if panel under the burn-down."""

import re
from itertools import pairwise

import pytest
from support import recorded
from support.logs import Log
from support.seen import component, text


@pytest.fixture
def opened(screen):
    """Return a function that opens a session with its what-if panel open."""

    def page(session):
        shown = screen("session", session=session)
        assert not shown.exception
        shown.session_state["what_if_open"] = True
        shown.run()
        assert not shown.exception
        return shown

    return page


@pytest.mark.usefixtures("sessions")
def test_closed_it_works_nothing_out(screen):
    page = screen("session", session=recorded.FAILED)

    assert [one.label for one in page.expander] == ["What if the pool or a limit had been another?"]
    assert not page.slider


@pytest.mark.usefixtures("sessions")
def test_as_recorded_nothing_would_have_changed(opened):
    page = opened(recorded.FAILED)

    assert page.slider[0].value == 20_000
    assert text(page, "what_if") == "Nothing would have changed. 3,140 tokens spent"


@pytest.mark.usefixtures("sessions")
def test_a_smaller_pool_refuses_and_says_what_it_cannot_know(opened):
    page = opened(recorded.FAILED)
    page.slider[0].set_value(4_000).run()

    assert not page.exception
    said = text(page, "what_if")
    assert said.startswith("4 handoffs would have fared otherwise")
    assert "the pool has" in said
    assert "What the record cannot say" in said


@pytest.mark.usefixtures("sessions")
def test_the_command_line_that_says_the_same_follows_the_sliders(opened):
    page = opened(recorded.FAILED)
    page.slider[0].set_value(4_000).run()
    page.selectbox[0].set_value("billing").run()
    next(one for one in page.slider if one.label == "Steps of billing").set_value(2).run()

    assert any(
        one.value.startswith(
            f"handoff budget {recorded.FAILED} --pool 4000 --limits billing.max_steps=2"
        )
        for one in page.code
    )


@pytest.mark.usefixtures("sessions")
def test_the_limits_of_one_agent_can_be_moved(opened):
    page = opened(recorded.FAILED)
    page.selectbox[0].set_value("billing").run()
    steps = next(one for one in page.slider if one.label == "Steps of billing")
    assert (steps.value, steps.max) == (6, 12)

    steps.set_value(2).run()

    assert "billing" in text(page, "what_if")
    assert "its steps would have ended it" in text(page, "what_if")


def test_a_session_without_a_request_says_so(opened, store):
    recorded.record(store, [("s-new", Log())])

    page = opened("s-new")

    assert text(page, "what_if") == "This session has no request yet."
    assert component(page, "tree")


@pytest.mark.usefixtures("sessions")
def test_every_size_that_is_offered_is_a_hundredth_off_a_stop_at_most_and_none_is_nothing(opened):
    page = opened(recorded.FAILED)
    pool = page.slider[0]
    offered = [
        int(words.split(":")[0].replace(",", ""))
        for words in re.findall(r"[\d,]+: ", text(page, "what_if_marks"))
    ]

    assert offered
    assert 0 < pool.min <= min(offered)
    assert max(offered) <= pool.max
    off = [(tokens - pool.min) % pool.step for tokens in offered]
    assert all(
        min(it, pool.step - it) <= tokens / 100 for it, tokens in zip(off, offered, strict=True)
    )


def test_a_pool_much_larger_than_what_was_used_leads_to_the_least_that_changes_nothing(
    opened, store
):
    log = Log(pool_tokens=2_000_000_000).user("Go")
    root = log.root("desk")
    log.step(root, tokens=5_000).close(root).end()
    recorded.record(store, [("s-wide", log)])
    page = opened("s-wide")
    (said,) = re.findall(r"([\d,]+): the least", text(page, "what_if_marks"))
    least, slider = int(said.replace(",", "")), page.select_slider[0]
    stops = [int(option.replace(",", "")) for option in slider.options]

    assert slider.value == 2_000_000_000
    assert stops.index(least) > 0.6 * len(stops)  # that much of the slider is for what matters
    assert max(b - a for a, b in pairwise(stops) if b < least) <= 50
    slider.set_value(stops[stops.index(least) // 2]).run()
    assert text(page, "what_if").startswith("1 handoff would have fared otherwise")
    page.select_slider[0].set_value(least).run()
    assert not page.exception
    assert text(page, "what_if").startswith("Nothing would have changed.")
