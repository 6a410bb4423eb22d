"""The sample sessions, unpacked where nothing of the user's is touched."""

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from handoff_console.console.commands.errors import CommandError
from handoff_console.console.commands.stores import ready_store
from handoff_console.sample_runs import shipped


@contextmanager
def fresh_samples() -> Iterator[Path]:
    """Make a store with the sample sessions in a temporary folder, removed at the end.

    Raises:
        CommandError: This installation has no sample sessions.
    """
    if not shipped.is_shipped():
        raise CommandError(
            "This installation has no sample sessions; install handoff-console again, or make them "
            "with `make samples` in a checkout."
        )
    with tempfile.TemporaryDirectory(prefix="handoff-demo-", ignore_cleanup_errors=True) as folder:
        path = Path(folder) / "samples.db"
        shipped.unpack(path)
        yield ready_store(path)
