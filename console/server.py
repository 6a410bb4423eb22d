"""Serving the console on this machine: settings, port, health, and nothing for other hosts."""

import asyncio
import contextlib
import json
import os
import signal
import socket
import sys
import threading
import time
import webbrowser
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from pathlib import Path
from types import FrameType
from typing import Any
from urllib.parse import urlencode, urlsplit

from handoff_console.console import warming
from handoff_console.console.ahead import ReadsAhead
from handoff_console.console.import_path import keep_behind_others
from handoff_console.console.page_links import PageLinks
from handoff_console.console.ports import DEFAULT_PORT, ServerError, free_port, usable_port
from handoff_console.console.settings import (
    FLOWS_VARIABLE,
    SERVED_SETTINGS,
    SETTINGS,
    STORE_VARIABLE,
)
from handoff_console.runtime.errors import HandoffConsoleError

LOOPBACK = ("127.0.0.1", "localhost", "::1")
HEALTH = "/health"
ANSWERS_SECONDS = 30.0
"""The server starts in a fraction of it, on a busy machine too."""
ENDS_SECONDS = 2.0
"""Open pages are told at once; what has not closed its connection by then never will."""


class AddressRefused(ServerError):
    """The console would have listened beyond this machine."""

    def __init__(self, address: str) -> None:
        self.address = address
        super().__init__(
            f"The console does not listen on {address!r}, because it has no login yet; "
            f"it listens on {', '.join(LOOPBACK[:-1])} or {LOOPBACK[-1]}. "
            "Leave the address out, or reach this machine through an SSH tunnel."
        )


def serve(
    store_path: Path,
    *,
    address: str = "127.0.0.1",
    port: int | None = None,
    session_id: str | None = None,
    experiment_id: str | None = None,
    flows: Sequence[str] = (),
    open_browser: bool = True,
    announce: Callable[[str], None] | None = None,
) -> None:
    """Serve the console on a store until the process is interrupted.

    Args:
        store_path: The store that the screens read; it must exist.
        address: One of `LOOPBACK`.
        port: The port to use; None (or 0) takes the first free one from `DEFAULT_PORT` on.
        session_id: Show this session first; None shows the list.
        experiment_id: Show this comparison first, where no session is named.
        flows: The user's own flows, `path/to/file.py:name`, that the screens may load and run.
        open_browser: Open the page in the user's browser.
        announce: Gets the page's address once, when the console is ready.

    Raises:
        AddressRefused: The address is not one of this machine's own.
        PortTaken: The port that was asked for is in use, or no port is free.
        PortForbidden: This program may not have the port that was asked for.
    """
    settings = settings_for(address, port)
    page = page_url(address, settings["server.port"], session_id, experiment_id)
    os.environ[STORE_VARIABLE] = str(store_path.absolute())
    os.environ[FLOWS_VARIABLE] = json.dumps(list(flows))
    _tell_when_ready(page, announce, open_browser)
    with _kept_at_hand(store_path), contextlib.suppress(KeyboardInterrupt):
        application().run(config=settings)
    # All is closed: another Ctrl-C is for nothing but what Python itself still waits for.
    signal.signal(signal.SIGINT, lambda *_: os._exit(0))


@contextlib.contextmanager
def _kept_at_hand(store_path: Path) -> Iterator[None]:
    """Keep a connection open that nobody uses, and empty the store's log at the end.

    Without one, each question after a killed process reads all that it had not yet put in its
    place: 13 ms of 15 MB, for every answer of every page.
    """
    from handoff_console.store.db import open_reader, open_store
    from handoff_console.store.errors import StoreError

    with contextlib.ExitStack() as kept:
        with contextlib.suppress(StoreError):  # the pages say what is wrong with it
            kept.enter_context(contextlib.closing(open_reader(store_path)))
        yield
    # Who reads alone leaves the log as it is, with what was overwritten in the store meanwhile.
    with contextlib.suppress(StoreError, KeyboardInterrupt):
        open_store(store_path).close()


