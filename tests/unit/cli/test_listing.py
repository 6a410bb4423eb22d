"""How a point in time is named on the command line."""

from datetime import UTC, datetime

import pytest

from handoff_console.console.commands.errors import CommandError
from handoff_console.console.commands.listing import moment_since

NOW = datetime(2026, 1, 31, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("2026-01-30", datetime(2026, 1, 30, tzinfo=UTC)),
        ("2026-01-30T08:30", datetime(2026, 1, 30, 8, 30, tzinfo=UTC)),
        ("2026-01-30T08:30+02:00", datetime(2026, 1, 30, 6, 30, tzinfo=UTC)),
        ("90m", datetime(2026, 1, 31, 10, 30, tzinfo=UTC)),
        ("12h", datetime(2026, 1, 31, tzinfo=UTC)),
        ("7d", datetime(2026, 1, 24, 12, tzinfo=UTC)),
    ],
)  # fmt: skip
def test_a_moment_is_a_date_a_time_or_how_long_ago(text, moment):
    assert moment_since(text, NOW) == moment


@pytest.mark.parametrize("text", ["", "now", "7", "7w", "2026-13-01", "999999d", "-3d"])
def test_anything_else_is_refused_with_the_forms_there_are(text):
    with pytest.raises(CommandError, match="is no point in time; write a date such as 2026-01-31"):
        moment_since(text, NOW)
