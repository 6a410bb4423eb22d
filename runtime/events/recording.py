"""A recorded session, wherever it is kept, and the places in it."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from handoff_console.runtime.events.base import Event


@dataclass(frozen=True)
class Recording:
    """A recorded session: its events, and its bodies on request."""

    session_id: str
    events: Sequence[Event]
    body: Callable[[str], Any]
    """Returns a body by its digest, as a JSON value."""
    is_foreign: bool = False
    """It came from a file, so it says what somebody wrote into that."""


def context_chain(context: str, body: Callable[[str], Any] | None) -> tuple[tuple[str, ...], bool]:
    """Return the digests of all messages of a context, oldest first, and whether that is all.

    A chain that leads back into itself, or to a body that is gone, ends there.

    Args:
        context: The digest of its last part.
        body: Gives a body by its digest; one that is gone is None, or raises KeyError.
    """
    parts: list[list[str]] = []
    seen: set[str] = set()
    node: Any = context
    while isinstance(node, str) and node not in seen:
        seen.add(node)
        try:
            fields = body(node) if body else None
        except KeyError:
            break
        if not isinstance(fields, Mapping) or not isinstance(fields.get("messages"), list):
            break
        parts.append([name for name in fields["messages"] if isinstance(name, str)])
        node = fields.get("previous")
    digests = tuple(name for part in reversed(parts) for name in part)
    return digests, node is None


def is_within(path: str | None, root: str) -> bool:
    """Say whether a path is `root`, lies below it, or continues it by transfers."""
    if path is None or path == root:
        return path is not None
    base, hop = hop_of(root)
    if path.startswith((root + "/", root + "~", root + "#")):
        return True
    if base == root or not path.startswith(base + "~"):
        return False
    later = re.match(r"\d+", path[len(base) + 1 :])
    return later is not None and int(later[0]) > hop


def roots_of(path: str) -> Iterator[str]:
    """Yield every path that `path` is within, itself first: for many of both, one look-up each.

    A chain has fewer than 10,000 transfers; of a longer one, which only a file can say, the hops
    are left out.
    """
    yield path
    for mark in re.finditer(r"[/~#]", path):
        base = path[: mark.start()]
        yield base
        if mark[0] == "~" and (later := re.match(r"\d{1,4}(?!\d)", path[mark.end() :])):
            yield from (f"{base}~{hop}" for hop in range(1, int(later[0])))


def hop_of(path: str) -> tuple[str, int]:
    """Return the path that a chain of transfers is counted from, and how many this hop is.

    A branch of a fork (`t1~2.1`) is where a chain of its own begins.
    """
    base, mark, hop = path.rpartition("~")
    if not mark or "/" in hop:
        return path, 0
    number, is_branch, _ = hop.partition(".")
    return (path if is_branch else base), int(number)
