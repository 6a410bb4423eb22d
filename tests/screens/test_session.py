"""A session's page: what it says of a failed, a healthy, a hostile and a running session."""

import pytest
from support import recorded
from support.logs import Log
from support.seen import component, text

from handoff_console.console import queries, rerun_queries


@pytest.mark.usefixtures("sessions")
def test_the_verdict_and_the_guilty_handoff_come_first(screen):
    page = screen("session", session=recorded.FAILED)

    assert not page.exception
    said = text(page, "header")
    assert said.startswith("ok Why was I charged twice last month?")
    assert "billing hit its step limit after 6 of 6 steps" in said
    assert "3,140 of 20,000 tokens" in said
    assert component(page, "tree")["selected"] == "h3"
    assert text(page, "card_title").startswith("billing h3 limit_reached")


@pytest.mark.usefixtures("sessions")
def test_a_healthy_session_has_no_problem_to_step_to(screen):
    page = screen("session", session=recorded.HEALTHY)

    assert not page.exception
    assert component(page, "stepper")["problems"] == []
    assert "nothing stands out" in text(page, "header")


@pytest.mark.parametrize("session", [None, "nobody", "<b>"])
@pytest.mark.usefixtures("sessions")
def test_without_a_session_the_page_leads_back_to_the_list(screen, session):
    page = screen("session", **({"session": session} if session else {}))

    assert not page.exception
    said = (
        f"There is no session {session!r} in this store." if session else "No session is selected."
    )
    assert text(page, "missing") == said


@pytest.mark.usefixtures("sessions")
def test_the_card_follows_the_handoff_in_the_address(screen):
    page = screen("session", session=recorded.FAILED, handoff="h4")

    assert text(page, "card_title").startswith("ledger h4 not_found")
    assert text(page, "card_body").startswith("billing calls ledger Look up PAY-118")


@pytest.mark.parametrize(
    ("tab", "says"),
    [
        ("Request", "supervisor calls billing"),
        ("Gate", "Let through with 3,000 tokens reserved."),
        ("Result", "billing was stopped by its step limit; what is here is incomplete."),
        ("Context", "billing reads 6"),
    ],
)
@pytest.mark.usefixtures("sessions")
def test_each_tab_of_the_card_says_its_part(screen, tab, says):
    page = screen("session", session=recorded.FAILED, tab=tab)

    assert not page.exception
    assert says in text(page, "card_body")


@pytest.mark.usefixtures("sessions")
def test_a_handoff_that_nobody_had_asked_for_yet_says_so(screen):
    page = screen("session", session=recorded.FAILED, handoff="h3", seq="5")

    assert text(page, "card_body") == ("At event 5 nobody had asked for h3 yet; event 17 does.")


@pytest.mark.usefixtures("sessions")
def test_at_an_event_the_card_knows_nothing_of_what_came_later(screen):
    page = screen("session", session=recorded.FAILED, handoff="h3", seq="30", tab="Result")

    assert text(page, "card_title").startswith("billing h3 running")
    assert "has not finished" in text(page, "card_body")


@pytest.mark.parametrize("seq", ["0", "-3", "x", "1e3", "9" * 5_000, "٣", "70", "99999999999"])
@pytest.mark.usefixtures("sessions")
def test_an_event_that_does_not_exist_breaks_nothing(screen, seq):
    assert not screen("session", session=recorded.FAILED, seq=seq).exception


@pytest.mark.parametrize("seq", ["70", "0099999999999", "9" * 5_000])
@pytest.mark.usefixtures("sessions")
def test_an_event_beyond_the_end_is_the_last_one_and_is_said_to_be_missing(screen, seq):
    page = screen("session", session=recorded.FAILED, seq=seq)

    assert component(page, "stepper")["seq"] == 69
    shown = f"{int(seq[:12] if len(seq) > 20 else seq):,}"
    assert component(page, "stepper")["missing"] == (
        f"There is no event {shown} (yet): this is the last one."
    )
    assert component(page, "tree")["seq"] == 69
    assert (
        component(screen("session", session=recorded.FAILED, seq="69"), "stepper")["missing"] == ""
    )


@pytest.mark.usefixtures("sessions")
def test_an_unknown_handoff_is_said_to_be_unknown(screen):
    page = screen("session", session=recorded.FAILED, handoff="h99")

    assert text(page, "card_body").startswith("There is no handoff 'h99' in this session")


