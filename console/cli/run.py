"""`run`: a flow on one message, or on every request of a file."""

import shlex
from argparse import Namespace
from pathlib import Path

from handoff_console.console.cli.asking import is_interactive
from handoff_console.console.cli.exit_status import INTERRUPTED, WRONG
from handoff_console.console.cli.looking import check_outcomes, write_json
from handoff_console.console.cli.places import next_command, store_of
from handoff_console.console.cli.progress import ProgressLine, interrupts_stop
from handoff_console.console.cli.resuming import say_cancelled, until_it_rests, write_result
from handoff_console.console.cli.terminal import Terminal
from handoff_console.console.cli.tree_text import outcome_text
from handoff_console.console.commands import forms
from handoff_console.console.commands.batch import Batch, Control, Progress, run_batch
from handoff_console.console.commands.errors import CommandError
from handoff_console.console.commands.flows import LoadedFlow, adjusted, chosen_models, load_flow
from handoff_console.console.commands.price_file import prices_for
from handoff_console.console.commands.prompt_folders import folder_with
from handoff_console.console.commands.resuming import Resumption
from handoff_console.console.commands.running import run_once
from handoff_console.console.viewmodels.text import amount, count, one_line, seconds
from handoff_console.runtime import Flow, HandoffRequest

_SKIPPED_SHOWN = 5


def run(arguments: Namespace, terminal: Terminal) -> int:
    """Carry out `handoff run`; 1 when a session ended as `--fail-on` says."""
    check_outcomes(arguments.fail_on)
    loaded = load_flow(arguments.flow)
    flow = adjusted(
        loaded,
        prompts=arguments.prompts,
        prompts_folder=_prompts_folder(arguments, loaded),
        pool_tokens=arguments.pool,
        prices=prices_for(store_of(arguments), arguments.prices or ""),
    )
    if arguments.input is not None:
        return _run_file(arguments, loaded, flow, terminal)
    if arguments.limit is not None or arguments.again:
        raise CommandError("--limit and --again are for a file of requests; name it with --input.")
    return _run_message(arguments, loaded, flow, terminal)


def _prompts_folder(arguments: Namespace, loaded: LoadedFlow) -> Path | None:
    if arguments.prompts_dir:
        return Path(arguments.prompts_dir)
    if not arguments.prompts:
        return None
    return folder_with(arguments.prompts, loaded, store_of(arguments))


def _run_message(arguments: Namespace, loaded: LoadedFlow, flow: Flow, terminal: Terminal) -> int:
    models = chosen_models(flow, arguments.model)
    message = _message(arguments, loaded)
    asks = is_interactive(terminal)
    try:
        result = run_once(
            store_of(arguments),
            flow,
            message,
            source=loaded.source,
            models=models,
            wait_for_answers=asks,
        )
        how = Resumption(flow=flow, models=arguments.model, wait_for_answers=asks)
        if result.waiting_for:
            found = until_it_rests(store_of(arguments), result.session_id, how, terminal)
            result = found or result
    except KeyboardInterrupt:
        say_cancelled("", arguments, terminal)
        raise
    return write_result(result, arguments, terminal)


def _message(arguments: Namespace, loaded: LoadedFlow) -> str | HandoffRequest:
    if arguments.message is not None:
        if not arguments.message.strip():
            raise CommandError("The message is empty; say something with --message TEXT.")
        return str(arguments.message)
    if loaded.request is not None:
        return loaded.request
    if loaded.flow.examples:
        return loaded.flow.examples[0]
    raise CommandError(
        f"What the user says is missing, and flow {loaded.flow.name!r} has no example; say it with "
        "--message TEXT, or name a file of requests with --input FILE."
    )


def _run_file(arguments: Namespace, loaded: LoadedFlow, flow: Flow, terminal: Terminal) -> int:
    batch = Batch(
        loaded,
        flow,
        arguments.input,
        models=chosen_models(flow, arguments.model),
        on_bad_line=arguments.on_bad_line,
        limit=arguments.limit,
        again=arguments.again,
    )
    line = ProgressLine(terminal)
    control = Control(line.show)
    with interrupts_stop(control, terminal):
        try:
            progress = run_batch(store_of(arguments), batch, control)
        finally:
            line.clear()
    if arguments.json:
        write_json(forms.batch_form(progress), terminal)
    else:
        _write_summary(progress, arguments, terminal)
    if control.asked_to_stop and progress.left:
        _say_how_to_go_on(progress, arguments, terminal)
        return INTERRUPTED
    if progress.skipped and not progress.done:
        return WRONG
    return int(any(word in progress.outcomes for word in arguments.fail_on))


def _write_summary(progress: Progress, arguments: Namespace, terminal: Terminal) -> None:
    name = one_line(progress.input_name, 60)
    if progress.skipped and not (progress.done or progress.left):
        name = one_line(Path(progress.input_name).name, 40)
        terminal.line(f"No request was run: no line of {name} can be read as one.")
        _write_skipped(progress, terminal)
        return
    if not progress.left_before:
        every = "All " if progress.done_before == progress.total else ""
        terminal.line(
            f"{every}{count(progress.done_before, 'request')} of {name} were done before; --again "
            "runs them once more."
        )
    else:
        before = f", {amount(progress.done_before)} before" if progress.done_before else ""
        terminal.line(
            f"{amount(progress.done_now)} of {count(progress.total, 'request')} done now{before}, "
            f"in {seconds(progress.seconds)} ({progress.sessions_per_second:,.0f} a second), "
            f"{count(progress.tokens_used, 'token')}"
        )
    most = max(progress.outcomes.values(), default=0)
    for outcome, number in sorted(progress.outcomes.items(), key=lambda item: -item[1]):
        terminal.line(
            "  ", outcome_text(outcome, "", terminal, columns=17), f"{number:>{len(f'{most:,}')},}"
        )
    _write_skipped(progress, terminal)
    terminal.line(terminal.styled(next_command(arguments, "list"), "dim"))
    terminal.line(terminal.styled(next_command(arguments, "open"), "dim"))


def _write_skipped(progress: Progress, terminal: Terminal) -> None:
    if not progress.skipped:
        return
    terminal.line(f"{count(len(progress.skipped), 'line')} skipped:")
    for line, problem in progress.skipped[:_SKIPPED_SHOWN]:
        terminal.line(f"  line {line}: {one_line(problem, terminal.columns - 16)}")
    more = len(progress.skipped) - _SKIPPED_SHOWN
    if more > 0:
        terminal.line(f"  and {count(more, 'more')}")


def _say_how_to_go_on(progress: Progress, arguments: Namespace, terminal: Terminal) -> None:
    terminal.note(
        f"Stopped with {count(progress.left, 'request')} left; nothing is lost. To go on:\n"
        f"  {shlex.join(['handoff', *arguments.words])}"
    )
