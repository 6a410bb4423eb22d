"""A comparison as somebody asked for it, in a terminal or on a page, and what it names."""

from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from handoff_console.console.commands.datasets import Dataset
from handoff_console.console.commands.errors import CommandError
from handoff_console.console.commands.flow_files import file_reference
from handoff_console.console.commands.flows import LoadedFlow, load_flow
from handoff_console.console.commands.prompt_folders import version_folders
from handoff_console.runtime.errors import HandoffConsoleError
from handoff_console.store.analysis.comparison.gate import Gate

MODES = ("route", "full")


@dataclass(frozen=True)
class Asked:
    """A comparison as somebody asked for it."""

    sides: tuple[str, ...]
    """The baseline first; one alone is compared with the baseline that was set."""
    dataset: str
    """A file, or the name of one that comes with the samples."""
    flow: str = ""
    """Empty: the one that the data set names."""
    model: str = "offline:bm25"
    """Who routes; `own` is whom the flow names."""
    mode: str = "route"
    trials: int = 1
    jobs: int = 4
    max_tokens: int | None = None
    """The most that all trials together may use; None is no limit."""
    only: str = ""
    """`changed`, `failed`, `regressed` or `errors`: only these cases."""
    tags: tuple[str, ...] = ()
    """Only cases with one of these."""
    fresh: bool = False
    """Run everything again, whatever is on record."""
    seed: int = 0
    prompts_folder: Path | None = None
    gate: Gate = field(default_factory=Gate)
    command: str = ""
    """What goes on with it, ready to be copied."""


def files_read(store_path: Path, asked: Asked) -> list[Path]:
    """Return the files that a plan depends on: the data set, the flow's own, its versions."""
    found = [Path(asked.dataset)]
    with suppress(HandoffConsoleError):  # the plan itself says what is wrong with the flow
        loaded = load_flow(asked.flow)
        reference = file_reference(loaded.source)
        found += [reference.path] if reference else []
        for folder in version_folders(loaded, store_path).values():
            found += sorted(folder.glob("*.md"))
    return found


def flow_of(asked: Asked, dataset: Dataset) -> LoadedFlow:
    """Return the flow that is asked for, else the one that the data set names.

    Raises:
        CommandError: Neither says.
        FlowNotFound: There is none of this name.
    """
    name = asked.flow or dataset.flow
    if not name:
        raise CommandError(
            f"{dataset.name} names no flow; say which with --flow FLOW, or put "
            '{"flow": "…"} on its first line.'
        )
    return load_flow(name)
