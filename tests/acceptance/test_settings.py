"""The settings of a checkout keep the console to this machine."""

import tomllib
from pathlib import Path

import pytest

pytestmark = pytest.mark.acceptance

SETTINGS = tomllib.loads(
    (Path(__file__).parents[2] / ".streamlit" / "config.toml").read_text(encoding="utf-8")
)


@pytest.mark.parametrize(
    ("section", "name", "value"),
    [
        ("server", "address", "127.0.0.1"),
        ("server", "allowedHosts", ["127.0.0.1", "localhost"]),
        ("server", "enableStaticServing", False),
        ("browser", "gatherUsageStats", False),
        ("runner", "magicEnabled", False),
        ("client", "showErrorLinks", False),
    ],
)
def test_a_checkout_is_as_closed_as_the_installed_command(section, name, value):
    assert SETTINGS[section][name] == value


@pytest.mark.parametrize("setting", ["enableCORS", "enableXsrfProtection"])
def test_protections_that_are_on_by_default_stay_on(setting):
    assert SETTINGS["server"].get(setting, True) is True
