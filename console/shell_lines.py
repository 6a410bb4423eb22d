"""The command lines that do from a shell what a page shows."""

import shlex
from dataclasses import replace

from handoff_console.console.commands.attempt_names import AttemptName
from handoff_console.console.commands.bisecting import Bisection
from handoff_console.console.commands.budgeting import budget_command
from handoff_console.console.commands.flow_files import file_reference
from handoff_console.console.commands.rerun_orders import RerunOrder
from handoff_console.console.commands.rerun_records import recorded_order
from handoff_console.console.commands.rerun_start import Start, best_named
from handoff_console.console.commands.rerun_words import rerun_command
from handoff_console.console.family_queries import Member
from handoff_console.console.queries import reading
from handoff_console.console.settings import named_flows, named_store
from handoff_console.store.analysis.what_if import Change


def diff_command(left: AttemptName, right: AttemptName) -> str:
    """Return the command line that prints the comparison of two runs."""
    return _line("diff", str(left), str(right))


def pin_command(start: Start) -> str:
    """Return the command line that writes the test which pins a handoff."""
    words = ("export", start.session_id, "--to", "pytest", start.handoff_id)
    return _line(*words, flow=start.named)


def known_everywhere(flow: str) -> str:
    """Return a flow of one's own as a command line has to name it that names the store too.

    Such a line works in any folder; one that names no store works in the console's alone.
    """
    found = file_reference(flow) if named_store() else None
    if found is None or found.path.is_absolute():
        return flow
    return f"{found.path.absolute()}:{found.name}" if found.name else str(found.path.absolute())


def bisect_command(asked: Bisection) -> str:
    """Return the command line that looks for the change that makes the difference."""
    how = ["--mode", asked.mode.value, "--repeats", str(asked.repeats)]
    how += ["--leave-marks"] * asked.leave_marks
    return _line("bisect", asked.failed, asked.good, *how, flow=asked.named)


def budget_line(session_id: str, change: Change) -> str:
    """Return the command line that says what another pool or other limits would have done."""
    return budget_command(session_id, change, store=named_store())


def command_of(rerun: Member) -> str:
    """Return the command line that makes a re-run once more."""
    with reading() as db:
        order = recorded_order(db, rerun.version.session_id)
    order = replace(order, named=best_named(order.named, named_flows()) or order.named)
    return rerun_line(rerun.rerun_of, order)


def rerun_line(session_id: str, order: RerunOrder) -> str:
    """Return the command line that runs a handoff of a session again."""
    order = replace(order, named=known_everywhere(order.named))
    return rerun_command(session_id, order, store=named_store())


def _line(*words: str, flow: str = "") -> str:
    options = (("--flow", known_everywhere(flow)), ("--db", named_store()))
    named = [word for option, value in options if value for word in (option, value)]
    return shlex.join(["handoff", *words, *named])
