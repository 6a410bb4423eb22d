"""Two runs side by side: where they part, in what, and which change flips it."""

import threading

import pytest
from support import recorded
from support.command import in_process
from support.seen import component, text

from handoff_console.console.commands.flows import load_flow
from handoff_console.console.commands.rerun_orders import RerunOrder
from handoff_console.console.commands.rerunning import rerun_handoff
from handoff_console.console.commands.running import run_once
from handoff_console.runtime.edits import Edits
from handoff_console.runtime.rerun_player import Mode

CUT_OFF = "I am customer 5120. Why was I charged twice last month?"
MORE = Edits(limits={"max_steps": 20, "max_tokens": 40_000})


@pytest.fixture
def pair(store) -> tuple[str, str]:
    """A session in which billing (h2) is cut off, and a re-run of it that is not."""
    session = run_once(store, load_flow("support").flow, CUT_OFF, source="support").session_id
    order = RerunOrder(handoff_id="h2", mode=Mode.LIVE_READS, edits=MORE)
    return session, rerun_handoff(store, session, order).runs[0].session_id


def sides(screen, left, right, **query):
    page = screen("side_by_side", left=left, right=right, **query)
    assert not page.exception
    return page


def press(page, label):
    next(one for one in page.button if one.label == label).click()
    page.run()
    assert not page.exception
    return page


def test_two_attempts_say_where_they_part_what_they_took_and_how_it_is_repeated(screen, pair):
    page = sides(screen, *pair, handoff="h2")

    head = text(page, "sides_head")
    assert head.startswith(
        "attempt 1 original limit_reached (steps) Open attempt 2 live reads ok Open "
        "limits.max_steps = 20 limits.max_tokens = 40000 They first part at billing (t1/2.0)"
    )
    assert "steps 6 10 +4" in text(page, "sides_rows")
    assert "Request limits.max_steps 6 → 20" in text(page, "sides_pair")
    assert page.code[-1].value.startswith(
        f"handoff rerun {pair[0]} h2 --mode live-reads --limits max_steps=20 "
        "--limits max_tokens=40000"
    )
    assert text(page, "attempts").startswith("Attempts 2 attempts, 1 of them ok.")


def test_a_run_that_waits_for_a_yes_says_what_to_do_and_misses_no_result(screen, samples, tmp_path):
    session = samples["letters-edited"]
    again = Edits(armed=("letters.send",))
    order = RerunOrder(handoff_id="h1", mode=Mode.LIVE, edits=again)
    done = rerun_handoff(tmp_path / "samples.db", session, order)
    page = sides(screen, session, done.runs[0].session_id, handoff="h1")

    assert "It waits for a person: open it to say yes, no" in text(page, "sides_head")
    assert "it ends otherwise: ok → waiting." in text(page, "sides_head")
    assert "Result" not in text(page, "sides_pair")
    assert "Which change flips it?" not in [one.label for one in page.button]


def test_how_repeats_fared_is_said_once(screen, pair, store):
    session, _ = pair
    done = rerun_handoff(store, session, RerunOrder(handoff_id="h3", mode=Mode.WHAT_IF, times=3))
    page = sides(screen, session, done.runs[0].session_id, handoff="h3")

    assert "3 of 3 came out ok, all with the same result" in text(page, "attempts_line")
    assert text(page, "attempts").startswith("Attempts 4 attempts, 4 of them ok.")
    assert "came out ok" not in text(page, "attempts")


TOSSED = """
import itertools
from handoff_console.runtime import Agent, Flow, answer

sides = itertools.cycle(("ok", "ok", "error", "ok"))
flow = Flow("tossed", [Agent("coin", model=lambda call: answer(next(sides)))])
"""


