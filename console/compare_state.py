"""Where the reader of the routing pages is: what of their selections stands in the address.

Beside `state`, and for the same reason: a link shows somebody else the same.
"""

from collections.abc import Mapping
from typing import Literal, NamedTuple, get_args

import streamlit as st

from handoff_console.console.commands.drafts import AgentWords
from handoff_console.console.state import LEAVING
from handoff_console.console.viewmodels.compare_rows import CHIPS, REGRESSED, Wanted

View = Literal["happened", "compare", "drafts", "labels"]
VIEWS: tuple[View, ...] = get_args(View)
VIEW_WORDS: dict[View, str] = {
    "happened": "What happened",
    "compare": "Compare versions",
    "drafts": "Edit descriptions",
    "labels": "Label cases",
}

VIEW, FIND, START_FOLD = "routing_view", "find_cases", "start_fold"
"""The keys of the choice of pages, of the field that looks for words, and of the form to start."""
FIRST_FOLD, START_DATASET, DRAFT_FLOW = "first_fold", "start_dataset", "draft_flow"
"""Those of the form while nothing was compared, of its data set, and of the flow that is edited."""
START_FLOW = "start_flow"
"""That of the form's flow, where its data set names none."""
LABEL_OF = "label_of"
"""The key of the choice of what is labelled."""
_TOLD, _DRAFTS, _PREPARED = "compare_told", "compare_drafts", "compare_prepared"
_JOB, _LEAVING = "compare_job", f"{LEAVING}routing"


def selected_view() -> View:
    """Return which of the routing pages is open; a link to an experiment means the comparison."""
    asked = _parameter("view")
    return next((view for view in VIEWS if view == asked), _first_view())


def select_view(view: View) -> None:
    """Put a routing page into the address, unless it is the one that opens without."""
    _put(view=view if view != _first_view() else "")


def go_to(view: View) -> None:
    """Open another routing page; only in a callback, before the choice of pages is drawn."""
    st.session_state[VIEW] = view


def selected_experiment() -> str:
    """Return the experiment in the address; empty for the newest."""
    return _parameter("experiment")


def select_experiment(experiment_id: str) -> None:
    """Show another experiment, from its first pair of versions on."""
    _put(experiment=experiment_id, a="", b="", case="", cell="", page="")


def stay_at(experiment_id: str) -> None:
    """Keep the experiment in sight in the address: a newer one does not take its place."""
    _put(experiment=experiment_id)


def selected_pair() -> tuple[str, str]:
    """Return the versions A and B in the address; empty leaves the choice to the experiment."""
    return _parameter("a"), _parameter("b")


def select_pair(a: str, b: str) -> None:
    """Put two versions into the address; other ones have other cells and pages."""
    before = selected_pair()
    if (a, b) != before:
        _put(a=a, b=b)
        if all(before):
            _put(cell="", page="")


def wanted_cases() -> Wanted:
    """Return which cases the address asks for; regressed ones by default."""
    chip = _parameter("chip")
    side, expected, decided = _cell()
    return Wanted(
        chip=chip if chip in CHIPS else REGRESSED,
        text=_parameter("find"),
        expected=expected,
        decided=decided,
        side=side,
    )


def want_chip(chip: str) -> None:
    """Put a filter into the address."""
    if chip != wanted_cases().chip:
        _put(chip=chip if chip != REGRESSED else "", page="", case="")


def want_text(text: str) -> None:
    """Put the words to look for into the address."""
    if text != _parameter("find"):
        _put(find=text, page="")


def want_cell(side: str, expected: str, decided: str) -> None:
    """Show the cases of a cell of a matrix, whatever became of them; only in a callback."""
    st.session_state[FIND] = ""
    _put(cell="~".join((side, expected, decided)), chip="all", page="", case="", find="")


def leave_cell() -> None:
    """Take the filter by a cell away."""
    _put(cell="", page="")


def selected_case() -> str:
    """Return the case in the address; empty shows the first one."""
    return _parameter("case")


def select_case(case_id: str) -> None:
    """Put a case into the address."""
    _put(case=case_id)


def page_of_cases() -> int:
    """Return which page of the cases is shown, from 1."""
    text = _parameter("page")
    return max(1, int(text)) if text.isascii() and text.isdigit() and len(text) < 9 else 1


