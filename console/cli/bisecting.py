"""`bisect`: which change makes a failed handoff come out well."""

from argparse import Namespace

from handoff_console.console.cli.asking import Write
from handoff_console.console.cli.looking import write_json
from handoff_console.console.cli.places import store_of
from handoff_console.console.cli.progress import counted
from handoff_console.console.cli.terminal import Terminal, wrapped
from handoff_console.console.commands.bisecting import (
    Bisection,
    Prepared,
    cause_form,
    find_cause,
    plan_bisection,
)
from handoff_console.console.commands.left_out_values import values_of
from handoff_console.console.viewmodels.flips import flip_answer
from handoff_console.console.viewmodels.text import amount, count, one_line, pretty
from handoff_console.runtime.causes import Conclusion
from handoff_console.runtime.changes import Change
from handoff_console.runtime.rerun_player import Mode

NO = 1


def bisect(arguments: Namespace, terminal: Terminal) -> int:
    """Carry out `handoff bisect`; 1 when no change was found that flips it."""

    def announce(ready: Prepared) -> None:
        _write_plan(ready, arguments.repeats, terminal.note, terminal)

    asked = Bisection(
        failed=arguments.failed,
        good=arguments.good,
        mode=Mode(arguments.mode),
        repeats=arguments.repeats,
        named=arguments.flow,
        values=values_of(arguments.value),
        leave_marks=arguments.leave_marks,
        announce=announce,
        tell=counted(terminal, "re-run"),
    )
    store = store_of(arguments)
    if arguments.plan:
        _write_plan(plan_bisection(store, asked), arguments.repeats, terminal.line, terminal)
        return 0
    try:
        found = find_cause(store, asked)
    except KeyboardInterrupt:
        terminal.note("Cancelled; a search records nothing, so it begins anew the next time.")
        raise
    if arguments.json:
        write_json(cause_form(asked, found), terminal)
        return int(found.conclusion is not Conclusion.FOUND and NO)
    terminal.paragraph(one_line(found.sentence, 1_000), style="strong")
    for change in found.changes:
        _write_change(change, terminal)
    for evidence in found.without_one:
        names = ", ".join(one_line(change.name, 60) for change in evidence.changes)
        trials = evidence.trials
        terminal.line(f"  with {names} alone: {trials.passed} of {trials.total} came out well")
    if how_sure := flip_answer(found).how_sure:
        terminal.paragraph(how_sure, indent="  ")
    if found.reruns:
        terminal.line(terminal.styled(f"{count(found.reruns, 're-run')} in all", "dim"))
    return int(found.conclusion is not Conclusion.FOUND and NO)


def _write_plan(ready: Prepared, repeats: int, write: Write, terminal: Terminal) -> None:
    took = ready.estimate
    if not took.changes:
        write("Nothing that a re-run could change differs; nothing will run.")
        return
    if ready.told:
        write("This flow is not quite the one that was recorded:")
    for told in ready.told:
        for line in wrapped(told, terminal.columns - 2):
            write(f"  {line}")
    names = ", ".join(one_line(change.name, 60) for change in ready.changes.changes)
    for line in wrapped(f"{count(took.changes, 'difference')}: {names}", terminal.columns):
        write(line)
    write(
        f"  about {count(took.likely_reruns, 're-run')}, at most {amount(took.most_reruns)} "
        f"({repeats} of each), about {amount(took.tokens_each)} tokens each"
    )


def _write_change(change: Change, terminal: Terminal) -> None:
    before, after = (
        "nothing" if value in (None, "") else one_line(pretty(value), 200)
        for value in (change.before, change.after)
    )
    terminal.paragraph(f"{one_line(change.name, 60)}: {before} → {after}", indent="  ")
