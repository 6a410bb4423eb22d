"""`route`, `dataset`, `prompts` and `baseline`: what is around comparing prompt versions."""

import asyncio
from argparse import Namespace
from collections.abc import Sequence
from contextlib import closing
from difflib import SequenceMatcher
from pathlib import Path
from typing import Any

from handoff_console.console.cli.exit_status import NO, WRONG
from handoff_console.console.cli.looking import write_json
from handoff_console.console.cli.places import store_of
from handoff_console.console.cli.terminal import Terminal, fitted
from handoff_console.console.commands.dataset_checks import Check, check_dataset, split_dataset
from handoff_console.console.commands.dataset_imports import import_cases
from handoff_console.console.commands.datasets import dataset_csv, dataset_text, read_dataset
from handoff_console.console.commands.errors import CommandError, InputRefused
from handoff_console.console.commands.first_decisions import decide
from handoff_console.console.commands.flows import load_flow
from handoff_console.console.commands.routed import Side, side
from handoff_console.console.viewmodels.compare_case import why_nobody
from handoff_console.console.viewmodels.text import count, one_line
from handoff_console.store.analysis.comparison.cases import RouteCase
from handoff_console.store.analysis.comparison.changes import description_changes
from handoff_console.store.analysis.comparison.compare import OFFLINE_BANNER
from handoff_console.store.analysis.comparison.result import DescriptionChange
from handoff_console.store.baselines import set_baseline
from handoff_console.store.db import open_store
from handoff_console.store.experiment_forms import Outcome
from handoff_console.store.experiments import experiment_line, resolve_experiment

WRONG_LINES_SHOWN = 20
_AGENT_COLUMNS = 16


def route(arguments: Namespace, terminal: Terminal) -> int:
    """Carry out `handoff route`: one decision, with its scores where the router scores."""
    chosen = _side(arguments, arguments.prompts, arguments.model)
    if not arguments.text.strip():
        raise CommandError("The text is empty; say what the user says.")
    outcome = asyncio.run(decide(chosen, RouteCase("", arguments.text)))
    if outcome.problem:
        raise CommandError(f"No decision: {outcome.problem}")
    if arguments.json:
        write_json(_route_form(chosen, outcome), terminal)
        return 0
    terminal.line(terminal.styled(_decision(outcome), "strong"))
    for item in outcome.scores:
        matched = f"  {', '.join(item.matched)}" if item.matched else ""
        terminal.line(
            f"  {fitted(one_line(item.agent, 40), _AGENT_COLUMNS)} {item.score:7.2f}", matched
        )
    if outcome.scores and not outcome.agents and not outcome.knows:
        terminal.paragraph(why_nobody(outcome.scores), indent="  ")
    if chosen.version.offline:
        terminal.paragraph(OFFLINE_BANNER, style="dim")
    return 0


def _decision(outcome: Outcome) -> str:
    if outcome.invalid:
        return f"asks for {' and '.join(outcome.agents)}, which it may not"
    if outcome.agents:
        return f"→ {' + '.join(outcome.agents)}"
    if outcome.announced:
        return "says that it hands over, and does not"
    return "answers itself" if outcome.knows else "→ nobody: it does not know whom to ask"


def _route_form(chosen: Side, outcome: Outcome) -> dict[str, Any]:
    return {
        "agents": list(outcome.agents),
        "invalid": outcome.invalid,
        "knows": outcome.knows,
        "announced": outcome.announced,
        "scores": [
            {"agent": one.agent, "score": one.score, "matched": list(one.matched)}
            for one in outcome.scores
        ],
        "model": chosen.version.model,
        "is_model_score": not chosen.version.offline,
        "prompts": chosen.version.label,
        "routing_hash": chosen.version.routing_hash,
        "tokens": outcome.tokens,
        "tokens_estimated": outcome.tokens_estimated,
    }


def dataset(arguments: Namespace, terminal: Terminal) -> int:
    """Carry out `handoff dataset`; `check` exits 1 when something has to be mended."""
    if arguments.action == "import":
        labels = Path(arguments.map) if arguments.map else None
        cases = import_cases(
            Path(arguments.file), arguments.form, part=arguments.part, labels=labels
        )
        _write(list(cases), arguments.flow, arguments, terminal)
        return 0
    is_check = arguments.action == "check"
    wrong: list[InputRefused] = []
    read = read_dataset(arguments.file, unique=not is_check, wrong=wrong if is_check else None)
    if wrong:
        return _say_wrong(wrong, arguments, terminal)
    flow = arguments.flow or read.flow
    if arguments.action == "split":
        _write(
            split_dataset(read.cases, arguments.share, arguments.seed), flow, arguments, terminal
        )
        return 0
    loaded = load_flow(flow) if flow else None
    folder = Path(arguments.prompts_dir) if arguments.prompts_dir else None
    found = check_dataset(read, loaded, store_of(arguments), folder)
    if arguments.json:
        write_json(_check_form(found), terminal)
    else:
        _write_check(found, flow, terminal)
    return int(bool(found.problems) and NO)


