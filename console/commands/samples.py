"""The sample sessions, copied to where nothing of the user's is touched."""

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.resources import as_file, files
from pathlib import Path

from handoff_console.console.commands.errors import CommandError
from handoff_console.console.commands.stores import ready_store

SAMPLES = "samples.db"


@contextmanager
def fresh_samples() -> Iterator[Path]:
    """Make a store with the sample sessions in a temporary folder, removed at the end.

    Raises:
        CommandError: This installation has no sample sessions.
    """
    source = files("handoff_console.sample_runs").joinpath(SAMPLES)
    if not source.is_file():
        raise CommandError(
            "This installation has no sample sessions; install handoff-console again, or make them "
            "with `make samples` in a checkout."
        )
    with tempfile.TemporaryDirectory(prefix="handoff-demo-", ignore_cleanup_errors=True) as folder:
        path = Path(folder) / SAMPLES
        with as_file(source) as packed:
            shutil.copyfile(packed, path)
        path.chmod(0o600)
        yield ready_store(path)
