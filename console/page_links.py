"""What a page will ask for later, told to the browser together with the page.

Streamlit's page asks for the script of each kind of element when the first one of that kind is to
be drawn, one after the other; the charts' one alone has megabytes. Named in the answer's `Link`
header, all of them are on their way while the server still thinks. The list of sessions does the
same for the page that its readers open next, once it is drawn.
"""

import importlib.util
import re
from collections.abc import Mapping, MutableMapping
from functools import cache
from pathlib import Path
from typing import Any

_BY_ALL = ("Html", "BidiComponent", "ButtonGroup")
_CHARTS = "PlotlyChart"
_NEEDED_BY: Mapping[str, tuple[str, ...]] = {
    "/": (*_BY_ALL, "TextInput", "Selectbox"),
    "/session": (*_BY_ALL, _CHARTS),
}
_HEAD = b"<head>"
SERVER_TOLD = b"<script>window.__streamlit={BACKEND_BASE_URL:location.origin+'/'}</script>"
"""Without it a page looks for its server below its own address first, and waits before the next."""
_IMPORT = re.compile(r"""(?:from|import)\s*["']\./([\w.$-]+\.js)["']""")
_LOADED = re.compile(r"static/js/([\w.$-]+\.js)")
_HEAD_CHARACTERS = 8_000
"""A script names what it imports at its beginning."""


class PageLinks:
    """Adds a `Link` header to the answers that are pages, and where their server is."""

    def __init__(self, app: Any) -> None:
        self.app = app

    async def __call__(self, scope: Mapping[str, Any], receive: Any, send: Any) -> None:
        """Pass a request on, and its answer back."""
        links = links_of(scope["path"]) if scope["type"] == "http" else ""
        if not links:
            await self.app(scope, receive, send)
            return
        # What was packed could not be added to; on one machine packing saves nothing.
        plain = [pair for pair in scope["headers"] if pair[0] != b"accept-encoding"]
        await self.app({**scope, "headers": plain}, receive, _Told(send, links))


class _Told:
    """Sends an answer on, a page with what it is told."""

    def __init__(self, send: Any, links: str) -> None:
        self.send = send
        self.links = links
        self.start: MutableMapping[str, Any] | None = None

    async def __call__(self, message: MutableMapping[str, Any]) -> None:
        if message["type"] == "http.response.start" and message["status"] == 200:
            self.start = message  # until its length is known
            return
        start, self.start = self.start, None
        if start is not None:
            headers = [*start["headers"], (b"link", self.links.encode("ascii"))]
            if not message.get("more_body"):
                body = message.get("body", b"").replace(_HEAD, _HEAD + SERVER_TOLD, 1)
                headers = [pair for pair in headers if pair[0] != b"content-length"]
                headers.append((b"content-length", str(len(body)).encode("ascii")))
                message = {**message, "body": body}
            await self.send({**start, "headers": headers})
        await self.send(message)


def links_of(path: str) -> str:
    """Return the header for a page at a path; empty when nothing is known about it.

    `modulepreload` would be the word for modules, but Chromium then compiles each one anew; what is
    only fetched ahead comes from its cache of compiled code. With the charts' megabytes a page that
    was open before is there in two thirds of the time.
    """
    return ", ".join(f"<{name}>; rel=preload; as=script; crossorigin" for name in scripts_of(path))


def scripts_of(path: str) -> tuple[str, ...]:
    """Return the addresses of the scripts that a page at a path will ask for, besides all others.

    Empty when nothing is known about it. A kind of element for which the installed Streamlit has
    no script is left out: it is asked for when it is needed.
    """
    return tuple(f"/static/js/{name}" for name in _with_imports(_NEEDED_BY.get(path, ())))


@cache
def _with_imports(kinds: tuple[str, ...]) -> tuple[str, ...]:
    """Return the scripts of kinds of elements and what they import, but for what all pages load."""
    page = _front_end() / "index.html"
    scripts = page.parent / "static" / "js"
    waiting = [path.name for kind in kinds for path in scripts.glob(f"{kind}.*.js")]
    known = set(_LOADED.findall(page.read_text(encoding="utf-8"))) if waiting else set()
    found: list[str] = []
    while waiting:
        name = waiting.pop(0)
        if name not in known:
            known.add(name)
            found.append(name)
            with (scripts / name).open(encoding="utf-8") as script:
                waiting += _IMPORT.findall(script.read(_HEAD_CHARACTERS))
    return tuple(found)


def _front_end() -> Path:
    found = importlib.util.find_spec("streamlit")
    return Path(found.origin if found and found.origin else "").parent / "static"
