"""What the verbs take that keep a store in order."""

import argparse

from handoff_console.console.cli.arguments import SESSION_HELP, as_json


def import_(one: argparse.ArgumentParser) -> None:
    """Take what `handoff import` does."""
    one.add_argument("files", metavar="FILE", nargs="+", help="JSON lines, as `export` writes them")
    one.add_argument("--dry-run", action="store_true", help="only say what would be imported")
    as_json(one)


def export(one: argparse.ArgumentParser) -> None:
    """Take what `handoff export` does."""
    one.add_argument("sessions", metavar="SESSION", nargs="*", help=SESSION_HELP)
    one.add_argument("--all", action="store_true", help="every session of the store")
    one.add_argument(
        "--to",
        metavar="FORM",
        nargs="+",
        default=["jsonl"],
        help="jsonl (the default), or pytest HANDOFF: a test that holds what it came to",
    )
    one.add_argument("--flow", metavar="FLOW", default="", help="with pytest: path/to/file.py:name")
    one.add_argument("-o", "--output", metavar="FILE", help="(default: standard output)")


def delete(one: argparse.ArgumentParser) -> None:
    """Take what `handoff delete` does."""
    one.add_argument("sessions", metavar="SESSION", nargs="+", help=SESSION_HELP)
    one.add_argument("--yes", action="store_true", help="do not ask")


def prune(one: argparse.ArgumentParser) -> None:
    """Take what `handoff prune` does."""
    one.add_argument(
        "--before",
        metavar="WHEN",
        required=True,
        help="those begun before: 2026-01-31, or 90m, 12h, 7d ago",
    )
    one.add_argument("--yes", action="store_true", help="do not ask")


def only_json(one: argparse.ArgumentParser) -> None:
    """Take `--json` and nothing else."""
    as_json(one)


def nothing(_one: argparse.ArgumentParser) -> None:
    """Take nothing."""
