"""A session's record, read while the browser still loads the page that will ask for it.

The browser needs half a second from a page's first byte to the question what to draw; a large
session is read in that time, on another core.
"""

import contextlib
import threading
from collections.abc import Mapping
from typing import Any
from urllib.parse import parse_qs

_PAGE = "/session"
_one = threading.Lock()


class ReadsAhead:
    """Begins to read the session whose page is asked for, and passes the request on."""

    def __init__(self, app: Any) -> None:
        self.app = app

    async def __call__(self, scope: Mapping[str, Any], receive: Any, send: Any) -> None:
        """Pass a request on."""
        asked = session_of(scope)
        if asked:
            threading.Thread(target=read, args=(asked,), name="read-ahead", daemon=True).start()
        await self.app(scope, receive, send)


def session_of(scope: Mapping[str, Any]) -> str:
    """Return the session whose page a request asks for; empty when it asks for something else."""
    if scope["type"] != "http" or scope["method"] != "GET" or scope["path"] != _PAGE:
        return ""
    found = parse_qs(scope["query_string"].decode("latin-1")).get("session", [])
    return found[0] if len(found) == 1 else ""


def read(session_id: str) -> None:
    """Read a session, and keep it for its page; one at a time, and nothing when one is being read.

    What is wrong with it, or with the store, the page itself will say.
    """
    from handoff_console.console import queries

    if not _one.acquire(blocking=False):
        return
    try:
        with contextlib.suppress(Exception):
            found = queries.version(session_id)
            if found is not None:
                queries.record(found)
    finally:
        _one.release()
