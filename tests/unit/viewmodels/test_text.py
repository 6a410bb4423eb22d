"""Recorded text and numbers on a screen: on one line, in few words, harmless."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from handoff_console.console.viewmodels.text import (
    ago,
    amount,
    block,
    count,
    money,
    one_line,
    pretty,
    seconds,
    signed,
)
from handoff_console.store.analysis.plain_text import listed


@pytest.mark.parametrize(
    ("recorded", "shown"),
    [
        ("plain", "plain"),
        ("  two\n\tlines\r\n", "two lines"),
        ("nul \x00 bell \x07 escape \x1b", r"nul \x00 bell \x07 escape \x1b"),
        ("\x1b[31;1mred\x1b[0m and \x1b]8;;http://x\x07link\x1b]8;;\x07", "red and link"),
        ("\u202egnp.exe\u202c \u2066x\u2069", "gnp.exe x"),
        ("zero\u200bwidth\ufeff", "zerowidth"),
        ("hidden\U000e0041\U000e0042", "hidden"),
        ("lone \ud800 half", "lone \ufffd half"),
        ("line\u2028separator\u0085next", "line separator next"),
        ("👩‍👩‍👧 नमस्ते שלום 中文", "👩‍👩‍👧 नमस्ते שלום 中文"),
        ("<b>&amp;", "<b>&amp;"),
        ("", ""),
    ],
)
def test_a_line_shows_text_that_can_do_nothing_but_be_read(recorded, shown):
    assert one_line(recorded) == shown


def test_a_line_that_is_cut_says_so():
    assert one_line("word " * 20, 12) == "word word w…"
    assert one_line("x" * 12, 12) == "x" * 12
    assert one_line("x" * 13, 12) == "x" * 11 + "…"


def test_a_line_of_a_megabyte_fits_too():
    assert len(one_line("\u202e\x1b[31m" * 200_000, 80)) <= 80


@given(st.text(max_size=300), st.integers(2, 80))
def test_whatever_was_recorded_fits_on_its_line(text, limit):
    shown = one_line(text, limit)

    assert len(shown) <= limit
    assert len(shown.splitlines()) <= 1
    assert "\x1b" not in shown
    assert "\x00" not in shown
    shown.encode()


def test_a_block_keeps_its_lines_and_says_what_is_left_out():
    assert block("one\n\ttwo\r\nthree\x00") == "one\n\ttwo\nthree\\x00"
    assert block("x" * 1_000_000, 5) == "xxxxx\n… 999,995 more characters"


def test_json_is_indented_and_text_stays_text():
    assert pretty({"ordre": "é", "n": 1}) == '{\n  "ordre": "é",\n  "n": 1\n}'
    assert pretty("plain") == "plain"


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (0.0, "0 s"),
        (-1.0, "0 s"),
        (0.0004, "0.4 ms"),
        (0.03, "30 ms"),
        (0.9996, "1.0 s"),
        (14.2, "14.2 s"),
        (185.0, "3 min 5 s"),
        (7_800.0, "2 h 10 min"),
    ],
)
def test_durations_are_said_as_people_say_them(value, shown):
    assert seconds(value) == shown


@pytest.mark.parametrize(
    ("age", "shown"),
    [
        (0, "now"),
        (-5, "now"),
        (5, "5 s ago"),
        (61, "1 min ago"),
        (7_300, "2 h ago"),
        (90_000, "1 d ago"),
        (31_557_599, "365 d ago"),
        (220_000_000, "6 y ago"),
    ],
)
def test_ages_come_in_their_largest_unit(age, shown):
    assert ago(age) == shown


def test_numbers_have_their_thousands_apart():
    assert (amount(12_345), signed(-1_200), signed(7), signed(0)) == ("12,345", "−1,200", "+7", "")
    assert (count(1, "handoff"), count(2, "handoff"), count(2, "retry", "retries")) == (
        "1 handoff",
        "2 handoffs",
        "2 retries",
    )


def test_names_are_listed_as_in_a_sentence():
    assert listed([]) == "nobody"
    assert listed(["a"]) == "a"
    assert listed(["a", "b", "c"]) == "a, b and c"
    assert listed(["a", "b", "c", "d"]) == "a, b and 2 more"


@pytest.mark.parametrize(
    ("cost", "currency", "said"),
    [
        (0.01234, "USD", "0.0123 USD"),
        (12.0, "EUR", "12.0000 EUR"),
        (0.00001, "USD", "under 0.0001 USD"),
        (0.0, "USD", "0.0000 USD"),
        (0.5, "", "0.5000"),
    ],
)
def test_money_stands_with_its_currency_and_little_is_not_nothing(cost, currency, said):
    assert money(cost, currency) == said
