"""The list of sessions: what stands in it, in which order, and what to do when it is empty."""

from dataclasses import replace

import pytest
from streamlit.testing.v1 import AppTest
from support import recorded
from support.comparisons import experiment, record_experiment
from support.damaged import damage_events
from support.logs import Log
from support.seen import component, text

from handoff_console.console import inbox_queries, state


def listed(screen: AppTest) -> list[str]:
    assert not screen.exception
    return [row["id"] for row in component(screen, "session_list")["rows"]]


@pytest.mark.usefixtures("store")
def test_an_empty_store_says_what_to_do(screen):
    page = screen("sessions")

    assert not page.exception
    said = text(page, "empty")
    assert said.startswith("No session yet")
    assert "Run a sample" in said
    assert "handoff run support --db" in said


def test_a_missing_store_is_named_in_one_sentence(screen, tmp_path, monkeypatch):
    monkeypatch.setenv("HANDOFF_DB", str(tmp_path / "nowhere.db"))

    page = screen("sessions")

    assert not page.exception
    assert "nowhere.db" in text(page, "problem")


@pytest.mark.parametrize("name", ["sessions", "session", "live"])
def test_a_damaged_store_is_named_in_one_sentence(screen, sessions, name):
    damage_events(sessions)

    page = screen(name, session=recorded.FAILED, run=recorded.FAILED)

    assert not page.exception
    assert text(page, "problem").startswith(f"{sessions} is damaged (database disk image")


@pytest.mark.usefixtures("sessions")
def test_failed_sessions_come_first(screen):
    assert listed(screen("sessions"))[0] == recorded.HOSTILE


@pytest.mark.usefixtures("sessions")
def test_a_row_says_outcome_verdict_guilty_agent_and_tokens(screen):
    rows = {row["id"]: row for row in component(screen("sessions"), "session_list")["rows"]}

    failed = rows[recorded.FAILED]
    assert failed["outcome"] == "ok"
    assert failed["verdict"].startswith("billing hit its step limit after 6 of 6 steps")
    assert failed["agent"] == "billing"
    assert failed["tokens"] == "3,140 of 20,000"
    assert failed["fault"] is True
    assert failed["link"] == "session?session=s-failed"
    assert rows[recorded.HEALTHY]["agent"] == "–"
    assert rows[recorded.HEALTHY]["fault"] is False


@pytest.mark.usefixtures("sessions")
def test_the_list_says_how_much_of_it_is_in_sight(screen):
    assert text(screen("sessions"), "showing").startswith("Showing 3 sessions.")


@pytest.mark.usefixtures("sessions")
def test_an_outcome_filters_the_list(screen):
    page = screen("sessions")

    page = page.get("button_group")[0].set_value(["error"]).run()

    assert listed(page) == [recorded.HOSTILE]
    assert text(page, "showing").startswith("Showing 1 matching session.")


@pytest.mark.usefixtures("sessions")
def test_a_finding_filters_the_list(screen):
    page = screen("sessions")

    page = page.selectbox(key="finding").set_value("limit_as_answer").run()

    assert listed(page) == [recorded.FAILED]


@pytest.mark.usefixtures("sessions")
def test_a_filter_that_nobody_set_has_nothing_to_clear_after_another_is_set(screen):
    page = screen("sessions").text_input(key="search").set_value("refund").run()

    assert [box.proto.options[box.proto.default] for box in page.selectbox] == [
        "every flow",
        "with or without findings",
    ]
    assert all(box.proto.HasField("default") for box in page.selectbox)


@pytest.mark.usefixtures("sessions")
def test_words_find_a_session(screen):
    page = screen("sessions").text_input(key="search").set_value("refund take").run()

    assert listed(page) == [recorded.HEALTHY]


@pytest.mark.usefixtures("sessions")
def test_words_that_nobody_said_find_nothing_and_say_so(screen):
    page = screen("sessions").text_input(key="search").set_value("zebra").run()

    assert not page.exception
    assert text(page, "showing").startswith("No session matches.")


def test_a_long_list_comes_in_pages_of_fifty(screen, store):
    recorded.record(store, [(f"s-{n}", recorded.refund_policy()) for n in range(120)])

    page = screen("sessions")
    assert len(listed(page)) == 50
    assert text(page, "showing").startswith("Showing 1 to 50 of 120 sessions.")

    page = screen("sessions", page="3")
    assert len(listed(page)) == 20
    assert text(page, "showing").startswith("Showing 101 to 120 of 120 sessions.")


