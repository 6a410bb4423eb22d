"""Keeping the garbage collector away from what stays: it looks at everything after every click.

Streamlit collects all generations at the end of each script run. With the libraries and one large
session in memory that takes longer than the click itself: half a second with 5,000 handoffs.
"""

import gc
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


@cache
def settle() -> None:
    """Take the libraries, which stay, out of the collector's sight; once a process."""
    gc.collect()
    gc.freeze()