def test_repeats_that_came_out_differently_are_the_answer_and_one_run_is_an_example(
    screen, store, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "tossed.py").write_text(TOSSED)
    flow = load_flow("tossed.py:flow").flow
    session = run_once(store, flow, "Toss it", source="tossed.py:flow").session_id
    order = RerunOrder(handoff_id="h1", mode=Mode.WHAT_IF, times=4, named="tossed.py:flow")
    runs = [one.session_id for one in rerun_handoff(store, session, order).runs]

    head = text(sides(screen, session, runs[0], handoff="h1"), "sides_head")
    assert "Attempts 2 to 5 came out 3 × ok, 1 × error: it varies. Attempt 2 is one of " in head
    assert "of them. Nothing differs but what the runs took." in head
    beside = text(sides(screen, runs[0], runs[1], handoff="h1"), "sides_head")
    assert "it varies" not in beside


def test_a_rerun_is_continued_by_somebody_who_was_told_nothing_before(store, pair):
    session, again = pair
    order = RerunOrder(handoff_id="h2", mode=Mode.CONTINUE, graft=again)

    done = rerun_handoff(store, session, order)

    assert (done.recorded_outcome, [run.outcome for run in done.runs]) == ("ok", ["ok"])
    assert done.order.edits == MORE


def test_a_run_that_failed_says_why_once_and_the_page_goes_on(screen, pair):
    page = sides(screen, *pair, handoff="h2")
    page.session_state["said_problem"] = "It failed: no memory is left."
    page.run()

    assert not page.exception
    assert text(page, "problem") == "It failed: no memory is left."
    assert "They first part at billing" in text(page, "sides_head")
    page.run()
    assert not page.exception
    assert page.session_state["said_problem"] == ""


def test_a_long_value_unfolds_so_that_what_differs_below_it_stays_in_sight(screen, pair):
    said = text(sides(screen, *pair, handoff="h2"), "sides_pair")

    before, _, after = said.partition(" more lines")
    assert before.rpartition(" ")[2].isdigit()
    assert "PAY-8001" in before
    assert "PAY-8009" not in before
    assert "PAY-8009" in after
    assert " more characters" in after  # what the model wrote is one long line


def test_the_command_that_prints_the_comparison_is_shown(screen, pair, store):
    page = sides(screen, *pair, handoff="h2")

    assert page.code[-2].value == f"handoff diff {pair[0]} {pair[1]} --db {store}"


def test_a_retry_stands_beside_what_it_tried_again(screen, samples):
    session = samples["parcels-overloaded-model"]

    page = sides(screen, f"{session}:h2", f"{session}:h3", handoff="h3")

    head = text(page, "sides_head")
    assert head.startswith("attempt 1 original error Open attempt 2 retry ok Open They first")
    assert "the model is overloaded" in head
    assert page.code[-1].value.startswith(f"handoff diff {session}:h2 {session}:h3")


def test_a_handoff_that_is_not_there_is_said_and_those_there_are(screen, samples):
    session = samples["parcels-overloaded-model"]

    page = sides(screen, f"{session}:h9", f"{session}:h3")

    assert text(page, "missing") == (
        f"Session {session!r} has no handoff 'h9' to compare; it has h1, h2, h3: name one as "
        f"{session}:HANDOFF."
    )


def test_attempts_that_are_left_out_are_shown_when_asked_for(screen, pair, store):
    session, _ = pair
    for _ in range(8):
        order = RerunOrder(handoff_id="h2", mode=Mode.VERIFY)
        last = rerun_handoff(store, session, order).runs[0].session_id

    page = sides(screen, session, last, handoff="h2")
    assert text(page, "attempts_line").startswith("Attempts 1 original limit_reached … 5 more … 7 ")
    page = sides(screen, session, last, handoff="h2", attempts_from="2")

    shown = text(page, "attempts_line")
    assert shown.startswith("Attempts 1 original limit_reached 2 live reads ok 3 verified ")
    assert "… 4 more … 10 verified" in shown


