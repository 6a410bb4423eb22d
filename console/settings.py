"""What the console tells Streamlit, and where it finds its store."""

import json
import os
from pathlib import Path
from typing import Any

from handoff_console.console import theme

STORE_VARIABLE = "HANDOFF_DB"
"""The environment variable that names the store."""
FLOWS_VARIABLE = "HANDOFF_FLOWS"
"""The environment variable that names the user's own flows, as a JSON list."""
DEFAULT_STORE = "handoff.db"
"""In the current folder, where nothing else was said."""

SETTINGS: dict[str, Any] = {
    "server.address": "127.0.0.1",
    "server.allowedHosts": ["127.0.0.1", "localhost"],
    "server.enableStaticServing": False,
    "browser.gatherUsageStats": False,
    "runner.magicEnabled": False,
    "client.toolbarMode": "minimal",
    "client.showErrorLinks": False,
    "theme.baseFontSize": 14,
    "theme.baseRadius": "small",
    "theme.metricValueFontSize": "1.35rem",
    "theme.paddingTop": "0.75rem",
    "theme.paddingBottom": "0.75rem",
    "theme.chartCategoricalColors": list(theme.AGENT_COLORS),
    "theme.light.primaryColor": theme.PRIMARY,
    "theme.light.backgroundColor": theme.LIGHT_BACKGROUND,
    "theme.dark.primaryColor": theme.PRIMARY_ON_DARK,
    "theme.dark.backgroundColor": theme.DARK_BACKGROUND,
}
"""What `.streamlit/config.toml` says for a checkout, here for an installed package."""

SERVED_SETTINGS: dict[str, Any] = {
    # The browser is opened by us, at the page that was asked for.
    "server.headless": True,
    "server.fileWatcherType": "none",
    "logger.hideWelcomeMessage": True,
    # A configuration file in the user's folder must not open these again.
    "global.developmentMode": False,
    "server.enableCORS": True,
    "server.enableXsrfProtection": True,
    "server.enableAgentApi": False,
    "server.baseUrlPath": "",
    # A button that opens another part of a page goes before the part that stands in the address.
    "global.disableWidgetStateDuplicationWarning": True,
}
"""What is said besides when the console is served by its own command."""


def store_path() -> Path:
    """Return where the console's store is, whether or not there is a file."""
    return Path(os.environ.get(STORE_VARIABLE) or DEFAULT_STORE).absolute()


def named_store() -> str:
    """Return the store as a command line has to name it; empty where it needs no name.

    That is where the console was started: `handoff.db` of another folder is another store.
    """
    path = store_path()
    return "" if path == Path(DEFAULT_STORE).absolute() else str(path)


def named_flows() -> tuple[str, ...]:
    """Return the flows that the user named when the console was started; their code may be loaded.

    No other code is ever loaded: not because a store names it, and not because an address does.
    """
    named = json.loads(os.environ.get(FLOWS_VARIABLE) or "[]")
    return tuple(str(name) for name in named)
