"""Libraries are loaded when nobody waits for them, and are all there when they are needed."""

import json
import subprocess
import sys

from handoff_console.console import server, warming

LOADED = "import json, sys; print(json.dumps([name for name in {names} if name in sys.modules]))"
CHART = "plotly.graph_objects"


def printed(act):
    """Return what an act prints, in a process of its own."""
    script = f"from handoff_console.console import server, warming\n{act}"
    said = subprocess.run([sys.executable, "-c", script], check=True, stdout=subprocess.PIPE)
    return json.loads(said.stdout)


def loaded_after(act, *names):
    """Return which of the modules are loaded after an act, in a process of its own."""
    return printed(f"{act}\n{LOADED.format(names=list(names))}")


def test_the_server_starts_without_the_libraries_that_only_charts_need():
    assert loaded_after("server.application()", "streamlit", CHART, "pandas") == ["streamlit"]


def test_a_chart_finds_the_theme_that_was_put_off():
    act = """
server.application()
warming.prepare_charts()
import plotly.io
assert plotly.io.templates.default == "streamlit"
"""
    assert loaded_after(act, CHART) == [CHART]


def test_the_list_of_sessions_needs_neither_charts_nor_flows():
    act = """
server.application()
warming.NOBODY_LOOKS_SECONDS = 0
warming.prepare_charts = lambda: None
warming._THE_REST = ()
warming.load_for("http://127.0.0.1:8501/")
"""
    here = "handoff_console.console"
    assert loaded_after(act, f"{here}.inbox_queries", f"{here}.queries", f"{here}.runs", CHART) == [
        f"{here}.inbox_queries"
    ]


def test_all_pages_find_what_they_need_once_one_was_drawn(monkeypatch):
    monkeypatch.setattr(warming, "SETTLES_SECONDS", 0)
    warming.page_is_drawn()
    warming.load_for("http://127.0.0.1:8501/")

    assert set(warming._THE_REST) <= set(sys.modules)


def test_where_streamlit_is_loaded_already_nothing_is_put_off():
    server.application()
    with warming.charts_later():
        assert sys.modules.get("plotly", ...) is not None


def test_without_the_theme_where_it_is_looked_for_pages_are_drawn_all_the_same(monkeypatch):
    monkeypatch.setattr(warming, "_charts_wait", True)
    monkeypatch.setattr(warming, "_CHART_THEME", "streamlit.somewhere_else")

    warming.prepare_charts()

    assert not warming._charts_wait


def test_the_server_reads_no_other_packages_in_search_of_components():
    act = """
server.application()
from importlib.metadata import Distribution
asked = []
Distribution.metadata = property(asked.append)
from streamlit.components.v2.component_manager import BidiComponentManager
BidiComponentManager().discover_and_register_components(start_file_watching=False)
import json
print(json.dumps(len(asked)))
"""
    assert printed(act) == 0


def test_a_streamlit_that_looks_for_components_elsewhere_starts_as_it_would(monkeypatch):
    monkeypatch.setattr(warming, "_PACKAGED_COMPONENTS", "streamlit.components.elsewhere")

    warming.own_components_only()
