"""`rerun`: one handoff of a recorded session again, what that takes, and what came of it."""

from argparse import Namespace
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

from handoff_console import sample_runs
from handoff_console.console.cli.asking import Write, is_interactive
from handoff_console.console.cli.asking_values import with_values
from handoff_console.console.cli.comparing import write_comparison, write_repeats
from handoff_console.console.cli.looking import write_json
from handoff_console.console.cli.named_values import named_numbers, named_values
from handoff_console.console.cli.places import next_command, store_of
from handoff_console.console.cli.progress import counted
from handoff_console.console.cli.resuming import until_it_rests
from handoff_console.console.cli.terminal import Terminal, wrapped
from handoff_console.console.cli.tree_text import outcome_text
from handoff_console.console.commands.errors import CommandError
from handoff_console.console.commands.estimates import Plan, plan_of, plan_rerun
from handoff_console.console.commands.flows import load_flow, model_named
from handoff_console.console.commands.left_out_values import values_of
from handoff_console.console.commands.looking import which_handoff
from handoff_console.console.commands.prompt_folders import folder_with
from handoff_console.console.commands.rerun_forms import plan_form, rerun_form
from handoff_console.console.commands.rerun_inputs import Given, given, prompt_of_version
from handoff_console.console.commands.rerun_orders import Prepared, RerunOrder
from handoff_console.console.commands.rerunning import Ran, Rerun, read_run, rerun_handoff
from handoff_console.console.commands.resuming import Resumption
from handoff_console.console.commands.typed_values import json_typed, value_like
from handoff_console.console.viewmodels.rerun_plan import plan_view
from handoff_console.console.viewmodels.text import amount, block, one_line, seconds
from handoff_console.console.viewmodels.unanswered import Unanswered, unanswered_sentence
from handoff_console.runtime.edits import Edits
from handoff_console.runtime.rerun_player import Mode
from handoff_console.store.db import open_reader

NO = 1
MOST_TIMES = 1_000
"""A page stops at fewer; each of them is kept."""


def rerun(arguments: Namespace, terminal: Terminal) -> int:
    """Carry out `handoff rerun`; 1 when a verification comes to another result."""
    store = store_of(arguments)
    if not arguments.handoff:
        raise CommandError(which_handoff(store, arguments.session))
    order = _order(store, arguments, terminal)
    if arguments.plan:
        plan = plan_rerun(store, arguments.session, order)
        if arguments.json:
            write_json(plan_form(plan, order), terminal)
        else:
            _write_plan(plan, order, terminal.line, terminal.columns)
        return 0
    try:
        done = with_values(
            lambda values, leaves: rerun_handoff(
                store,
                arguments.session,
                replace(order, values=values, leave_marks=order.leave_marks or leaves),
            ),
            order.values,
            terminal,
        )
    except KeyboardInterrupt:
        is_one = order.times == 1  # of several, those before were not cancelled
        only = ("--outcome", "cancelled") if is_one else ()
        done_until = "what was done until then is" if is_one else "the runs until then are"
        seen = next_command(arguments, "list", "--reruns", *only)
        terminal.note(f"Cancelled; {done_until} recorded: {seen}")
        raise
    done = _rested(store, done, order, terminal)
    if arguments.json:
        write_json(rerun_form(store, done), terminal)
    else:
        _write_done(store, done, arguments, terminal)
    return NO if order.mode is Mode.VERIFY and not done.same_result else 0


