"""Keeping the garbage collector away from what stays: it looks at everything after every click.

Streamlit collects all generations at the end of each script run. With the libraries and one large
session in memory that takes longer than the click itself: half a second with 5,000 handoffs.
"""

import gc
import importlib
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache


@contextmanager
def undisturbed(*, keep: bool) -> Iterator[None]:
    """Keep the collector out of a large load, which it would slow down by half.

    Args:
        keep: What was loaded stays: the collector will not look at it again. It is still freed
            when nothing refers to it any more; only circles in it would stay.
    """
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if keep:
            gc.freeze()
        if was_on:
            gc.enable()


SETTLE_AFTER_SECONDS = 1.0
"""Until then the first page has been sent; a click that comes sooner loads what it needs itself."""


@cache
def settle() -> None:
    """Load in the background what charts need, then keep the collector away from all libraries.

    Once a process, after its first page: that one waits for none of it.
    """
    later = threading.Timer(SETTLE_AFTER_SECONDS, _settle)
    later.daemon = True
    later.start()


def _settle() -> None:
    for name in ("pandas", "plotly.tools"):
        importlib.import_module(name)
    gc.collect()
    gc.freeze()