def test_sides_are_swapped(screen, pair):
    page = press(sides(screen, *pair, handoff="h2"), "⇄ Swap sides")

    assert text(page, "sides_head").startswith("attempt 2 live reads ok Open")
    assert page.query_params["left"] == pair[1]


def test_two_sessions_are_compared_whole(screen, pair, store):
    other = run_once(
        store, load_flow("support").flow, "I am customer 4812. Why was I charged twice last month?",
        source="support",
    ).session_id  # fmt: skip
    page = sides(screen, pair[0], other)

    assert "whole sessions · " in text(page, "sides_head")
    assert pair[0] in text(page, "sides_head")
    rows = text(page, "sides_rows")
    assert "supervisor" in rows
    assert "billing" in rows


@pytest.mark.usefixtures("sessions")
def test_what_is_the_same_is_shown_when_it_is_asked_for(screen):
    page = sides(screen, recorded.FAILED, recorded.FAILED)
    assert text(page, "sides_rows").endswith("Handoffs None differs.")
    assert text(page, "sides_pair") == "There is nothing that differs to look at."

    page.toggle[0].set_value(True).run()

    assert "supervisor" in text(page, "sides_rows")


@pytest.mark.usefixtures("sessions")
@pytest.mark.parametrize("pick", ["0", "2", "99", "x"])
def test_a_link_opens_the_handoff_it_names_and_any_other_breaks_nothing(screen, pick):
    sides(screen, recorded.FAILED, recorded.HEALTHY, pair=pick)


@pytest.mark.usefixtures("sessions")
def test_a_session_that_is_not_there_is_said_and_another_can_be_chosen(screen):
    page = screen("side_by_side", left=recorded.FAILED, right="nobody")
    assert not page.exception
    assert text(page, "missing") == "There is no session 'nobody' in this store."
    assert page.selectbox[0].value == recorded.FAILED

    page.selectbox[1].set_value(recorded.HEALTHY).run()
    press(page, "Compare")

    assert component(page, "sides_head")


@pytest.mark.usefixtures("sessions")
def test_a_sessions_page_leads_to_it_beside_another_one(screen):
    page = screen("session", session=recorded.FAILED)
    links = [one.proto for one in page.get("page_link")]
    (link,) = [one for one in links if one.label.endswith("Compare with another session")]
    assert link.query_string == f"left={recorded.FAILED}"

    page = screen("side_by_side", left=recorded.FAILED)

    assert text(page, "missing") == "Compare two sessions."
    assert page.selectbox[0].value == recorded.FAILED


@pytest.mark.usefixtures("sessions")
def test_hostile_text_goes_through_no_markdown(screen):
    page = sides(screen, recorded.HOSTILE, recorded.FAILED)

    for kind in ("markdown", "caption", "html", "text"):
        for element in page.get(kind):
            assert "hacked" not in str(element.proto)


def test_the_search_says_what_it_will_take_then_what_flips_it(screen, pair):
    page = press(sides(screen, *pair, handoff="h2"), "Which change flips it?")
    assert text(page, "flip").startswith("2 differences between the two can be tried")
    page.radio[0].set_value("live-reads").run()
    page.number_input[0].set_value(1).run()
    assert "re-runs, at most" in text(page, "flip")
    command = page.code[0].value
    assert command.startswith(f"handoff bisect {pair[0]}:h2 {pair[1]}:h2 --mode live-reads ")

    press(page, "Look for it")
    for thread in threading.enumerate():
        if thread.name.startswith("bisection-"):
            thread.join(60)
    page.run()

    said = text(page, "flip")
    assert said.startswith("limits.max_steps and limits.max_tokens flip it together")
    assert "Not sure: if the change did nothing" in said
    assert "With limits.max_tokens alone: 0 of 1 came out well." in said
    assert page.code[0].value == command
    press(page, "Close")
    assert [one.label for one in page.button if "flips" in one.label] == ["Which change flips it?"]


