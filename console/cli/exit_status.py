"""How a command tells whoever called it what came of it."""

DONE = 0
NO = 1
"""The answer is no: a check fails, a person declined, `--fail-on` found what it names."""
WRONG = 2
"""Wrong usage, or something that cannot be read."""
INTERRUPTED = 130
"""Ctrl-C came before it was finished."""
