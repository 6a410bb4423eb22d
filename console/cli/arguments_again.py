"""The arguments of the verbs that go on with a session, or run a part of it again."""

import argparse

from handoff_console.console.cli.arguments import count, session

MODES = ("verify", "what-if", "live-reads", "live", "continue")


def approve(one: argparse.ArgumentParser) -> None:
    """Take what `approve` needs."""
    session(one)
    one.add_argument(
        "approval", metavar="APPROVAL", nargs="?", help="which act, where several wait"
    )
    one.add_argument("--no", action="store_true", help="say no to it")
    one.add_argument(
        "--set", metavar="NAME=VALUE", action="append", default=[], help="send another value"
    )
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
    _models(one)
    one.add_argument(
        "--happened",
        metavar="PLACE[=JSON]",
        action="append",
        default=[],
        help="an act of unknown outcome happened, and what came back",
    )
    one.add_argument(
        "--not-happened", metavar="PLACE", action="append", default=[], help="it did not happen"
    )
    one.add_argument(
        "--leave-unknown", action="store_true", help="go on without knowing; the agent is told so"
    )
    one.add_argument(
        "--take-over",
        action="store_true",
        help="the process of another machine that ran it is gone",
    )
    one.add_argument("--json", action="store_true", help="print JSON")
    one.add_argument(
        "--fail-on",
        metavar="STATUS",
        action="extend",
        nargs="+",
        default=[],
        help="exit 1 when the session ends so",
    )


def rerun(one: argparse.ArgumentParser) -> None:
    """Take what `rerun` needs."""
    session(one)
    one.add_argument("handoff", metavar="HANDOFF", help="which of its handoffs: h3")
    one.add_argument(
        "--mode",
        choices=MODES,
        help="how much is real (default: verify; with a change or --times, what-if)",
    )
    _flow(one)
    changes = one.add_argument_group("what is changed")
    changes.add_argument("--task", metavar="TEXT", help="another task")
    changes.add_argument(
        "--set", metavar="inputs.NAME=JSON", action="append", default=[], help="another input"
    )
    changes.add_argument(
        "--unset", metavar="inputs.NAME", action="append", default=[], help="leave an input out"
    )
    changes.add_argument("--tools", metavar="A,B", help="the tools it may use; empty for none")
    changes.add_argument(
        "--limits",
        metavar="NAME=NUMBER",
        action="append",
        default=[],
        help="max_steps, max_tokens or deadline_seconds",
    )
    changes.add_argument("--output-schema", metavar="NAME", help="what it has to answer with")
    prompts = changes.add_mutually_exclusive_group()
    prompts.add_argument("--prompt", metavar="FILE", help="other instructions for its agent")
    prompts.add_argument("--prompts", metavar="V", help="its agent's prompt of this version")
    changes.add_argument("--prompts-dir", metavar="DIR", help="where prompt versions are")
    changes.add_argument("--model", metavar="SPEC", help="another model for its agent")
    changes.add_argument(
        "--tool-result",
        metavar="TOOL=JSON",
        action="append",
        default=[],
        help="pretend that a tool, or the call STEP.CALL, returned this",
    )
    changes.add_argument(
        "--arm",
        metavar="TOOL",
        action="append",
        default=[],
        help="let this tool act again, after a yes (with --mode live)",
    )
    one.add_argument(
        "--graft", metavar="SESSION", help="with --mode continue: take over this re-run's answers"
    )
    one.add_argument("--times", metavar="N", type=count, default=1, help="(default: 1)")
    one.add_argument("--plan", action="store_true", help="only say what it would take")
    one.add_argument("--json", action="store_true", help="print JSON")


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
    one.add_argument("--plan", action="store_true", help="only say what it would take")
    one.add_argument("--json", action="store_true", help="print JSON")


def _flow(one: argparse.ArgumentParser) -> None:
    one.add_argument(
        "--flow",
        metavar="FLOW",
        default="",
        help="the flow it ran, path/to/file.py:name (needless for samples)",
    )


def _models(one: argparse.ArgumentParser) -> None:
    one.add_argument(
        "--model",
        metavar="SPEC",
        action="append",
        default=[],
        help="the model it ran on, for every agent or AGENT=SPEC",
    )


def _by(one: argparse.ArgumentParser, does: str) -> None:
    one.add_argument("--by", metavar="NAME", default="", help=f"who {does} (default: you)")
