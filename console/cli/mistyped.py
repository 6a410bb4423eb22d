"""What is said to a verb or an option that does not exist: which one was meant."""

import re
from collections.abc import Collection, Sequence
from difflib import get_close_matches

BEFORE_VERBS = ("-h", "--help", "--version", "--db")
"""The options of no verb alone."""


def not_first(word: str, verbs: Sequence[str]) -> str:
    """Return the sentence to a first word that is no verb and no such option; empty for others."""
    if word.startswith("-"):
        is_known = word.partition("=")[0] in BEFORE_VERBS
        return "" if is_known else not_taken([word], None, " ".join(BEFORE_VERBS))
    return "" if word in verbs else _no_such_verb(word, verbs)


def _no_such_verb(word: str, verbs: Sequence[str]) -> str:
    close = get_close_matches(word, verbs, n=1)
    meant = f"did you mean `handoff {close[0]}`" if close else f"there are: {', '.join(verbs)}"
    return f"handoff: there is no verb {word!r}; {meant} (see `handoff --help`)"


def not_taken(words: Sequence[str], verb: str | None, usage: str) -> str:
    """Return the sentence to words that a verb has no place for.

    Args:
        words: Those that are left over, at least one.
        verb: Where they were typed; None before any verb.
        usage: The verb's own usage, which names its options.
    """
    command = f"handoff {verb}" if verb else "handoff"
    option = next((word.partition("=")[0] for word in words if word.startswith("-")), None)
    if option:
        meant = _meant(option, re.findall("--[a-z-]+", usage))
        behind = "" if verb or meant else "; a verb's own options stand behind it"
        said = f"there is no option {option!r}{meant or behind}"
    else:
        said = f"{' '.join(words)!r} is more than it takes; a text of several words needs quotes"
    return f"{command}: {said} (see `{command} --help`)"


def _meant(option: str, options: Collection[str]) -> str:
    close = get_close_matches(option, options, n=1)
    return f"; did you mean `{close[0]}`" if close else ""
