"""How far long work has come, for whoever waits for it."""

from collections.abc import Callable

Progress = Callable[[int, int], None]
"""Is told how many of how many sessions are done."""
