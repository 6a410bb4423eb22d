"""Screens without a browser: a console on a store, opened by the front door."""

from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest
from support import recorded

from handoff_console import console
from handoff_console.console.warming import own_components_only
from handoff_console.sample_runs.shipped import unpack
from handoff_console.store.db import open_reader, open_store
from handoff_console.store.queries import session_rows

APP = Path(console.__file__).with_name("app.py")
Open = Callable[..., AppTest]


@pytest.fixture(scope="session", autouse=True)
def own_components() -> None:
    """Start the pages as the server does: Streamlit's search takes longer than most tests."""
    own_components_only()


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A store without a session, which the console will read."""
    path = tmp_path / "sessions.db"
    open_store(path, create=True).close()
    monkeypatch.setenv("HANDOFF_DB", str(path))
    st.cache_resource.clear()
    st.cache_data.clear()
    return path


@pytest.fixture
def sessions(store: Path) -> Path:
    """The same with a failed, a healthy and a hostile session in it."""
    return recorded.record(
        store,
        [
            (recorded.HEALTHY, recorded.refund_policy()),
            (recorded.FAILED, recorded.double_charge()),
            (recorded.HOSTILE, recorded.hostile()),
        ],
    )


@pytest.fixture
def screen() -> Open:
    """Return a function that opens a screen by its name, with what its address says."""

    def opened(name: str, /, **query: str) -> AppTest:
        page = AppTest.from_file(APP, default_timeout=60).run()
        page.query_params.update(query)
        return page.switch_page(f"screens/{name}.py").run()

    return opened


@pytest.fixture
def samples(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """The sample sessions, which the console will read: the id of each by its name."""
    path = tmp_path / "samples.db"
    unpack(path)
    monkeypatch.setenv("HANDOFF_DB", str(path))
    st.cache_resource.clear()
    st.cache_data.clear()
    with closing(open_reader(path)) as db:
        rows = session_rows(db, limit=None)
    return {row["metadata"]["sample"]: row["session_id"] for row in rows}