def _order(store: Path, arguments: Namespace, terminal: Terminal) -> RerunOrder:
    if arguments.times > MOST_TIMES:
        raise CommandError(
            f"It runs 1 to {MOST_TIMES:,} times at once, and {arguments.times:,} are asked for; a "
            "thousand tell how often it comes out well to 3 in 100."
        )
    edits = _edits(store, arguments)
    changed = bool(edits.described())
    mode = Mode(arguments.mode) if arguments.mode else Mode.VERIFY
    if not arguments.mode and (changed or arguments.times > 1):
        mode = Mode.LIVE if edits.armed else Mode.WHAT_IF

    def announce(ready: Prepared) -> None:
        _write_plan(plan_of(ready, order), order, terminal.note, terminal.columns)

    order = RerunOrder(
        handoff_id=arguments.handoff,
        mode=mode,
        edits=edits,
        graft=arguments.graft or "",
        times=arguments.times,
        named=arguments.flow,
        values=values_of(arguments.value),
        leave_marks=arguments.leave_marks,
        announce=announce,
        tell=counted(terminal, "run") if arguments.times > 1 else None,
    )
    return order


def _edits(store: Path, arguments: Namespace) -> Edits:
    before = Given("", {}, "")
    if arguments.set or arguments.prompts:
        before = given(store, arguments.session, arguments.handoff)
    tools = arguments.tools
    return Edits(
        task=arguments.task,
        inputs=_inputs(arguments.set, before.inputs),
        without_inputs=tuple(_input_name(word, "--unset") for word in arguments.unset),
        **_packet(arguments.packet),
        allowed_tools=None if tools is None else tuple(filter(None, tools.split(","))),
        limits=named_numbers(arguments.limits),
        output_schema=arguments.output_schema,
        prompt=_prompt(store, arguments, before),
        model=model_named(arguments.model) if arguments.model else None,
        tool_results={
            name: json_typed(value, f"--tool-result {name}")
            for name, value in named_values(
                arguments.tool_result, "--tool-result TOOL=JSON"
            ).items()
        },
        armed=tuple(arguments.arm),
        denied=tuple(arguments.deny),
    )


def _prompt(store: Path, arguments: Namespace, before: Given) -> str | None:
    if arguments.prompt:
        return _text_of(Path(arguments.prompt))
    if not arguments.prompts:
        return None
    flow = arguments.flow or before.flow_source
    if not arguments.flow and flow not in sample_runs.NAMES:
        raise CommandError(
            f"--prompts V needs --flow, since the session ran {flow!r}, and no file is opened "
            "because a record names it."
        )
    if arguments.prompts_dir:
        folder = Path(arguments.prompts_dir)
    else:
        folder = folder_with(arguments.prompts, load_flow(flow), store)
    return prompt_of_version(before.agent, arguments.prompts, flow=flow, folder=folder)


def _inputs(words: Sequence[str], before: Mapping[str, Any]) -> dict[str, Any]:
    """Return the inputs that `--set` changes; what was a text stays one."""
    inputs: dict[str, Any] = {}
    for place, text in named_values(words, "--set inputs.NAME=JSON").items():
        name = _input_name(place, "--set")
        known = before.get(name)
        if not isinstance(known, str):
            json_typed(text, f"--set {place}")
        inputs[name] = value_like(known, text)
    return inputs


def _packet(words: Sequence[str]) -> dict[str, Any]:
    """Return the parts of the packet that `--packet` changes, as fields of `Edits`."""
    changes: dict[str, Any] = {}
    for place, text in named_values(words, "--packet NAME=VALUE").items():
        part, _, name = place.partition(".")
        if part == "claimed" and name:
            changes.setdefault("claimed", {})[name] = json_typed(text, f"--packet {place}")
        elif place in ("goal", "summary"):
            changes[place] = text
        else:
            raise CommandError(
                f"--packet {place} names no part of a packet that can be changed; write goal, "
                "summary or claimed.NAME. Its facts are inputs: --set inputs.NAME=JSON."
            )
    return changes


def _input_name(word: str, option: str) -> str:
    place, mark, name = word.partition(".")
    if place != "inputs" or not mark or not name:
        raise CommandError(
            f"{option} {word} names no input; write {option} inputs.NAME. The task, the tools and "
            "the limits have options of their own."
        )
    return name


