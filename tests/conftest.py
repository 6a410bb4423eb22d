"""What every test shares: the browser, sound contexts, distance from the user's own settings."""

import os
import shutil
import signal
from collections.abc import Generator
from typing import TYPE_CHECKING

import pytest
from hypothesis import settings

if TYPE_CHECKING:
    from support.contexts import ContextCheck

# A busy machine is slow, not wrong; and CI must give the same answer twice.
settings.register_profile("local", deadline=None)
settings.register_profile("ci", deadline=None, derandomize=True)
settings.load_profile("ci" if os.environ.get("CI") else "local")

# A shell that runs tests in the background has them ignore Ctrl-C, and so would what they start.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

CHROMIUM = next(
    filter(None, map(shutil.which, ["chromium-headless-shell", "chromium", "chromium-browser"])),
    None,
)


UNCOUNTED = {"browser", "property"}
"""Folders of tests whose lines are not counted: the consoles that a browser looks at are processes
of their own, and a law goes a hundred times through lines that a test of behaviour has counted."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Leave the lines of some folders uncounted: counting doubles the time that Python takes."""
    for item in items:
        if item.path.parent.name in UNCOUNTED:
            item.add_marker(pytest.mark.no_cover)


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Skip browser tests where there is no Chromium; in CI that is a failure."""
    if CHROMIUM or item.get_closest_marker("browser") is None:
        return
    missing = (
        "there is no Chromium on this machine (Debian: apt-get install chromium-headless-shell)"
    )
    if os.environ.get("CI"):
        pytest.fail(f"A browser test cannot run: {missing}.", pytrace=False)
    pytest.skip(missing)


@pytest.fixture(scope="session")
def chromium() -> str:
    """Return the path of the Chromium to start; only for tests marked `browser`."""
    assert CHROMIUM, "Mark the test with pytest.mark.browser."
    return CHROMIUM


@pytest.fixture(autouse=True)
def no_store_of_the_user(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep tests away from the store that the person running them may have named."""
    monkeypatch.delenv("HANDOFF_DB", raising=False)


CONTEXTS: "pytest.StashKey[ContextCheck]" = pytest.StashKey()


@pytest.hookimpl(wrapper=True)
def pytest_collection(session: pytest.Session) -> Generator[None, object, object]:
    """Check what each model is sent: every tool call answered once, no foreign ones (R67).

    From the import of the first test module to the end of the last test, so that it sees what
    fixtures of every scope run, and threads. The program that kills sessions (`support/killing.py`)
    has the check as well. Not covered: other processes that tests start, such as batches, waiting
    command lines, and consoles that a browser looks at.
    """
    from support.contexts import ContextCheck

    monkeypatch = pytest.MonkeyPatch()
    session.config.add_cleanup(monkeypatch.undo)
    check = session.config.stash[CONTEXTS] = ContextCheck(monkeypatch)
    collected = yield
    if wrong := check.taken():
        raise pytest.UsageError(f"While tests were collected: {'; '.join(wrong)}")
    return collected


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown(item: pytest.Item) -> Generator[None, object, object]:
    """Fail the test during which a model was sent what it must not be sent."""
    check = item.config.stash.get(CONTEXTS, None)
    try:
        return (yield)
    finally:
        assert check is None or check.taken() == [], (
            "A model was sent messages that it must not be sent."
        )
