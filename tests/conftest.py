"""What every test shares: the browser, sound contexts, distance from the user's own settings."""

import os
import shutil
from collections.abc import Iterator

import pytest
from hypothesis import settings

# A busy machine is slow, not wrong; and CI must give the same answer twice.
settings.register_profile("local", deadline=None)
settings.register_profile("ci", deadline=None, derandomize=True)
settings.load_profile("ci" if os.environ.get("CI") else "local")

CHROMIUM = next(filter(None, map(shutil.which, ["chromium", "chromium-browser"])), None)


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Skip browser tests where there is no Chromium; in CI that is a failure."""
    if CHROMIUM or item.get_closest_marker("browser") is None:
        return
    missing = "there is no Chromium on this machine (Debian: apt-get install chromium)"
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


@pytest.fixture(autouse=True)
def sound_contexts(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Check what each model is sent: every tool call answered once, no foreign ones (R67)."""
    from support.contexts import checked_contexts

    yield from checked_contexts(monkeypatch)
