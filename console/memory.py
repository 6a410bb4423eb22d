"""Keeping the garbage collector away from what stays: it looks at everything after every click.

Streamlit collects all generations at the end of each script run. With the libraries and one large
session in memory that takes longer than the click itself: half a second with 5,000 handoffs.
"""

import gc
import sys
from collections.abc import Iterator
from contextlib import contextmanager

MANY_MODULES = 50

_modules_seen = 0


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


def settle() -> None:
    """Take what libraries loaded since the last time out of the collector's sight.

    At the end of a page, which is on its way by then. The first page of a kind loads libraries,
    later ones none.
    """
    global _modules_seen  # noqa: PLW0603 - one number for the process
    loaded = len(sys.modules)
    if loaded - _modules_seen >= MANY_MODULES:
        _modules_seen = loaded
        gc.collect()
        gc.freeze()
