"""What can be typed: every verb with its arguments, and the help that `handoff --help` prints.

This module and its neighbours load nothing slow: what a verb needs is imported when it runs.
"""

import argparse
from collections.abc import Callable
from typing import Any, NamedTuple, NoReturn

from handoff_console.console.cli.arguments import (
    SESSION_HELP,
    as_json,
    count,
    fail_on,
    models,
    offset,
    port,
    session,
    several,
)
from handoff_console.console.cli.arguments_again import (
    answer,
    approve,
    bisect,
    budget,
    diff,
    rerun,
    resume,
)
from handoff_console.console.cli.arguments_compare import (
    baseline,
    compare,
    dataset,
    prompts,
    route,
)
from handoff_console.console.cli.arguments_keep import (
    delete,
    export,
    import_,
    nothing,
    only_json,
    prune,
)
from handoff_console.console.cli.mistyped import not_first, not_taken

STORE_HELP = "the store (default: $HANDOFF_DB, or handoff.db in the current folder)"


class WrongUsage(Exception):
    """The command line cannot be understood; the text is one sentence."""


class Verb(NamedTuple):
    """One verb of the command line."""

    name: str
    family: str
    summary: str
    """One line, for the list of verbs."""
    run: str
    """`module:function` that carries it out."""
    arguments: Callable[[argparse.ArgumentParser], None]
    details: str = ""
    """What its own help says besides."""
    takes_store: bool = True
    """Whether its help offers `--db`."""


class _Parser(argparse.ArgumentParser):
    """Says what is wrong in one sentence, and leaves printing and exiting to `main`."""

    def error(self, message: str) -> NoReturn:
        raise WrongUsage(f"{self.prog}: {message} (see `{self.prog} --help`)")


def parser() -> argparse.ArgumentParser:
    """Return the parser of the whole command line."""
    root = _Parser(prog="handoff", add_help=False, allow_abbrev=False)
    root.add_argument("-h", "--help", action="store_true")
    root.add_argument("--version", action="store_true")
    root.add_argument("--db", metavar="FILE")
    verbs = root.add_subparsers(dest="verb", metavar="VERB", parser_class=_Parser)
    for verb in VERBS:
        one = verbs.add_parser(
            verb.name,
            description=f"{verb.summary[0].upper()}{verb.summary[1:]}.",
            epilog=verb.details or None,
            formatter_class=argparse.RawDescriptionHelpFormatter,
            allow_abbrev=False,
        )
        verb.arguments(one)
        # Not given here, it must not undo what was given before the verb.
        offered = STORE_HELP if verb.takes_store else argparse.SUPPRESS
        one.add_argument("--db", metavar="FILE", default=argparse.SUPPRESS, help=offered)
        one.set_defaults(run=verb.run)
    return root


def overview() -> str:
    """Return what `handoff --help` prints: two doors first, then every verb."""
    lines = [
        "handoff – who handed off to whom, what it cost, and why it went wrong",
        "",
        "  Show me          handoff demo          sample sessions, and the console open on them",
        "  I have a trace   handoff import FILE   its sessions in a store; then: handoff open",
        "",
    ]
    for family in dict.fromkeys(verb.family for verb in VERBS):
        lines.append(family)
        lines += [f"  {v.name:<9} {v.summary}" for v in VERBS if v.family == family]
        lines.append("")
    lines += [
        "`handoff VERB --help` says more; --version prints the version. --db FILE names the store",
        "(default: $HANDOFF_DB, or handoff.db in the current folder). Exit status: 0 done,",
        "1 the answer is no, 2 wrong usage or unreadable input, 130 interrupted.",
    ]
    return "\n".join(lines)


def version() -> str:
    """Return the version that is installed."""
    from importlib import metadata

    return f"handoff-console {metadata.version('handoff-console')}"