@pytest.mark.usefixtures("sessions")
def test_the_graph_of_agents_can_be_shown_and_downloaded(screen):
    page = screen("session", session=recorded.FAILED, view="Agents")

    assert not page.exception
    assert 'label="▲ billing' in page.get("graphviz_chart")[0].proto.spec
    assert page.get("download_button")


@pytest.mark.parametrize("tab", ["Request", "Gate", "Result", "Context"])
@pytest.mark.parametrize("view", ["Tree", "Agents"])
@pytest.mark.usefixtures("sessions")
def test_hostile_text_goes_through_no_markdown(screen, tab, view):
    page = screen("session", session=recorded.HOSTILE, tab=tab, view=view)

    assert not page.exception
    for kind in ("markdown", "caption", "metric", "html", "text"):
        for element in page.get(kind):
            assert "hacked" not in str(element.proto)


def test_the_session_of_a_dead_process_is_interrupted(screen, store):
    recorded.record(store, [("s-lost", recorded.running(pid=2**22 + 1))])

    page = screen("session", session="s-lost")

    assert not page.exception
    assert text(page, "header").startswith("interrupted")


def test_a_session_with_nothing_but_its_start_has_a_page(screen, store):
    recorded.record(store, [("s-new", Log())])

    page = screen("session", session="s-new")

    assert not page.exception
    assert "This session has no handoff yet." in text(page, "card_body")


def test_a_session_that_grew_is_read_again(screen, store):
    log = recorded.refund_policy()
    whole, log.sink.events[:] = list(log.events), log.events[:8]
    recorded.record(store, [("s-1", log)])
    assert component(screen("session", session="s-1"), "stepper")["total"] == 8

    log.sink.events[:] = whole[8:]
    recorded.record(store, [("s-1", log)])

    assert component(screen("session", session="s-1"), "stepper")["total"] == len(whole)


def test_a_refused_request_of_a_sample_is_shown_on_its_first_tab(screen, samples):
    page = screen("session", session=samples["statement-half-a-year"], handoff="h5")

    said = text(page, "card_body")
    assert said.startswith(
        "accountant calls reader The gate refused it: limit_reached: 4000 tokens cannot be reserved"
    )
    assert "Add up the bookings of August" in said
    assert '"month": 8' in said
    assert "As accountant asked for it in step 1" in said
    assert "not in this record" not in said


def test_labels_limits_and_what_was_wasted_stand_on_the_page(screen, samples):
    page = screen("session", session=samples["loyalty-half-a-count"])

    said = text(page, "header")
    assert "About this session sample: loyalty-half-a-count" in said
    assert "pool 50,000 tokens, 1,000 of them kept for the answer" in said
    assert "no result 1,690 tokens in 1 handoff without one (73%)" in said


def test_which_limit_was_reached_stands_beside_the_outcome(screen, samples):
    page = screen("session", session=samples["warranty-cracked-lamp"])

    assert text(page, "header").startswith("limit_reached cycle ")


def test_an_interrupted_session_says_what_to_do(screen, store):
    recorded.record(store, [("s-lost", recorded.running(pid=2**22 + 1))])

    page = screen("session", session="s-lost")

    assert "The process went away while supervisor was at work." in text(page, "header")
    assert "To go on where it stopped: handoff resume s-lost" in text(page, "header")


def test_of_a_very_large_session_too_the_page_says_what_it_was_doing(screen, store, monkeypatch):
    monkeypatch.setattr(queries, "READ_WHOLE_EVENTS", 5)
    monkeypatch.setattr(queries, "END_EVENTS", 4)
    log = recorded.running(pid=2**22 + 1)
    log.step("h2").tool("h2", "find_outage")
    assert log.sink.events.pop().kind == "tool_returned"
    recorded.record(store, [("s-lost", log)])

    page = screen("session", session="s-lost")

    assert "The process went away while supervisor was calling find_outage in step 1." in text(
        page, "header"
    )


@pytest.mark.usefixtures("sessions")
def test_a_handoff_that_nobody_tried_again_asks_for_no_attempts(screen, monkeypatch):
    asked: list[str] = []
    monkeypatch.setattr(
        rerun_queries, "handoff_attempts", lambda members, handoff_id: asked.append(handoff_id)
    )

    page = screen("session", session=recorded.FAILED, handoff="h4")

    assert not page.exception
    assert asked == []