def _say_wrong(wrong: Sequence[InputRefused], arguments: Namespace, terminal: Terminal) -> int:
    """Say which lines of a data set are no cases: with these in it there is nothing to check."""
    if len(wrong) == 1 and not arguments.json:
        raise wrong[0]
    said = [f"line {one.line}: {one.problem}" for one in wrong]
    if arguments.json:
        write_json({"name": Path(wrong[0].source).stem, "problems": said}, terminal)
        return WRONG
    terminal.failure(f"{wrong[0].source}: {count(len(wrong), 'line')} are no cases; correct them.")
    for line in said[:WRONG_LINES_SHOWN]:
        terminal.note(f"  {one_line(line, 400)}")
    if len(said) > WRONG_LINES_SHOWN:
        terminal.note(f"  and {len(said) - WRONG_LINES_SHOWN:,} more")
    return WRONG


def _check_form(found: Check) -> dict[str, Any]:
    return {
        "name": found.dataset.name,
        "digest": found.dataset.digest,
        "cases": len(found.dataset.cases),
        "classes": dict(found.classes),
        "problems": list(found.problems),
        "notes": list(found.notes),
    }


def _write_check(found: Check, flow: str, terminal: Terminal) -> None:
    cases = found.dataset.cases
    critical = sum(case.critical for case in cases)
    terminal.line(
        f"{one_line(found.dataset.name, 60)}: {count(len(cases), 'case')}, {critical} critical, "
        f"{found.dataset.digest[:8]}"
    )
    for label, number in found.classes.items():
        terminal.line(f"  {number:>5,}  {one_line(label, 60)}")
    for problem in found.problems:
        terminal.paragraph(f"✕ {one_line(problem, 600)}")
    for note in found.notes:
        terminal.paragraph(one_line(note, 600))
    if not flow:
        terminal.paragraph("Agents and leaks were not checked: name the flow with --flow.")
    if not found.problems:
        terminal.line("Nothing has to be mended.")


def _write(cases: list[RouteCase], flow: str, arguments: Namespace, terminal: Terminal) -> None:
    is_csv = (arguments.output or "").lower().endswith(".csv")
    text = dataset_csv(cases) if is_csv else dataset_text(cases, flow=flow)
    if not arguments.output:
        terminal.out.write(text)
        return
    Path(arguments.output).write_text(text, "utf-8")
    terminal.note(f"{count(len(cases), 'case')} in {arguments.output}.")


def prompts(arguments: Namespace, terminal: Terminal) -> int:
    """Carry out `handoff prompts diff`."""
    before, after = (
        _side(arguments, label, "offline:bm25").version
        for label in (arguments.before, arguments.after)
    )
    changes = description_changes(before, after)
    if arguments.json:
        write_json(
            {
                "a": before.label,
                "b": after.label,
                "same_routing": before.routing_hash == after.routing_hash,
                "changes": [_change_form(change) for change in changes],
            },
            terminal,
        )
        return 0
    if not changes:
        terminal.line(f"{before.label} and {after.label} say the same.")
        return 0
    for change in changes:
        _write_change(change, terminal)
    if before.routing_hash == after.routing_hash:
        terminal.paragraph("Nothing of it is read by an offline router.", style="dim")
    return 0


def _change_form(change: DescriptionChange) -> dict[str, Any]:
    return {
        "agent": change.agent,
        "field": change.field,
        "before": change.before,
        "after": change.after,
        "routes": change.routes,
    }


def _write_change(change: DescriptionChange, terminal: Terminal) -> None:
    terminal.line(terminal.styled(f"{one_line(change.agent, 40)}: {change.field}", "strong"))
    before, after = change.before.splitlines(), change.after.splitlines()
    matched = SequenceMatcher(None, before, after, autojunk=False)
    for word, gone_from, gone_to, new_from, new_to in matched.get_opcodes():
        if word != "equal":
            for line in before[gone_from:gone_to]:
                terminal.paragraph(f"- {one_line(line, 1_000)}", indent="  ")
            for line in after[new_from:new_to]:
                terminal.paragraph(f"+ {one_line(line, 1_000)}", indent="  ")


def baseline(arguments: Namespace, terminal: Terminal) -> int:
    """Carry out `handoff baseline set`."""
    with closing(open_store(store_of(arguments))) as db:
        experiment_id = resolve_experiment(db, arguments.experiment)
        label = arguments.label or experiment_line(db, experiment_id).labels[-1]
        line = set_baseline(db, experiment_id, label)
    terminal.line(
        f"{one_line(label, 60)} is the baseline of flow {one_line(line.flow, 60)} on "
        f"{one_line(line.dataset.name, 60)}."
    )
    return 0


def _side(arguments: Namespace, label: str, model: str) -> Side:
    folder = Path(arguments.prompts_dir) if arguments.prompts_dir else None
    return side(load_flow(arguments.flow), label, model, store_of(arguments), folder)
