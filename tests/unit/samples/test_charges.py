"""What a customer is told about two charges on one day."""

from handoff_console.sample_runs.charges import explain, last_month
from handoff_console.sample_runs.ledger import list_payments


def payment(number: int, amount_cents: int, purpose: str = "Team", date: str = "2026-10-14"):
    return {
        "payment_id": f"PAY-{number}",
        "date": date,
        "amount_cents": amount_cents,
        "purpose": purpose,
    }


CHANGE = {"date": "2026-10-14", "from_plan": "Basic", "to_plan": "Team"}


def test_payments_on_different_days_need_no_explanation():
    assert explain([payment(1, 500), payment(2, 500, date="2026-10-15")], []) is None


def test_no_payments_need_no_explanation():
    assert explain([], []) is None


def test_the_same_charge_twice_on_a_day_is_proposed_to_be_refunded():
    found = explain([payment(1, 500), payment(2, 500)], [])

    assert found is not None
    assert found.refund_proposal == {
        "payment_id": "PAY-2",
        "amount_cents": 500,
        "reason": "charged twice on 2026-10-14",
        "needs": "approval by a person",
    }


def test_two_charges_for_different_things_are_no_double_charge():
    found = explain([payment(1, 500, "Top-up"), payment(2, 1_900, "Basic")], [])

    assert found is not None
    assert found.text.endswith("They are for different things, so neither is a double charge.")
    assert found.refund_proposal is None


def test_an_upgrade_that_was_prorated_is_explained_and_nothing_is_owed():
    found = explain([payment(1, 1_900, "Basic"), payment(2, 3_000)], [CHANGE])

    assert found is not None
    assert found.text.endswith("It was prorated correctly, so nothing is owed.")
    assert found.refund_proposal is None


def test_an_upgrade_charged_in_full_owes_the_difference():
    found = explain([payment(1, 1_900, "Basic"), payment(2, 4_900)], [CHANGE])

    assert found is not None
    assert found.refund_proposal is not None
    assert found.refund_proposal["amount_cents"] == 1_900


def test_the_month_before_january_is_in_the_year_before():
    assert last_month("2027-01-09") == ("2026-12-01", "2026-12-31")
    assert last_month("2028-03-31") == ("2028-02-01", "2028-02-29")


def test_pages_of_payments_follow_each_other_without_a_gap():
    pages = [list_payments("5120", "2026-10-01", "2026-10-31", page) for page in range(1, 9)]

    rows = [row for page in pages for row in page["payments"]]
    assert [page["next_page"] for page in pages] == [2, 3, 4, 5, 6, 7, 8, None]
    assert len(rows) == 32
    assert rows == sorted(rows, key=lambda row: row["payment_id"])
