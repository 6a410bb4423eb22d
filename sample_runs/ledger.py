"""The books that the billing samples read: payments, invoices, plans. All of it is invented.

Amounts are in cents. The functions are tools: what they return depends on their arguments alone.
"""

from typing import Any

TODAY = "2026-11-25"
"""The date in every sample."""

PAGE_ROWS = 4
"""Payments on a page: a customer with many of them takes many steps to read."""

SIGNED_IN = "4812"

_Row = dict[str, Any]

CUSTOMERS: dict[str, str] = {"4812": "Team", "5120": "Prepaid", "6033": "Basic"}
"""Customer ids with the plan they are on."""

PRICES_CENTS = {"Basic": 1_900, "Team": 4_900, "Prepaid": 0}
"""A month of each plan."""

_PLAN_CHANGES: dict[str, list[_Row]] = {
    "4812": [{"date": "2026-10-14", "from_plan": "Basic", "to_plan": "Team"}],
    "5120": [{"date": "2026-02-01", "from_plan": "Basic", "to_plan": "Prepaid"}],
}


def _payment(number: int, date: str, amount_cents: int, purpose: str) -> _Row:
    return {
        "payment_id": f"PAY-{number}",
        "date": date,
        "amount_cents": amount_cents,
        "purpose": purpose,
    }


_TOP_UP_DAYS = [*range(1, 30), 29, 30, 31]
"""Somebody who tops up every day, on the 29th twice."""

_PAYMENTS: dict[str, list[_Row]] = {
    "4812": [
        _payment(7188, "2026-09-14", 1_900, "Basic, 14 Sep to 13 Oct"),
        _payment(7301, "2026-10-14", 1_900, "Basic, 14 Oct to 13 Nov"),
        _payment(7302, "2026-10-14", 4_900, "Team, 14 Oct to 13 Nov"),
        _payment(7455, "2026-11-14", 4_900, "Team, 14 Nov to 13 Dec"),
    ],
    "5120": [
        _payment(8000 + number, f"2026-10-{day:02}", 500, "Top-up")
        for number, day in enumerate(_TOP_UP_DAYS, 1)
    ],
    "6033": [
        _payment(7290, "2026-10-03", 1_900, "Basic, 3 Oct to 2 Nov"),
        _payment(7461, "2026-11-03", 1_900, "Basic, 3 Nov to 2 Dec"),
    ],
}

_INVOICES: dict[str, list[_Row]] = {
    customer: [
        {
            "invoice_id": f"INV-{row['payment_id'][4:]}",
            "date": row["date"],
            "amount_cents": row["amount_cents"],
        }
        for row in rows
        if row["purpose"] != "Top-up"
    ]
    for customer, rows in _PAYMENTS.items()
}


def caller() -> _Row:
    """Say who is signed in, and which day it is."""
    return {"customer_id": SIGNED_IN, "today": TODAY}


def list_payments(
    customer_id: str, since: str = "", until: str = "9999-12-31", page: int = 1
) -> _Row:
    """List a customer's payments in a range of dates, oldest first, a page at a time."""
    rows = _within(_PAYMENTS, customer_id, since, until)
    start = (page - 1) * PAGE_ROWS
    more = start + PAGE_ROWS < len(rows)
    return {
        "payments": rows[start : start + PAGE_ROWS],
        "next_page": page + 1 if more else None,
    }


def list_invoices(customer_id: str, since: str = "", until: str = "9999-12-31") -> list[_Row]:
    """List a customer's invoices in a range of dates, newest first."""
    return _within(_INVOICES, customer_id, since, until)[::-1]


def plan_history(customer_id: str, since: str = "", until: str = "9999-12-31") -> _Row:
    """Say which plan a customer is on, and how it changed in a range of dates."""
    return {
        "plan": CUSTOMERS.get(customer_id, ""),
        "changes": _within(_PLAN_CHANGES, customer_id, since, until),
    }


def _within(table: dict[str, list[_Row]], customer_id: str, since: str, until: str) -> list[_Row]:
    return [row for row in table.get(customer_id, ()) if since <= row["date"] <= until]
