"""Connections that are kept open as long as the event loop they belong to.

A connection cannot outlive its loop, and opening one for each call costs two or three round trips.
What is held here is closed when the loop ends: `asyncio.run` closes the generators that are still
open in it, and each connection is held by one.
"""

import asyncio
from collections.abc import AsyncGenerator, Callable, Hashable
from contextlib import AbstractAsyncContextManager
from typing import Any, NamedTuple, TypeVar

_T = TypeVar("_T", bound=AbstractAsyncContextManager[Any])


class _Held(NamedTuple):
    loop: asyncio.AbstractEventLoop
    connection: Any
    holder: AsyncGenerator[None]


_held: dict[tuple[int, Hashable], _Held] = {}


async def connection(key: Hashable, make: Callable[[], _T]) -> _T:
    """Return what `make` makes, entered; the same for the same key as long as this loop runs."""
    loop = asyncio.get_running_loop()
    place = (id(loop), key)
    known = _held.get(place)
    if known is None or known.loop is not loop:
        _forget_closed_loops()
        made = make()
        holder = _hold(place, made)
        _held[place] = _Held(loop, made, holder)
        await anext(holder)
        return made
    found: _T = known.connection
    return found


async def _hold(place: tuple[int, Hashable], made: _T) -> AsyncGenerator[None]:
    try:
        async with made:
            yield
    finally:
        _held.pop(place, None)


def _forget_closed_loops() -> None:
    """Drop what a loop left that was closed without `asyncio.run`; its sockets are gone with it."""
    for place, held in list(_held.items()):
        if held.loop.is_closed():
            _held.pop(place, None)
