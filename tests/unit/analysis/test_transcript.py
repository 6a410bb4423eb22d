"""A session as lines of text."""

from support.logs import Log

from handoff_console.store.analysis.transcript import transcript


def test_a_transfer_and_an_answer_are_a_line_each():
    log = Log().user("I need a refund")
    triage = log.root("triage")
    log.step(triage)
    billing = log.transfer(triage, "billing", reason="billing question")
    log.step(billing).close(billing, values={"text": "I can help."}).end()

    assert transcript(log.events, log.body) == [
        "[handoff] triage -> billing (billing question)",
        "[billing] I can help.",
    ]


def test_a_call_is_a_handoff_too_and_a_stopped_worker_says_by_what():
    log = Log().user("Look it up")
    root = log.root("supervisor")
    log.step(root)
    child = log.call(root, "billing", grant=2_000, task="Look it up", reason="it is needed")
    log.step(child).close(child, "limit_reached", reason="steps", notes="step cap hit: 1 step")
    log.step(root).close(root, values={"text": "Partly."}).end()

    assert transcript(log.events, log.body) == [
        "[handoff] supervisor -> billing (it is needed)",
        "[billing] limit_reached (steps): step cap hit: 1 step",
        "[supervisor] Partly.",
    ]


def test_a_refused_handoff_names_the_rule():
    log = Log().user("Go on")
    root = log.root("triage")
    log.step(root)
    log.call(root, "nobody", refused="target")
    log.close(root, "error", notes="nobody could help").end("error")

    assert transcript(log.events, log.body) == [
        "[refused] triage -> nobody (target)",
        "[triage] error: nobody could help",
    ]


def test_without_bodies_the_notes_are_shown_or_else_the_status():
    log = Log().user("Go on")
    root = log.root("triage")
    log.step(root).close(root, notes="done", values={"text": "The answer."}).end()

    assert transcript(log.events) == ["[triage] done"]


def test_a_session_that_has_only_begun_has_no_lines():
    log = Log().user("Go on")

    assert transcript([], None) == []
    assert transcript(log.events, log.body) == []


def test_what_was_recorded_stays_on_its_line_and_moves_no_cursor():
    log = Log().user("x")
    root = log.root("tri\nage")
    log.step(root).close(root, values={"text": "one\ntwo\x1b[2J\u202etfel"}).end()

    assert transcript(log.events, log.body) == ["[tri age] one twotfel"]


def test_a_result_of_any_other_form_shows_its_notes():
    log = Log().user("Go on")
    root = log.root("triage")
    log.step(root).close(root, notes="done", values={"text": "The answer."}).end()

    assert transcript(log.events, lambda _digest: {"of": "another stack"}) == ["[triage] done"]