def _run(one: argparse.ArgumentParser) -> None:
    one.add_argument("flow", metavar="FLOW", help="a sample's name, or path/to/file.py:name")
    what = one.add_mutually_exclusive_group()
    what.add_argument(
        "--message",
        metavar="TEXT",
        help="what the user says; one session (default: the flow's first example)",
    )
    what.add_argument(
        "--input", metavar="FILE", help="a session for each request of a file (- is stdin)"
    )
    one.add_argument("--prompts", metavar="V", default="", help="use this prompt version")
    one.add_argument("--prompts-dir", metavar="DIR", help="where prompt versions are")
    models(
        one, "a model for every agent, or AGENT=SPEC; a name such as offline:bm25, or file.py:name"
    )
    one.add_argument("--pool", metavar="TOKENS", type=count, help="tokens that a request may use")
    one.add_argument(
        "--prices", metavar="FILE", help="what models cost (default: prices.toml beside the store)"
    )
    as_json(one)
    fail_on(one, "STATUS", "exit 1 when a session ends so")
    batch = one.add_argument_group("with --input")
    batch.add_argument("--limit", metavar="N", type=count, help="only the first N requests")
    batch.add_argument(
        "--on-bad-line", choices=("stop", "skip"), default="stop", help="(default: stop)"
    )
    batch.add_argument("--again", action="store_true", help="run everything again when all is done")


def _list(one: argparse.ArgumentParser) -> None:
    several(one, "--outcome", "STATUS", "only these")
    one.add_argument("--flow", metavar="NAME", help="only of this flow")
    one.add_argument("--agent", metavar="NAME", help="only those in which this agent acted")
    one.add_argument("--finding", metavar="CODE", help="only those with this finding")
    one.add_argument("--label", metavar="KEY=VALUE", help="only those that came with this label")
    one.add_argument("--search", metavar="TEXT", help="only those in which these words were said")
    one.add_argument(
        "--since", metavar="WHEN", help="only those begun since: 2026-01-31, or 90m, 12h, 7d ago"
    )
    one.add_argument(
        "--reruns", action="store_true", help="also those that repeat a part of another one"
    )
    one.add_argument("--trials", action="store_true", help="also whole sessions of comparisons")
    one.add_argument("--limit", metavar="N", type=count, default=20, help="(default: 20)")
    one.add_argument("--offset", metavar="N", type=offset, default=0, help="leave out the first N")
    as_json(one)


def _show(one: argparse.ArgumentParser) -> None:
    session(one)
    form = one.add_mutually_exclusive_group()
    form.add_argument("--events", action="store_true", help="every event, a line each")
    form.add_argument("--transcript", action="store_true", help="what was said, and the handoffs")
    form.add_argument(
        "--printed", action="store_true", help="routes, packets, results and answer, a line each"
    )
    as_json(one)


def _why(one: argparse.ArgumentParser) -> None:
    which = one.add_mutually_exclusive_group(required=True)
    which.add_argument("session", metavar="SESSION", nargs="?", help=SESSION_HELP)
    which.add_argument("--all", action="store_true", help="every session of the store")
    fail_on(one, "FINDING", "exit 1 when it is found: a finding's code, error, warning, or any")
    as_json(one, "print JSON; with --all, an object a line")


def _open(one: argparse.ArgumentParser) -> None:
    one.add_argument("file", metavar="FILE", nargs="?", help="the store; the same as --db")
    one.add_argument("--session", metavar="ID", help="show this session first")
    several(
        one,
        "--flow",
        "FLOW",
        "a flow of your own, path/to/file.py:name, to run from the screens too",
    )
    _serve(one)


def _serve(one: argparse.ArgumentParser) -> None:
    one.add_argument(
        "--port", metavar="N", type=port, help="(default: the next free one from 8501)"
    )
    one.add_argument("--no-browser", action="store_true", help="do not open a browser")


def _flows(one: argparse.ArgumentParser) -> None:
    one.add_argument("flow", metavar="FLOW", nargs="?", help="describe this one")
    one.add_argument("--prompts", metavar="V", help="with the prompts of this version")
    as_json(one)


