"""What several verbs take, and what an argument has to be."""

import argparse

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
