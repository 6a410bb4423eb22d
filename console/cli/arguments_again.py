"""The arguments of the verbs that go on with a session, or run a part of it again."""

import argparse

from handoff_console.console.cli.arguments import (
    as_json,
    count,
    fail_on,
    models,
    offset,
    session,
    several,
)

MODES = ("verify", "what-if", "live-reads", "live", "continue")


def approve(one: argparse.ArgumentParser) -> None:
    """Take what `approve` needs."""
    session(one)
    one.add_argument(
        "approval", metavar="APPROVAL", nargs="?", help="which act, where several wait"
    )
    one.add_argument("--no", action="store_true", help="say no to it")
    several(one, "--set", "NAME=VALUE", "send another value")
    _values(one)
    _flow(one)
    models(one, "the model it ran on, for every agent or AGENT=SPEC")
    _by(one, "decides")
    one.add_argument("--note", metavar="TEXT", default="", help="why")


def answer(one: argparse.ArgumentParser) -> None:
    """Take what `answer` needs."""
    session(one)
    one.add_argument("text", metavar="TEXT", help="the answer")
    one.add_argument("--handoff", metavar="HANDOFF", default="", help="whose question, of several")
    _by(one, "answers")


def resume(one: argparse.ArgumentParser) -> None:
    """Take what `resume` needs."""
    session(one)
    _flow(one)
    models(one, "the model it ran on, for every agent or AGENT=SPEC")
    several(
        one, "--happened", "PLACE[=JSON]", "an act of unknown outcome happened, and what came back"
    )
    several(one, "--not-happened", "PLACE", "it did not happen")
    one.add_argument(
        "--leave-unknown", action="store_true", help="go on without knowing; the agent is told so"
    )
    _values(one)
    one.add_argument(
        "--take-over",
        action="store_true",
        help="the process of another machine that ran it is gone",
    )
    as_json(one)
    fail_on(one, "STATUS", "exit 1 when the session ends so")


def rerun(one: argparse.ArgumentParser) -> None:
    """Take what `rerun` needs."""
    session(one)
    one.add_argument(
        "handoff",
        metavar="HANDOFF",
        nargs="?",
        default="",
        help="which of its handoffs: h3 (without one, those there are are listed)",
    )
    one.add_argument(
        "--mode",
        choices=MODES,
        help="how much is real (default: verify; with a change or --times, what-if)",
    )
    _flow(one)
    _values(one)
    _changes(one)
    one.add_argument(
        "--graft", metavar="SESSION", help="with --mode continue: take over this re-run's answers"
    )
    one.add_argument("--times", metavar="N", type=count, default=1, help="(default: 1)")
    one.add_argument("--plan", action="store_true", help="only say what it would take")
    as_json(one)


def _changes(one: argparse.ArgumentParser) -> None:
    changes = one.add_argument_group("what is changed")
    changes.add_argument("--task", metavar="TEXT", help="another task")
    several(changes, "--set", "inputs.NAME=JSON", "another input")
    several(changes, "--unset", "inputs.NAME", "leave an input out")
    several(
        changes,
        "--packet",
        "NAME=VALUE",
        "another goal, summary or claimed.NAME of the packet that came along",
    )
    changes.add_argument("--tools", metavar="A,B", help="the tools it may use; empty for none")
    several(changes, "--limits", "NAME=NUMBER", "max_steps, max_tokens or deadline_seconds")
    changes.add_argument("--output-schema", metavar="NAME", help="what it has to answer with")
    prompts = changes.add_mutually_exclusive_group()
    prompts.add_argument("--prompt", metavar="FILE", help="other instructions for its agent")
    prompts.add_argument("--prompts", metavar="V", help="its agent's prompt of this version")
    changes.add_argument("--prompts-dir", metavar="DIR", help="where prompt versions are")
    changes.add_argument("--model", metavar="SPEC", help="another model for its agent")
    several(
        changes,
        "--tool-result",
        "TOOL=JSON",
        "pretend that a tool, or the call STEP.CALL, returned this",
    )
    several(changes, "--arm", "TOOL", "let this tool act again, after a yes (with --mode live)")
    several(changes, "--deny", "TOOL", "pretend that a person said no to this tool")


def diff(one: argparse.ArgumentParser) -> None:
    """Take what `diff` needs."""
    for name, what in (("left", "one of the two"), ("right", "the other one")):
        one.add_argument(name, metavar=name.upper(), help=f"{what}: a session, or SESSION:HANDOFF")
    as_json(one)


def bisect(one: argparse.ArgumentParser) -> None:
    """Take what `bisect` needs."""
    for name, what in (("failed", "the attempt that failed"), ("good", "one that went well")):
        one.add_argument(
            name, metavar=name.upper(), help=f"{what}: SESSION:HANDOFF; of a re-run its session"
        )
    one.add_argument(
        "--mode", choices=("what-if", "live-reads"), default="what-if", help="(default: what-if)"
    )
    one.add_argument(
        "--repeats", metavar="N", type=count, default=3, help="how often each is tried (default: 3)"
    )
    _flow(one)
    _values(one)
    one.add_argument("--plan", action="store_true", help="only say what it would take")
    as_json(one)


def budget(one: argparse.ArgumentParser) -> None:
    """Take what `budget` needs."""
    session(one)
    one.add_argument("--pool", metavar="TOKENS", type=count, help="the pool of each request")
    several(
        one,
        "--limits",
        "[AGENT.]NAME=NUMBER",
        "max_steps, max_tokens or deadline_seconds of an agent's handoffs; of all without AGENT",
    )
    for name, says in (
        ("--max-handoffs", "transfers of a request"),
        ("--max-workers", "calls of a request"),
        ("--max-edge-repeats", "how often a transfer may be repeated"),
        ("--depth", "how deep calls may go"),
    ):
        one.add_argument(name, metavar="N", type=offset, help=says)
    as_json(one)


def _flow(one: argparse.ArgumentParser) -> None:
    one.add_argument(
        "--flow",
        metavar="FLOW",
        default="",
        help="the flow it ran, path/to/file.py:name (needless for samples)",
    )


def _values(one: argparse.ArgumentParser) -> None:
    several(
        one,
        "--value",
        "NAME=VALUE",
        "what was left out of the record as [redacted: NAME]; NAME in PLACE=VALUE for one place",
    )
    one.add_argument(
        "--leave-marks",
        action="store_true",
        help="let marks be read where values were left out of the record",
    )


def _by(one: argparse.ArgumentParser, does: str) -> None:
    one.add_argument("--by", metavar="NAME", default="", help=f"who {does} (default: you)")