def settings_for(address: str, port: int | None) -> dict[str, Any]:
    """Return Streamlit's settings for this address and port, None for the next free port.

    Raises:
        AddressRefused: The address is not one of this machine's own.
        PortTaken: The port that was asked for is in use, or no port is free.
        PortForbidden: This program may not have the port that was asked for.
    """
    if address not in LOOPBACK:
        raise AddressRefused(address)
    return {
        **SETTINGS,
        **SERVED_SETTINGS,
        "server.address": address,
        "server.allowedHosts": sorted({*SETTINGS["server.allowedHosts"], address}),
        "server.port": usable_port(address, port) if port else free_port(address),
    }


def application() -> Any:
    """Return the console as an ASGI application: pages, health, and a guard for the host name."""
    with warming.charts_later():
        import streamlit as st
    warming.own_components_only()
    keep_behind_others(Path(__file__).parent)
    from starlette.middleware import Middleware
    from starlette.responses import JSONResponse
    from starlette.routing import Route

    async def health(_: Any) -> JSONResponse:
        return JSONResponse({"status": "ok"})

    return st.App(
        Path(__file__).with_name("app.py"),
        on_script_error=_say_known_errors,
        lifespan=_closes_sessions,
        routes=[Route(HEALTH, health)],
        middleware=[Middleware(OwnHostOnly), Middleware(PageLinks), Middleware(ReadsAhead)],
    )


@contextlib.asynccontextmanager
async def _closes_sessions(_: Any) -> AsyncIterator[None]:
    """Close, at the end, what was started from the screens: the record says how it ended."""
    if threading.current_thread() is threading.main_thread():
        _ends_in_time(asyncio.get_running_loop())
    # A second Ctrl-C ends the wait for open pages; it is no error, and none is to be printed.
    with contextlib.suppress(asyncio.CancelledError):
        yield
    working = sys.modules.get("handoff_console.console.commands.working")
    if working is not None:
        await asyncio.to_thread(working.stop_all)


def _ends_in_time(loop: asyncio.AbstractEventLoop) -> None:
    """Have the signals that end the server followed by a second Ctrl-C.

    uvicorn waits without end for a connection that comes in just as it stops listening and never
    asks for anything; browsers open such ones ahead.
    """

    def followed(ends: Callable[[int, FrameType | None], Any]) -> Callable[[int, Any], None]:
        def end(number: int, frame: FrameType | None) -> None:
            ends(number, frame)
            loop.call_soon_threadsafe(
                loop.call_later, ENDS_SECONDS, signal.raise_signal, signal.SIGINT
            )

        return end

    for number in (signal.SIGINT, signal.SIGTERM):
        ends = signal.getsignal(number)
        if callable(ends):
            signal.signal(number, followed(ends))


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


def page_url(
    address: str, port: int, session_id: str | None = None, experiment_id: str | None = None
) -> str:
    """Return the address of the list, or of the page of a session or of an experiment."""
    host = f"[{address}]" if ":" in address else address
    page = "/"
    if session_id:
        page = f"/session?{urlencode({'session': session_id})}"
    elif experiment_id:
        page = f"/routing?{urlencode({'experiment': experiment_id})}"
    return f"http://{host}:{port}{page}"


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
    def wait() -> None:
        for _ in range(600):
            with contextlib.suppress(OSError):
                socket.create_connection(_host_and_port(page), timeout=1).close()
                break
            time.sleep(0.05)
        else:
            return
        if announce:
            announce(page)
        if open_browser:
            webbrowser.open(page)
        _load_what_pages_need(page)

    threading.Thread(target=wait, name="console-ready", daemon=True).start()


def _load_what_pages_need(page: str) -> None:
    """Load, while the browser starts, what the first page would wait for."""
    # The server is on its way: whatever is loaded before it answers would only delay it.
    with contextlib.suppress(OSError), socket.create_connection(_host_and_port(page)) as asked:
        asked.settimeout(ANSWERS_SECONDS)
        asked.sendall(b"GET %s HTTP/1.0\r\nHost: localhost\r\n\r\n" % HEALTH.encode())
        asked.recv(1)
    warming.load_for(page)


def _host_and_port(page: str) -> tuple[str, int]:
    parts = urlsplit(page)
    return parts.hostname or LOOPBACK[0], parts.port or DEFAULT_PORT
