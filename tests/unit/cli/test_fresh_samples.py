"""The store that the demo opens: a copy of its own, whole, private, and gone afterwards."""

from contextlib import closing

from handoff_console.console.commands.samples import fresh_samples
from handoff_console.sample_runs.day import RECORDINGS
from handoff_console.store import integrity, reader
from handoff_console.store.db import open_reader


def test_the_copy_is_whole_private_and_gone_at_the_end():
    with fresh_samples() as path:
        with closing(open_reader(path)) as db:
            assert integrity.problems(db) == []
            assert len(list(reader.session_ids(db))) == len(RECORDINGS)
        assert path.stat().st_mode & 0o777 == 0o600

    assert not path.parent.exists()


def test_two_copies_are_two_stores():
    with fresh_samples() as one, fresh_samples() as two:
        assert one != two
