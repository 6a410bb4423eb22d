"""What several verbs take, and what an argument has to be."""

import argparse
from typing import Any, Protocol

SESSION_HELP = "a session's id, or how it begins or ends"


def count(text: str) -> int:
    """Return a whole number from 1 on.

    Raises:
        argparse.ArgumentTypeError: It is none.
    """
    number = int(text) if text.isascii() and text.isdigit() and len(text) < 16 else 0
    if number < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is no whole number from 1 on")
    return number


def offset(text: str) -> int:
    """Return a whole number from 0 on.

    Raises:
        argparse.ArgumentTypeError: It is none.
    """
    return 0 if text == "0" else count(text)


def port(text: str) -> int:
    """Return the number of a port.

    Raises:
        argparse.ArgumentTypeError: It is none.
    """
    number = count(text)
    if number > 65_535:
        raise argparse.ArgumentTypeError(f"{text!r} is no port; ports go from 1 to 65535")
    return number


def session(one: argparse.ArgumentParser) -> None:
    """Take a session."""
    one.add_argument("session", metavar="SESSION", help=SESSION_HELP)


def as_json(one: argparse.ArgumentParser, says: str = "print JSON") -> None:
    """Take whether JSON is printed."""
    one.add_argument("--json", action="store_true", help=says)


def fail_on(one: argparse.ArgumentParser, what: str, says: str) -> None:
    """Take what makes the exit status 1; may be given several times, and several at once."""
    one.add_argument("--fail-on", metavar=what, action="extend", nargs="+", default=[], help=says)


class Options(Protocol):
    """A parser, or a group of its options."""

    def add_argument(self, *names: str, **how: Any) -> Any:
        """Take one more option."""


def several(one: Options, name: str, what: str, says: str) -> None:
    """Take an option that may be given several times."""
    one.add_argument(name, metavar=what, action="append", default=[], help=says)


def models(one: argparse.ArgumentParser, says: str) -> None:
    """Take models, for every agent or one by one."""
    several(one, "--model", "SPEC", says)
