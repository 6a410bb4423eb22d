"""What the routing pages can start: comparisons of prompt versions, on the data sets here."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

from handoff_console.console.commands.comparing_background import (
    Running,
    comparison_job,
    start_comparison,
)
from handoff_console.console.commands.comparison_asked import Asked
from handoff_console.console.commands.comparison_plans import Plan, plan
from handoff_console.console.commands.datasets import BUNDLED, dataset_text, read_dataset
from handoff_console.console.commands.drafts import LABEL
from handoff_console.console.commands.errors import CommandError
from handoff_console.console.settings import store_path
from handoff_console.store.analysis.comparison.cases import RouteCase

__all__ = [
    "FIRST", "Asked", "Plan", "Running", "add_case", "comparison_job", "data_sets", "planned",
    "save_data_set", "start",
]  # fmt: skip

FIRST = Asked(("v2", "v3"), "servicedesk")
"""The comparison to begin with: it needs nothing but what came with the product."""


def data_sets() -> Mapping[str, str]:
    """Return the data sets that are here, by name: as `Asked` names each.

    Those that came with the product, and those beside the store.
    """
    from handoff_console import sample_runs

    bundled = Path(sample_runs.__file__).parent / BUNDLED
    found = {path.stem: path.stem for path in sorted(bundled.glob("*.jsonl"))}
    own = _own_folder()
    for path in sorted(own.glob("*")) if own.is_dir() else ():
        if path.suffix.lower() in {".jsonl", ".csv"}:
            found[path.stem] = str(path)
    return found


def planned(asked: Asked) -> Plan:
    """Return what a comparison takes; nothing is written and nobody is asked.

    Raises:
        HandoffConsoleError: It cannot be run; the text says why in one sentence.
    """
    return plan(store_path(), asked)


def start(asked: Asked) -> str:
    """Start a comparison in the background, and return its id once it is in the store.

    Raises:
        HandoffConsoleError: It cannot be run; the text says why in one sentence.
    """
    return start_comparison(store_path(), asked)


def save_data_set(file_name: str, content: bytes) -> str:
    """Keep a file that somebody brought as a data set beside the store, and return its name.

    Raises:
        CommandError: Its name is none of a file, there is such a data set already, or the folder
            takes no files.
        InputRefused: It cannot be read as a data set; it is not kept then.
    """
    path = _own_folder() / Path(file_name).name
    _check_name(path.stem)
    if path.suffix.lower() not in {".jsonl", ".csv"}:
        raise CommandError(
            f"{file_name!r} is no data set; bring JSON lines (.jsonl) or CSV (.csv)."
        )
    if path.stem in data_sets():
        raise CommandError(
            f"There is a data set {path.stem!r} already; give the file another name."
        )
    try:
        with _written(path):
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
        read_dataset(str(path), labelled=False)
    except BaseException:
        with suppress(OSError):
            path.unlink()
        raise
    return path.stem


def add_case(name: str, flow: str, case: RouteCase) -> bool:
    """Add a case to a data set beside the store, which is made when it is new.

    Returns whether it was added: a case of the same id is not added again.

    Raises:
        CommandError: The name is none of a file, the data set came with the product, or its file
            cannot be written.
        InputRefused: The data set that is there cannot be read.
    """
    _check_name(name)
    path = _own_folder() / f"{name}.jsonl"
    if name in data_sets() and not path.is_file():
        raise CommandError(
            f"Data set {name!r} is not added to: it came with the product, or is a CSV file; "
            "choose another name."
        )
    if path.is_file():
        if case.case_id in {one.case_id for one in read_dataset(str(path)).cases}:
            return False
        with _written(path), path.open("ab+") as file:
            # A file that somebody brought may end without a line end.
            file.seek(max(file.tell() - 1, 0))
            ended = file.read(1) in (b"", b"\n")
            file.write(("" if ended else "\n").encode() + dataset_text([case]).encode())
    else:
        with _written(path):
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(dataset_text([case], flow=flow), "utf-8")
    return True


@contextmanager
def _written(path: Path) -> Iterator[None]:
    """Say in one sentence why a file cannot be written."""
    try:
        yield
    except OSError as error:
        raise CommandError(
            f"Data set {path.stem!r} cannot be written to {path.parent} "
            f"({error.strerror or error}); give the folder write permission."
        ) from error


def _own_folder() -> Path:
    return store_path().parent / BUNDLED


def _check_name(name: str) -> None:
    if not LABEL.fullmatch(name):
        raise CommandError(
            f"{name!r} cannot be the name of a data set; a name has up to 40 letters, digits, "
            "dots, dashes and underscores and begins with a letter or a digit."
        )
