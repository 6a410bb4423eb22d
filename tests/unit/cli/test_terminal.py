"""Text in a terminal keeps its place: widths, wrapping, colours only where they belong."""

import io

import pytest

from handoff_console.console.cli.terminal import (
    Terminal,
    fitted,
    shown_names,
    width_of,
    wrapped,
)


class Screen(io.StringIO):
    """A stream that says it is a terminal."""

    def isatty(self) -> bool:
        return True


@pytest.fixture(autouse=True)
def plain(monkeypatch):
    for name in ("NO_COLOR", "FORCE_COLOR", "COLUMNS", "TERM"):
        monkeypatch.delenv(name, raising=False)


@pytest.mark.parametrize(
    ("text", "columns"),
    [
        ("abc", 3),
        ("日本", 4),
        ("e\u0301", 1),
        ("\x1b[31mred\x1b[0m", 3),
        ("a\u200bb", 2),
        ("✓ ok", 4),
    ],
)
def test_a_text_takes_as_many_columns_as_the_terminal_gives_it(text, columns):
    assert width_of(text) == columns


@pytest.mark.parametrize(
    ("text", "shown"),
    [("ab", "ab   "), ("abcde", "abcde"), ("abcdefg", "abcd…"), ("日本語", "日本…"), ("", "     ")],
)
def test_a_text_is_filled_or_cut_to_its_place(text, shown):
    assert fitted(text, 5) == shown
    assert width_of(fitted(text, 5)) == 5


def test_numbers_stand_at_the_right():
    assert fitted("12", 5, right=True) == "   12"


def test_words_are_not_torn_at_a_hyphen():
    assert wrapped("a well-known thing here", 20) == ["a well-known thing", "here"]


def test_a_list_of_nothing_says_none():
    assert shown_names([]) == "none"
    assert shown_names(["a", "b\x1b[31m"]) == "a, b"


def test_colours_stand_only_where_a_terminal_takes_them(monkeypatch):
    assert Terminal(io.StringIO()).styled("ok", "ok") == "ok"
    assert Terminal(Screen()).styled("ok", "ok") == "\x1b[32mok\x1b[0m"
    monkeypatch.setenv("TERM", "dumb")
    assert Terminal(Screen()).styled("ok", "ok") == "ok"
    monkeypatch.delenv("TERM")
    monkeypatch.setenv("NO_COLOR", "1")
    assert Terminal(Screen()).styled("ok", "ok") == "ok"
    monkeypatch.delenv("NO_COLOR")
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert Terminal(io.StringIO()).styled("ok", "error") == "\x1b[31mok\x1b[0m"


def test_a_file_has_80_columns_and_a_terminal_its_own_within_bounds(monkeypatch):
    assert Terminal(io.StringIO()).columns == 80
    for said, columns in (("40", 60), ("100", 100), ("400", 120)):
        monkeypatch.setenv("COLUMNS", said)
        assert Terminal(Screen()).columns == columns


def test_an_error_is_one_line_whatever_is_in_it():
    err = io.StringIO()

    Terminal(io.StringIO(), err).failure("two\nlines \x1b[2J and more")

    assert err.getvalue() == "handoff: two lines and more\n"


def test_a_paragraph_keeps_its_own_lines_and_is_wrapped_under_its_indent():
    out = io.StringIO()

    Terminal(out).paragraph("first\n\n" + "word " * 30, indent="    ")

    lines = out.getvalue().splitlines()
    assert lines[:2] == ["    first", ""]
    assert all(line.startswith("    word") and len(line) <= 80 for line in lines[2:])