def _text_of(path: Path) -> str:
    try:
        return path.read_text("utf-8-sig")
    except UnicodeDecodeError as error:
        raise CommandError(f"{path} is not UTF-8; save the prompt in that encoding.") from error


def _rested(store: Path, done: Rerun, order: RerunOrder, terminal: Terminal) -> Rerun:
    """Ask whoever sits there for what the runs wait for, and go on with them."""
    if not is_interactive(terminal):
        return done
    runs: list[Ran] = []
    for run in done.runs:
        if run.is_waiting:
            how = Resumption(named=order.named, edits=done.order.edits)
            until_it_rests(store, run.session_id, how, terminal)
        runs.append(read_run(store, done, run) if run.is_waiting else run)
    return replace(done, runs=tuple(runs))


def _write_plan(plan: Plan, order: RerunOrder, write: Write, columns: int) -> None:
    shown = plan_view(plan, order)
    _write_changes(shown.flow_changes, write)
    write(f"{shown.title}; recorded as {shown.recorded_outcome}")
    for line in shown.lines:
        write(f"  {line}")
    if shown.repeats:
        write(f"  DONE AGAIN, each after a yes: {', '.join(shown.repeats)}")
    for warning in shown.warnings:
        for line in wrapped(warning, columns - 2):
            write(f"  {line}")


def _write_changes(changes: Sequence[str], write: Write) -> None:
    if changes:
        write("This flow is not quite the one that was recorded:")
    for change in changes:
        write(f"  {one_line(change, 200)}")


def _write_done(store: Path, done: Rerun, arguments: Namespace, terminal: Terminal) -> None:
    terminal.line(outcome_text(done.recorded_outcome, "", terminal, columns=17), "recorded")
    for run in done.runs[:_RUNS_SHOWN]:
        _write_run(run, terminal)
    if len(done.runs) > _RUNS_SHOWN:
        terminal.line(f"and {amount(len(done.runs) - _RUNS_SHOWN)} more")
    first = done.runs[0]
    if first.answer and len(done.runs) == 1:
        terminal.line()
        terminal.paragraph(block(first.answer, 4_000), indent="  ")
    with closing(open_reader(store)) as db:
        if len(done.runs) > 1:
            write_repeats(db, done, terminal)
        elif done.order.mode is not Mode.VERIFY or not done.same_result:
            write_comparison(db, done, terminal)
    if done.order.mode is Mode.VERIFY and not done.same_result:
        _write_changes(done.flow_changes, terminal.line)
    terminal.line(terminal.styled(next_command(arguments, "show", first.session_id), "dim"))
    for run in done.runs:
        if run.is_waiting:
            terminal.note(
                f"Run {run.session_id} waits for a person: "
                f"{next_command(arguments, 'show', run.session_id)}"
            )


_RUNS_SHOWN = 20


def _write_run(run: Ran, terminal: Terminal) -> None:
    same = "the same result" if run.same_result else "another result"
    was_other = bool(run.first_divergence and run.first_divergence["recorded"])
    if run.outcome == "diverged":
        same = f"it asked for {'something else' if was_other else 'more'} than was recorded"
    elif run.is_waiting:
        same = "it waits for the same" if run.same_result else "it waits for a person"
    live = f"{amount(run.live_model_calls)} asked, {amount(run.replayed_answers)} replayed"
    terminal.line(
        outcome_text(run.outcome, "", terminal, columns=17),
        f"{same} · {live} · {amount(run.tokens_used)} tokens · {seconds(run.seconds)}",
    )
    missing = unanswered_sentence(Unanswered(run.unanswered_calls, run.unanswered_acts))
    if missing:
        for line in wrapped(missing, terminal.columns - 17):
            terminal.line(" " * 17, line)
    if run.first_divergence:
        which = "other" if was_other else "further"
        place = one_line(run.first_divergence["place"], 60)
        terminal.line(" " * 17, f"first {which} question at {place}")
