"""`compare`: which prompt version routes better, and whether the gate lets it through."""

import shlex
from argparse import Namespace
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path

from handoff_console.console.cli.compare_text import write_comparisons
from handoff_console.console.cli.looking import write_json
from handoff_console.console.cli.places import store_of
from handoff_console.console.cli.progress import TimedLine, interrupts
from handoff_console.console.cli.terminal import Terminal, fitted
from handoff_console.console.commands.comparing_versions import Done, run
from handoff_console.console.commands.comparison_asked import Asked
from handoff_console.console.commands.comparison_forms import (
    comparison_form,
    comparison_junit,
    comparison_markdown,
    exit_status,
)
from handoff_console.console.commands.comparison_plans import Plan, plan
from handoff_console.console.commands.trial_running import RunProgress, Stop
from handoff_console.console.viewmodels.text import amount, count, seconds
from handoff_console.store.analysis.comparison.compare import comparisons
from handoff_console.store.analysis.comparison.gate import Gate
from handoff_console.store.analysis.comparison.result import Comparison
from handoff_console.store.db import open_reader
from handoff_console.store.experiments import load_experiment


def compare(arguments: Namespace, terminal: Terminal) -> int:
    """Carry out `handoff compare`; the exit status is that of the verdict."""
    asked = _asked(arguments)
    store = store_of(arguments)
    if arguments.plan:
        _write_plan(plan(store, asked), arguments, terminal)
        return 0
    line = TimedLine(terminal, at_once=True)
    stop = Stop()
    with _interrupts(stop, terminal):
        try:
            done = run(store, asked, tell=lambda now: line.show(lambda: _how_far(now)), stop=stop)
        finally:
            line.clear()
    with closing(open_reader(store)) as db:
        found = comparisons(load_experiment(db, done.experiment_id), asked.gate)
    _write(found, arguments, terminal)
    _say_how_it_went(done, arguments, terminal)
    status = exit_status(found, strict=arguments.strict, stopped=done.stopped is not None)
    if arguments.open and done.stopped is None:
        from handoff_console.console.cli.serving import open_experiment

        open_experiment(arguments, done.experiment_id, done.flow_source, terminal)
    return status


def _asked(arguments: Namespace) -> Asked:
    least = arguments.min_accuracy
    return Asked(
        sides=tuple(arguments.versions),
        dataset=arguments.dataset,
        flow=arguments.flow,
        model=arguments.model,
        mode=arguments.mode,
        trials=arguments.trials,
        jobs=arguments.jobs,
        max_tokens=arguments.max_tokens,
        only=arguments.only,
        tags=tuple(arguments.tags),
        fresh=arguments.fresh,
        seed=arguments.seed,
        prompts_folder=Path(arguments.prompts_dir) if arguments.prompts_dir else None,
        gate=Gate(
            max_drop_points=arguments.max_drop,
            alpha=arguments.alpha,
            min_accuracy=None if least is None else least / 100,
            no_critical_regressions=arguments.no_critical_regressions,
            max_errors=arguments.max_errors,
        ),
        command=_again(arguments),
    )


def _write_plan(made: Plan, arguments: Namespace, terminal: Terminal) -> None:
    if arguments.format == "json":
        write_json(
            {
                "calls": made.calls,
                "reserved_tokens": made.reserved_tokens,
                "goes_on": made.goes_on,
                "cases": made.experiment.dataset.cases,
                "versions": [one._asdict() for one in made.by_side],
            },
            terminal,
        )
        return
    for one in made.by_side:
        terminal.line(
            f"{fitted(one.label, 16)} {count(one.calls, 'trial')} to run, "
            f"{amount(one.reused)} on record, at most {amount(one.reserved_tokens)} tokens"
        )
    terminal.line(
        f"{fitted('together', 16)} {count(made.calls, 'trial')} to run, at most "
        f"{amount(made.reserved_tokens)} tokens; nothing was run"
    )


def _write(found: Sequence[Comparison], arguments: Namespace, terminal: Terminal) -> None:
    if arguments.output and arguments.format == "text":
        with Path(arguments.output).open("w", encoding="utf-8") as file:
            write_comparisons(found, Terminal(out=file, err=terminal.err))
        return
    if arguments.format == "text":
        write_comparisons(found, terminal)
        return
    if arguments.format == "json" and not arguments.output:
        write_json(comparison_form(found), terminal)
        return
    text = _other_form(found, arguments.format)
    if arguments.output:
        Path(arguments.output).write_text(text, "utf-8")
    else:
        terminal.out.write(text)


def _other_form(found: Sequence[Comparison], form: str) -> str:
    if form == "json":
        import json

        return json.dumps(comparison_form(found), ensure_ascii=False, indent=2) + "\n"
    return comparison_junit(found) if form == "junit" else comparison_markdown(found)


def _say_how_it_went(done: Done, arguments: Namespace, terminal: Terminal) -> None:
    progress = done.progress
    ran = progress.done + progress.errors
    parts = [f"{count(ran, 'trial')} run"]
    if ran:
        parts[0] += f" in {seconds(progress.seconds)}, {amount(progress.tokens)} tokens"
    if progress.reused:
        parts.append(f"{amount(progress.reused)} from the record")
    if progress.errors:
        parts.append(f"{amount(progress.errors)} could not be asked")
    terminal.note(f"{'; '.join(parts)}. Experiment {done.experiment_id}.")
    if done.stopped is not None:
        why = {
            "cap": "The budget holds no further trial",
            "interrupted": "Stopped",
        }[done.stopped.why]
        terminal.note(
            f"{why}: {count(progress.left, 'trial')} left, nothing is lost. To go on:\n"
            f"  {_again(arguments)}"
        )
    elif arguments.format == "text" and not arguments.open:
        # With every trial there, nothing runs: the console opens on this comparison.
        terminal.note(f"See it: {_again(arguments, '--open')}")


def _again(arguments: Namespace, *more: str) -> str:
    """Return the command line that goes on with what is there, not from the beginning."""
    return shlex.join(["handoff", *(w for w in arguments.words if w != "--fresh"), *more])


def _how_far(progress: RunProgress) -> str:
    done = progress.total - progress.left
    text = f"{amount(done)} of {amount(progress.total)} trials"
    if progress.errors:
        text += f", {count(progress.errors, 'error')}"
    text += f" · {amount(progress.tokens)} tokens"
    ran = progress.done + progress.errors
    if not ran:
        return text
    return f"{text} · {seconds(round(progress.left * progress.seconds / ran))} left"


@contextmanager
def _interrupts(stop: Stop, terminal: Terminal) -> Iterator[None]:
    """Let Ctrl-C end it after the trials that run now, and a second one at once."""

    def asked() -> str:
        if stop.why:
            raise KeyboardInterrupt
        stop.stop()
        return "Stopping after the trials that run now; Ctrl-C again stops at once."

    with interrupts(asked, terminal):
        yield