def turn_page(page: int) -> None:
    """Put a page of the cases into the address."""
    _put(page=str(page) if page > 1 else "")


def labeller() -> str:
    """Return who labels, as the address says; empty when nobody has said."""
    return _parameter("by")


def label_as(name: str) -> None:
    """Put the labeller into the address."""
    _put(by=name)


def label_source() -> str:
    """Return what is labelled, as the address names it; empty for the first there is."""
    return _parameter("of")


def label_these(source: str) -> None:
    """Put what is labelled into the address."""
    _put(of=source)


def go_and_label(source: str) -> None:
    """Open the page that labels, at these requests; only in a callback."""
    st.session_state[LABEL_OF] = source
    go_to("labels")


def go_and_edit(flow: str) -> None:
    """Open the page that edits descriptions, at this flow; only in a callback."""
    st.session_state[DRAFT_FLOW] = flow
    go_to("drafts")


class Told(NamedTuple):
    """What the page tells the reader until they do something else."""

    text: str
    failed: bool


def tell(text: str, *, failed: bool = False) -> None:
    """Keep a sentence for the reader, shown once."""
    st.session_state[_TOLD] = Told(text, failed)


def told() -> Told | None:
    """Return the sentence that was kept, once; None when there is none."""
    said = st.session_state.pop(_TOLD, None)
    return said if isinstance(said, Told) else None


def draft(flow: str, base: str) -> dict[str, AgentWords]:
    """Return what was changed in a draft, by agent: it stays while the reader looks elsewhere."""
    drafts: dict[tuple[str, str], dict[str, AgentWords]] = st.session_state.setdefault(_DRAFTS, {})
    return drafts.setdefault((flow, base), {})


class Prepared(NamedTuple):
    """What a comparison shall begin with."""

    flow: str
    a: str
    b: str


def prepare_start(flow: str, a: str, b: str, dataset: str = "") -> None:
    """Put two versions into the form that starts a comparison, and open it; only in a callback.

    Without versions the form is closed; without a data set it stays with the one it has.
    """
    st.session_state[_PREPARED] = Prepared(flow, a, b)
    st.session_state[START_FOLD] = st.session_state[FIRST_FOLD] = bool(b)
    if flow:
        st.session_state[START_FLOW] = flow
    if dataset:
        st.session_state[START_DATASET] = dataset


def prepared() -> Prepared | None:
    """Return what the form shall begin with; None leaves it to the form."""
    found = st.session_state.get(_PREPARED)
    return found if isinstance(found, Prepared) else None


def followed_job() -> str:
    """Return the comparison that was started here and is watched; empty for none."""
    return str(st.session_state.get(_JOB) or "")


def follow_job(name: str) -> None:
    """Watch a comparison that was started here; empty stops watching."""
    st.session_state[_JOB] = name


class Leaving(NamedTuple):
    """Where the reader goes from here."""

    page: str
    query: Mapping[str, str]


def leave_for_session(session_id: str, *, rerun: bool = False) -> None:
    """Note in a callback that the reader goes to a session, or to the re-run of how it was routed.

    Args:
        session_id: The session.
        rerun: Go to the form that runs its first handoff again, which is the one that routes.
    """
    page = "screens/rerun.py" if rerun else "screens/session.py"
    query = {"session": session_id} | ({"handoff": "h1"} if rerun else {})
    st.session_state[_LEAVING] = Leaving(page, query)


def leaving() -> Leaving | None:
    """Return where the reader goes, once; None to stay."""
    found = st.session_state.pop(_LEAVING, None)
    return found if isinstance(found, Leaving) else None


def _first_view() -> View:
    return "compare" if _parameter("experiment") else "happened"


def _cell() -> tuple[str, str, str]:
    parts = _parameter("cell").split("~")
    return (parts[0], parts[1], parts[2]) if len(parts) == 3 else ("", "", "")


def _parameter(name: str) -> str:
    return st.query_params.get(name) or ""


def _put(**values: str) -> None:
    for name, value in values.items():
        if not value:
            st.query_params.pop(name, None)
        elif st.query_params.get(name) != value:
            st.query_params[name] = value
