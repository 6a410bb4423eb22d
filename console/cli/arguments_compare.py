"""What the verbs take that compare prompt versions."""

import argparse

from handoff_console.console.cli.arguments import as_json, count

STORED = "an experiment: the beginning or the end of its id (default: the newest)"


def compare(one: argparse.ArgumentParser) -> None:
    """Take what `compare` needs."""
    one.add_argument(
        "versions",
        metavar="VERSION",
        nargs="+",
        help="the baseline, then candidates; one alone is compared with the baseline that is set",
    )
    one.add_argument("--dataset", metavar="FILE", required=True, help="labelled requests")
    one.add_argument("--flow", metavar="FLOW", default="", help="(default: the data set's)")
    one.add_argument(
        "--model",
        metavar="SPEC",
        default="offline:bm25",
        help="who routes (default: offline:bm25); own is whom the flow names",
    )
    one.add_argument("--prompts-dir", metavar="DIR", help="where prompt versions are")
    one.add_argument(
        "--mode",
        choices=("route", "full"),
        default="route",
        help="the first decision (the default), or whole sessions",
    )
    run = one.add_argument_group("how it is run")
    run.add_argument("--trials", metavar="N", type=count, default=1, help="of each (default: 1)")
    run.add_argument("--jobs", metavar="N", type=count, default=4, help="at a time (default: 4)")
    run.add_argument("--max-tokens", metavar="N", type=count, help="stop before it takes more")
    run.add_argument(
        "--only",
        choices=("changed", "failed", "regressed", "errors"),
        default="",
        help="only cases that are new, or came out so the last time",
    )
    run.add_argument("--tags", metavar="TAG", nargs="+", default=[], help="only cases with one")
    fresh = run.add_mutually_exclusive_group()
    fresh.add_argument("--resume", action="store_true", help="go on from the record (the default)")
    fresh.add_argument("--fresh", action="store_true", help="run everything again")
    run.add_argument("--plan", action="store_true", help="only say what it would take")
    run.add_argument("--seed", metavar="N", type=int, default=0, help="of drawn intervals")
    _gate(one)
    one.add_argument(
        "--format",
        choices=("text", "json", "md", "junit"),
        default="text",
        help="(default: text)",
    )
    one.add_argument("-o", "--output", metavar="FILE", help="(default: standard output)")
    one.add_argument("--open", action="store_true", help="then open the console on it")


def _gate(one: argparse.ArgumentParser) -> None:
    gate = one.add_argument_group("what a candidate has to hold")
    gate.add_argument("--alpha", metavar="P", type=_share, default=0.05, help="(default: .05)")
    gate.add_argument(
        "--max-drop", metavar="POINTS", type=_points, default=2.0, help="(default: 2)"
    )
    gate.add_argument("--min-accuracy", metavar="PERCENT", type=_points, help="right at least")
    gate.add_argument(
        "--no-critical-regressions", action="store_true", help="no critical case may regress"
    )
    gate.add_argument(
        "--max-errors", metavar="N", type=_whole, default=0, help="cases without a decision"
    )
    gate.add_argument("--strict", action="store_true", help="exit 3 when it cannot be told")


def route(one: argparse.ArgumentParser) -> None:
    """Take what `route` needs."""
    one.add_argument("text", metavar="TEXT", help="what the user says")
    one.add_argument("--flow", metavar="FLOW", default="servicedesk", help="(default: servicedesk)")
    one.add_argument(
        "--prompts", metavar="V", default=".", help="this prompt version (default: the flow's own)"
    )
    one.add_argument("--prompts-dir", metavar="DIR", help="where prompt versions are")
    one.add_argument(
        "--model", metavar="SPEC", default="offline:bm25", help="(default: offline:bm25)"
    )
    as_json(one)


def dataset(one: argparse.ArgumentParser) -> None:
    """Take what `dataset` needs."""
    one.add_argument("action", choices=("check", "import", "split"))
    one.add_argument("file", metavar="FILE", help="the data set; with import, what is read")
    one.add_argument("--flow", metavar="FLOW", default="", help="(default: the data set's)")
    one.add_argument("--prompts-dir", metavar="DIR", help="where prompt versions are")
    one.add_argument(
        "--from",
        dest="form",
        choices=("csv", "clinc", "banking77"),
        default="csv",
        help="with import: its form (default: csv)",
    )
    one.add_argument(
        "--map", metavar="FILE", help="with import: JSON, from the labels to the agents"
    )
    one.add_argument(
        "--part", metavar="NAME", default="test", help="with import clinc: which (default: test)"
    )
    one.add_argument(
        "--share", metavar="PERCENT", type=_points, default=30.0, help="with split: for dev"
    )
    one.add_argument("--seed", metavar="N", type=int, default=0, help="with split")
    as_json(one, "with check: print JSON")
    one.add_argument("-o", "--output", metavar="FILE", help="(default: standard output)")


def prompts(one: argparse.ArgumentParser) -> None:
    """Take what `prompts` needs."""
    one.add_argument("action", choices=("diff",))
    one.add_argument("before", metavar="A", help="a prompt version")
    one.add_argument("after", metavar="B", help="another one")
    one.add_argument("--flow", metavar="FLOW", default="servicedesk", help="(default: servicedesk)")
    one.add_argument("--prompts-dir", metavar="DIR", help="where prompt versions are")
    as_json(one)


def baseline(one: argparse.ArgumentParser) -> None:
    """Take what `baseline` needs."""
    one.add_argument("action", choices=("set",))
    one.add_argument("experiment", metavar="EXPERIMENT", nargs="?", default="", help=STORED)
    one.add_argument("label", metavar="VERSION", nargs="?", default="", help="(default: its last)")


def _share(text: str) -> float:
    value = _number(text)
    if not 0 < value < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is no share between 0 and 1")
    return value


def _points(text: str) -> float:
    value = _number(text)
    if not 0 <= value <= 100:
        raise argparse.ArgumentTypeError(f"{text!r} lies outside 0 to 100")
    return value


def _whole(text: str) -> int:
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f"{text!r} is no whole number from 0")
    return int(text)


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is no number") from None