def test_calls_that_were_refused_since_no_answer_is_recorded_are_counted_at_the_run(
    screen, store, pair
):
    order = RerunOrder(handoff_id="h2", mode=Mode.WHAT_IF, edits=MORE)
    what_if = rerun_handoff(store, pair[0], order).runs[0]

    head = text(sides(screen, pair[0], what_if.session_id, handoff="h2"), "sides_head")

    assert what_if.unanswered_calls == 1
    assert "1 tool call without a recorded answer; live-reads asks the tools." in head
    assert "without a recorded answer" not in text(sides(screen, *pair, handoff="h2"), "sides_head")


def test_handoffs_of_an_import_stand_side_by_side_by_their_own_names(screen, store, capsys, pair):
    handoff = in_process(capsys)
    lines = handoff("export", pair[0]).out
    for before, after in (("h2", "call:7"), (pair[0], "trace:9")):
        lines = lines.replace(f'"{before}"', f'"{after}"')
    (store.parent / "theirs.jsonl").write_text(lines, "utf-8")
    assert handoff("import", store.parent / "theirs.jsonl").status == 0

    page = sides(screen, "trace:9:call:7", f"{pair[1]}:h2")

    assert text(page, "sides_head").startswith("trace:9:call:7 original limit_reached")
    assert any(
        code.value.startswith(f"handoff diff trace:9:call:7 {pair[1]}:h2") for code in page.code
    )


def test_where_neither_failed_there_is_nothing_to_flip(screen, pair):
    page = sides(screen, pair[1], pair[1], handoff="h2")

    assert not [one for one in page.button if "flips" in one.label]


def test_attempts_that_differ_in_nothing_have_nothing_to_search(screen, pair):
    page = sides(screen, pair[0], pair[0], handoff="h2")

    assert "Both sides are the same run." in text(page, "sides_head")
    assert not [one for one in page.button if "flips" in one.label]


def test_where_both_failed_no_change_is_looked_for(screen, pair, store):
    order = RerunOrder(handoff_id="h2", edits=Edits(limits={"max_steps": 1}), mode=Mode.WHAT_IF)
    again = rerun_handoff(store, pair[0], order).runs[0].session_id
    page = sides(screen, pair[0], again, handoff="h2")

    assert "its request has another limits.max_steps" in text(page, "sides_head")
    assert not [one for one in page.button if "flips" in one.label]


def test_of_two_sessions_each_says_what_was_asked(screen, pair, store):
    other = run_once(store, load_flow("support").flow, "Hello", source="support").session_id

    head = text(sides(screen, pair[0], other), "sides_head")

    assert f"support · {CUT_OFF} · 2" in head
    assert "support · Hello · 2" in head
    assert text(sides(screen, pair[0], other), "sides_rows").startswith("left right change")


CHANCE = """\
import os
from handoff_console.runtime import Agent, Flow, answer

def clerk(call):
    return answer("ok", "3 rows") if "WELL" in os.environ else answer("error", "nothing")

flow = Flow("chance", [Agent("clerk", model=clerk)])
"""


def test_attempts_that_came_out_by_chance_differ_in_nothing(screen, store, tmp_path, monkeypatch):
    (tmp_path / "chance.py").write_text(CHANCE)
    monkeypatch.chdir(tmp_path)
    named = "chance.py:flow"
    monkeypatch.setenv("HANDOFF_FLOWS", f'["{named}"]')
    failed = run_once(store, load_flow(named).flow, "Count.", source=named).session_id
    monkeypatch.setenv("WELL", "1")
    order = RerunOrder(handoff_id="h1", mode=Mode.WHAT_IF, named=named)
    good = rerun_handoff(store, failed, order).runs[0].session_id

    page = press(sides(screen, failed, good, handoff="h1"), "Which change flips it?")

    assert text(page, "flip") == (
        "The two differ in nothing that a re-run can change: run one of them several times to see "
        "whether it comes out by chance."
    )
    assert not [one for one in page.button if one.label == "Look for it"]
