"""Routing by descriptions: to one domain, or to none and saying so."""

import pytest
from support.samples import ran

from handoff_console.sample_runs import sample
from handoff_console.sample_runs.domains import DOMAINS


def test_triage_may_hand_off_to_all_ten_domains_and_they_to_nobody():
    triage, *specialists = sample("domains").flow.agents

    assert [edge.target for edge in triage.edges] == list(DOMAINS)
    assert len(specialists) == 10
    assert all(not specialist.edges for specialist in specialists)


@pytest.mark.parametrize("domain", DOMAINS)
def test_an_example_of_a_domain_is_routed_to_it(domain):
    for example in DOMAINS[domain].examples:
        assert ran("domains", example).opened() == [("triage", domain)]


@pytest.mark.parametrize(
    ("message", "because"),
    [
        ("who painted the mona lisa", "no agent's description has any of its words"),
        ("", "no agent's description has any of its words"),
    ],
)
def test_what_nothing_matches_is_handed_to_nobody(message, because):
    session = ran("domains", message)

    assert session.opened() == []
    assert session.answer == f"I do not know who should take this: {because}."
    assert session.status == "ok"


def test_the_reason_of_a_handoff_names_the_words_that_matched():
    session = ran("domains", "my tire is flat")

    assert session.lines[0].startswith(
        "[handoff] triage -> auto_and_commute (matched: tire, flat (score "
    )