@pytest.mark.parametrize("page", ["0", "-1", "x", "9" * 5_000, "٣"])
@pytest.mark.usefixtures("sessions")
def test_a_page_that_does_not_exist_is_the_nearest_one(screen, page):
    assert len(listed(screen("sessions", page=page))) == 3


def test_a_new_session_appears_without_clearing_anything(screen, sessions):
    assert inbox_queries.facets().total == 3

    recorded.record(sessions, [("s-later", recorded.refund_policy())])

    assert inbox_queries.facets().total == 4
    assert "s-later" in listed(screen("sessions"))


def test_a_session_that_nobody_finishes_says_what_it_was_doing_and_how_to_go_on(screen, store):
    recorded.record(store, [("s-lost", recorded.running(pid=2**22 + 1))])

    row = component(screen("sessions"), "session_list")["rows"][0]

    assert row["outcome"] == "interrupted"
    assert row["verdict"] == (
        "The process went away while supervisor was at work. "
        f"To go on: handoff resume s-lost --db {store}"
    )


def test_a_store_that_a_command_takes_anyway_is_not_named(screen, store, monkeypatch):
    monkeypatch.chdir(store.parent)
    recorded.record(store, [("s-lost", recorded.running(pid=2**22 + 1))])
    store.rename(store.with_name("handoff.db"))
    monkeypatch.delenv("HANDOFF_DB")

    row = component(screen("sessions"), "session_list")["rows"][0]

    assert row["verdict"].endswith("To go on: handoff resume s-lost")


def test_a_waiting_session_says_what_it_waits_for(screen, samples):
    rows = {row["id"]: row for row in component(screen("sessions"), "session_list")["rows"]}

    assert rows[samples["helpdesk-a-person"]]["verdict"].startswith("A person is asked: My login")


def test_a_label_filters_the_list(screen, samples):
    page = screen("sessions")

    page = page.selectbox(key="label").set_value("sample: letters-waiting").run()

    assert listed(page) == [samples["letters-waiting"]]


def test_a_running_trial_that_only_its_label_shows_is_drawn_once(screen, store, monkeypatch):
    record_experiment(store, experiment())
    trial = recorded.running()
    started = trial.events[0].payload
    labels = {"experiment": "01kc-desk"}
    trial.events[0] = trial.events[0]._replace(
        payload=replace(started, origin="batch", metadata=labels)
    )
    recorded.record(store, [("s-policy", recorded.refund_policy()), ("s-trial", trial)])
    drawn: list[str | None] = []
    read = inbox_queries.sessions

    def counted(*asked):
        drawn.append(asked[0].label)
        assert len(drawn) < 10  # it would go on without end
        return read(*asked)

    page = screen("sessions").selectbox(key="label").set_value("experiment: 01kc-desk")
    monkeypatch.setattr(inbox_queries, "sessions", counted)

    assert listed(page.run()) == ["s-trial"]
    assert drawn == [("experiment", "01kc-desk")]


def test_re_runs_are_counted_on_the_row_of_the_session_they_repeat_and_can_be_shown(screen, store):
    again = Log(flow=recorded.FLOW).user("Why was I charged twice last month?")
    again.close(again.root("billing"), "not_found").end("not_found")
    started = again.sink.events[0]
    again.sink.events[0] = started._replace(
        payload=replace(
            started.payload,
            origin="rerun",
            rerun_of=recorded.FAILED,
            rerun_handoff="h3",
            rerun_mode="live",
        )
    )
    sessions = [(recorded.FAILED, recorded.double_charge()), ("s-again", again)]
    recorded.record(store, sessions)

    folded = component(screen("sessions"), "session_list")["rows"]
    unfolded = component(screen("sessions", reruns=recorded.FAILED), "session_list")["rows"]

    assert [(row["id"], row["reruns"]) for row in folded] == [(recorded.FAILED, "1 re-run")]
    assert [(row["id"], row["unfolded"], row["is_rerun"]) for row in unfolded] == [
        (recorded.FAILED, True, False),
        ("s-again", False, True),
    ]
    assert unfolded[1]["verdict"] == "h3 of it was run again (live)."
    assert unfolded[1]["outcome"] == "not_found"
    assert unfolded[1]["link"] == "session?session=s-again"


@pytest.mark.usefixtures("sessions")
def test_a_row_leads_nowhere_any_more_once_another_page_was_taken(screen):
    # The server hears of both clicks together: the row's is noted, and the other page is drawn.
    page = screen("sessions")
    page.session_state[state.LEAVING] = (recorded.FAILED, None)
    page.switch_page("screens/flows.py").run()

    assert len(listed(page.switch_page("screens/sessions.py").run())) == 3
