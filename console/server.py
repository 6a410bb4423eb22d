"""Serving the console on this machine: settings, port, health, and nothing for other hosts."""

import contextlib
import importlib
import inspect
import os
import socket
import sys
import threading
import time
import webbrowser
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import urlencode, urlsplit

from handoff_console.console.settings import SERVED_SETTINGS, SETTINGS, STORE_VARIABLE
from handoff_console.runtime.errors import HandoffConsoleError

LOOPBACK = ("127.0.0.1", "localhost", "::1")
DEFAULT_PORT = 8501
PORTS_TRIED = 100
HEALTH = "/health"


class ServerError(HandoffConsoleError):
    """The console cannot be served as asked."""


class AddressRefused(ServerError):
    """The console would have listened beyond this machine."""

    def __init__(self, address: str) -> None:
        self.address = address
        super().__init__(
            f"The console does not listen on {address!r}, because it has no login yet; "
            f"it listens on {', '.join(LOOPBACK[:-1])} or {LOOPBACK[-1]}. "
            "Leave the address out, or reach this machine through an SSH tunnel."
        )


class PortTaken(ServerError):
    """Something else listens on the port that was asked for."""

    def __init__(self, port: int) -> None:
        self.port = port
        super().__init__(
            f"Port {port} is taken by another program; any free port from 1 to 65535 will do. "
            "Choose another one, or leave the port out and the next free one is used."
        )


def serve(
    store_path: Path,
    *,
    address: str = "127.0.0.1",
    port: int | None = None,
    session_id: str | None = None,
    open_browser: bool = True,
    announce: Callable[[str], None] | None = None,
) -> None:
    """Serve the console on a store until the process is interrupted.

    Args:
        store_path: The store that the screens read; it must exist.
        address: One of `LOOPBACK`.
        port: The port to use; None (or 0) takes the first free one from `DEFAULT_PORT` on.
        session_id: Show this session first; None shows the list.
        open_browser: Open the page in the user's browser.
        announce: Gets the page's address once, when the console is ready.

    Raises:
        AddressRefused: The address is not one of this machine's own.
        PortTaken: The port that was asked for is in use, or no port is free.
    """
    settings = settings_for(address, port)
    page = page_url(address, settings["server.port"], session_id)
    os.environ[STORE_VARIABLE] = str(store_path.absolute())
    _tell_when_ready(page, announce, open_browser)
    with contextlib.suppress(KeyboardInterrupt):
        application().run(config=settings)


def settings_for(address: str, port: int | None) -> dict[str, Any]:
    """Return Streamlit's settings for this address and port, None for the next free port.

    Raises:
        AddressRefused: The address is not one of this machine's own.
        PortTaken: The port that was asked for is in use, or no port is free.
    """
    if address not in LOOPBACK:
        raise AddressRefused(address)
    return {
        **SETTINGS,
        **SERVED_SETTINGS,
        "server.address": address,
        "server.allowedHosts": sorted({*SETTINGS["server.allowedHosts"], address}),
        "server.port": _checked(address, port) if port else free_port(address),
    }


def application() -> Any:
    """Return the console as an ASGI application: pages, health, and a guard for the host name."""
    import streamlit as st
    from starlette.middleware import Middleware
    from starlette.responses import JSONResponse
    from starlette.routing import Route

    async def health(_: Any) -> JSONResponse:
        return JSONResponse({"status": "ok"})

    return st.App(
        Path(__file__).with_name("app.py"),
        on_script_error=_say_known_errors,
        routes=[Route(HEALTH, health)],
        middleware=[Middleware(OwnHostOnly)],
    )


class OwnHostOnly:
    """Answers no request that was sent to another host name.

    Streamlit checks the name for its WebSocket only; a web page elsewhere that points its own name
    at this machine must not read anything over plain HTTP either.
    """

    def __init__(self, app: Any) -> None:
        self.app = app

    async def __call__(self, scope: Mapping[str, Any], receive: Any, send: Any) -> None:
        """Pass a request on, or refuse it with status 403."""
        if scope["type"] == "http" and not is_own_host(_host(scope)):
            from starlette.responses import PlainTextResponse

            response = PlainTextResponse("This console answers on this machine only.", 403)
            await response(dict(scope), receive, send)
            return
        await self.app(scope, receive, send)


def is_own_host(host: str) -> bool:
    """Say whether a `Host` header names this machine, with or without a port."""
    try:
        return urlsplit(f"//{host}").hostname in LOOPBACK
    except ValueError:
        return False


def free_port(address: str) -> int:
    """Return the first free port from `DEFAULT_PORT` on.

    Raises:
        PortTaken: None of the first `PORTS_TRIED` is free.
    """
    for port in range(DEFAULT_PORT, DEFAULT_PORT + PORTS_TRIED):
        if _is_free(address, port):
            return port
    raise PortTaken(DEFAULT_PORT)


def page_url(address: str, port: int, session_id: str | None = None) -> str:
    """Return the address of the list, or of a session's page."""
    host = f"[{address}]" if ":" in address else address
    page = f"/session?{urlencode({'session': session_id})}" if session_id else "/"
    return f"http://{host}:{port}{page}"


def _checked(address: str, port: int) -> int:
    if not _is_free(address, port):
        raise PortTaken(port)
    return port


def _is_free(address: str, port: int) -> bool:
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    with socket.socket(family) as probe:
        if sys.platform != "win32":  # there the option would let two programs share a port
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((address, port))
        except (OSError, OverflowError):
            return False
    return True


def _host(scope: Mapping[str, Any]) -> str:
    values = [value for name, value in scope["headers"] if name == b"host"]
    return values[0].decode("latin-1") if len(values) == 1 else ""


def _say_known_errors(error: Exception) -> bool:
    """Show the sentence of an error that has one, also when only a part of a page was drawn."""
    if not isinstance(error, HandoffConsoleError):
        return False
    from handoff_console.console.components.problem import show_problem

    show_problem(error)
    return True


def _tell_when_ready(page: str, announce: Callable[[str], None] | None, open_browser: bool) -> None:
    parts = urlsplit(page)
    host, port = parts.hostname or LOOPBACK[0], parts.port or DEFAULT_PORT

    def wait() -> None:
        for _ in range(600):
            with contextlib.suppress(OSError), socket.create_connection((host, port), timeout=1):
                break
            time.sleep(0.05)
        else:
            return
        if announce:
            announce(page)
        if open_browser:
            webbrowser.open(page)
        _load_what_pages_need()

    threading.Thread(target=wait, name="console-ready", daemon=True).start()


def _load_what_pages_need() -> None:
    """Load, while the browser starts, what the first page would wait for."""
    for name in ("screens.session_parts", "runs"):
        importlib.import_module(f"handoff_console.console.{name}")
    with contextlib.suppress(ImportError):
        importlib.import_module("streamlit.emojis")
    # Streamlit asks once whether it runs in a shell; Python then looks up every module's file.
    inspect.stack()
