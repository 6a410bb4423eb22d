"""What the pages need, loaded when nobody waits for it.

Loading takes longer than anything else from the command to the first page. So each library is
loaded at the moment that delays nobody: what the first page needs while the browser starts, the
rest when that page is there.
"""

import contextlib
import importlib
import inspect
import sys
import threading
import time
from collections.abc import Iterator
from urllib.parse import urlsplit

_SCREENS = "handoff_console.console.screens"
_NEEDED_BY: dict[str, tuple[str, ...]] = {
    "/": ("handoff_console.console.inbox_queries", "handoff_console.console.components.panel",
          "handoff_console.console.components.session_list"),
    "/session": (f"{_SCREENS}.session_parts",),
}  # fmt: skip
_WITH_CHARTS = ("/session",)
_BY_ALL = ("handoff_console.console.memory", "handoff_console.console.components.problem")
_THE_REST = (f"{_SCREENS}.session_parts", "handoff_console.console.runs")
_PACKAGED_COMPONENTS = "streamlit.components.v2.manifest_scanner"
_CHART_THEME = "streamlit.elements.lib.streamlit_plotly_theme"

NOBODY_LOOKS_SECONDS = 10.0
"""After so long without a page, the rest is loaded for whoever comes later."""
SETTLES_SECONDS = 0.5
"""The browser asks for a page's last files for so long after the server is done with it."""

_is_drawn = threading.Event()
_charts = threading.Lock()
_charts_wait = False


def load_for(page: str) -> None:
    """Load what the page at an address needs; after it was drawn, what the others do."""
    path = urlsplit(page).path
    for name in (*_NEEDED_BY.get(path, ()), *_BY_ALL):
        importlib.import_module(name)
    if path in _WITH_CHARTS:
        prepare_charts()
    with contextlib.suppress(ImportError):
        importlib.import_module("streamlit.emojis")
    # Streamlit asks once whether it runs in a shell; Python then looks up every module's file.
    inspect.stack()
    if _is_drawn.wait(NOBODY_LOOKS_SECONDS):
        time.sleep(SETTLES_SECONDS)
    prepare_charts()
    for name in _THE_REST:
        importlib.import_module(name)


def page_is_drawn() -> None:
    """Say that the server is done with a page."""
    _is_drawn.set()


@contextlib.contextmanager
def charts_later() -> Iterator[None]:
    """Load Streamlit without its theme for charts, a quarter of its time: see `prepare_charts`."""
    global _charts_wait  # noqa: PLW0603 - one state for the process
    if "streamlit" in sys.modules or "plotly" in sys.modules:
        yield
        return
    sys.modules["plotly"] = None  # type: ignore[assignment]  # Python's way to say: not there
    try:
        yield
    finally:
        del sys.modules["plotly"]
    _charts_wait = True


def own_components_only() -> None:
    """Keep Streamlit from looking for components in every package that is installed.

    The pages have their own ones alone. Reading what a hundred packages say about themselves takes
    a fifth of a second of every start. Another Streamlit may look elsewhere: then nothing is saved.
    """
    with contextlib.suppress(ImportError):
        scanner = vars(importlib.import_module(_PACKAGED_COMPONENTS))
        if "scan_component_manifests" in scanner:
            scanner["scan_component_manifests"] = list


def prepare_charts() -> None:
    """Make Streamlit's theme for charts if that was put off; needed before the first chart.

    Where another Streamlit has it elsewhere, charts have the one that Plotly brings.
    """
    global _charts_wait  # noqa: PLW0603 - one state for the process
    with _charts:
        if _charts_wait:
            with contextlib.suppress(ImportError, AttributeError):
                importlib.import_module(_CHART_THEME).configure_streamlit_plotly_theme()
            _charts_wait = False