VERBS: tuple[Verb, ...] = (
    Verb("demo", "Look", "open the console on sample sessions", "serving:demo", _serve,
         takes_store=False),
    Verb("open", "Look", "open the console on a store", "serving:open_console", _open),
    Verb("list", "Look", "list sessions, failed ones first", "listing:list_sessions", _list),
    Verb("show", "Look", "show a session's handoffs, answer and pool", "looking:show", _show),
    Verb("why", "Look", "say what went wrong in a session, and where to look first",
         "looking:why", _why),
    Verb("run", "Run", "run a flow on one message, or on every request of a file", "run:run", _run),
    Verb("approve", "Run", "say yes or no to an act that a session waits with",
         "resuming:approve", approve),
    Verb("answer", "Run", "answer a question that a session waits with",
         "resuming:answer", answer),
    Verb("resume", "Run", "go on with a session that waited or was interrupted",
         "resuming:resume", resume),
    Verb("rerun", "Run", "run one handoff again: verify it, change something, continue from it",
         "rerunning:rerun", rerun),
    Verb("diff", "Run", "show where two attempts or two sessions part, and in what",
         "diffing:diff", diff),
    Verb("bisect", "Run", "find the change that makes a failed handoff come out well",
         "bisecting:bisect", bisect),
    Verb("budget", "Run", "say what another pool or other limits would have done; nothing runs",
         "budgeting:budget", budget),
    Verb("flows", "Run", "list the sample flows, or describe one", "flows:flows", _flows),
    Verb("compare", "Compare", "say which prompt version routes better, and by how much",
         "compare:compare", compare,
         "Exit status: 0 it may go out, 1 it may not, 3 cannot be told (with --strict),\n"
         "4 stopped before the end, 5 cases without a decision."),
    Verb("route", "Compare", "show whom one message would be handed to", "routing:route", route),
    Verb("dataset", "Compare", "check, import or split a set of labelled requests",
         "routing:dataset", dataset),
    Verb("prompts", "Compare", "show what differs between two prompt versions",
         "routing:prompts", prompts),
    Verb("baseline", "Compare", "set what later versions are measured against",
         "routing:baseline", baseline),
    Verb("import", "Keep", "take sessions into the store", "moving:import_sessions", import_),
    Verb("export", "Keep", "write sessions as JSON lines, or a handoff as a test",
         "moving:export", export),
    Verb("delete", "Keep", "delete sessions and everything said in them", "moving:delete", delete),
    Verb("prune", "Keep", "delete sessions older than a day or a time", "moving:prune", prune),
    Verb("rebuild", "Keep", "make summaries, findings and the search index again",
         "care:rebuild", nothing),
    Verb("doctor", "Keep", "check this machine, this installation and the store",
         "care:doctor", only_json),
    Verb("bench", "Keep", "measure what recording and looking cost here",
         "benching:bench", only_json),
)  # fmt: skip
"""Every verb there is, in the order of the overview."""


def known_verbs() -> tuple[str, ...]:
    """Return the verbs' names."""
    return tuple(verb.name for verb in VERBS)


def arguments_of(words: list[str]) -> Any:
    """Return what was typed, understood.

    Raises:
        WrongUsage: It cannot be understood.
    """
    rest = words[2:] if words[:1] == ["--db"] else words
    if rest and (said := not_first(rest[0], known_verbs())):
        raise WrongUsage(said)
    understood, left = parser().parse_known_args(words)
    if left:
        raise WrongUsage(not_taken(left, understood.verb, _usage_of(understood.verb)))
    return understood


def _usage_of(name: str | None) -> str:
    one = _Parser()
    for verb in VERBS:
        if verb.name == name:
            verb.arguments(one)
            if verb.takes_store:
                one.add_argument("--db")
    return one.format_usage()
