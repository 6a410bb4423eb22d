"""What the panel asks that says what another pool or limit would have done: the ledger alone."""

from functools import lru_cache

from handoff_console.console.commands.budgeting import played_requests
from handoff_console.console.queries import Version, reading
from handoff_console.console.viewmodels.what_if import what_if_view
from handoff_console.console.viewmodels.what_if_choices import WhatIfChoices, what_if_choices
from handoff_console.store.analysis.pool_course import Course
from handoff_console.store.analysis.what_if import Change, pool_marks, what_if


@lru_cache(maxsize=8)
def what_if_ground(found: Version) -> tuple[tuple[Course, ...], WhatIfChoices | None]:
    """Return the requests of a session as a what-if plays them, and what there is to choose."""
    with reading(found.path) as db:
        played = played_requests(db, found.session_id, until_seq=found.seq)
    marks = pool_marks(played)
    shown = what_if_view(what_if(played, Change()), marks).marks
    return played, what_if_choices(played, marks, shown)
