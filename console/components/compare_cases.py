"""The table of cases: what was asked, where it should have gone, where each version sent it."""

from collections.abc import Callable, Sequence
from dataclasses import asdict

import streamlit as st

from handoff_console.console import theme
from handoff_console.console.components.source import source
from handoff_console.console.components.wire import wire
from handoff_console.console.viewmodels.compare_rows import CaseLine

KEY = "compare_cases"

_HTML = """
<div id="cases">
  <table aria-label="Cases">
    <thead><tr>
      <th class="change" scope="col">change</th>
      <th scope="col">what was asked</th>
      <th class="place" scope="col">should go to</th>
      <th class="place" scope="col"><span class="name"></span></th>
      <th class="place" scope="col"><span class="name"></span></th>
    </tr></thead>
    <tbody></tbody>
  </table>
</div>
"""

_mount = st.components.v2.component(
    "compare_cases",
    html=_HTML,
    css=source("common.css", "compare_cases.css"),
    js=source("common.js", "compare_cases.js"),
)


def case_table(
    rows: Sequence[CaseLine],
    names: tuple[str, str],
    selected: str | None,
    on_choose: Callable[[], None],
) -> None:
    """Draw the rows.

    Args:
        rows: In the order to show them.
        names: What stands over the columns of A and B.
        selected: The case that is shown beside the table; None when none is.
        on_choose: Runs when a case was chosen (`chosen_case`).
    """
    fields = [{**asdict(row), "id": row.case_id} for row in rows]
    _mount(
        key=KEY,
        data=wire(
            {
                "rows": fields,
                "names": list(names),
                "selected": selected,
                "palette": theme.palette(),
            }
        ),
        on_chosen_change=on_choose,
    )


def chosen_case() -> str | None:
    """Return the case that was just chosen; only inside `on_choose`."""
    chosen = (st.session_state.get(KEY) or {}).get("chosen")
    return chosen if isinstance(chosen, str) else None
