"""What is never written: secrets and personal numbers, by the name of their key and by their form.

Everything the recorder keeps passes here first. Most text holds nothing of the kind, so a quick
look for all tell-tale words at once comes before the work of taking a value apart. pydantic brings
the means: the automaton behind its patterns reads a text once, whatever the number of words (5,000
instructions for 300 characters; searching for one word after the other takes 40,000, and the `re`
of Python more; measured).
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any

from pydantic_core import SchemaValidator, core_schema

from handoff_console.runtime.card_numbers import CARD_SHAPE, without_cards
from handoff_console.runtime.sensitive_names import (
    SENSITIVE_KEYS,
    name_pattern,
    name_shape,
    name_start,
    tells_secret,
)

__all__ = ["MARK", "SENSITIVE_KEYS", "Redaction", "has_mark", "mark_of", "redacted_names"]

MARK = re.compile(r"\[redacted: ([^\[\]\n]{1,200})\]")
"""What stands where something was removed, with its name."""

_MARKS = (
    "sk-", "pk-", "rk-", "k_live_", "k_test_", "bearer", "basic", "eyj", "akia", "asia", "aiza",
    "ghp_", "gho_", "ghs_", "ghu_", "ghr_", "github_pat", "glpat-", "xox", "private key", "://",
    "hf_", "npm_",
)  # fmt: skip
_PRIVATE_KEY = r"-----BEGIN [A-Z ]*PRIVATE KEY-----.*?(?:-----END [A-Z ]*-----|\Z)"
_PATTERNS = (
    ("private key", re.compile(_PRIVATE_KEY, re.DOTALL)),
    # A word of plain language after `bearer` or `basic` has no digit and no capital inside.
    ("bearer", re.compile(
        r"\b(?i:bearer)\s+(?:(?=[\w.~+/=-]*(?:\d|=|[a-z][A-Z]))[\w.~+/=-]{8,}|[\w.~+/=-]{20,})")),
    ("basic", re.compile(
        r"\b(?i:basic)\s+(?=[A-Za-z0-9+/]*(?:[a-z]\d|\d[A-Za-z]|=|[a-z][A-Z]))[A-Za-z0-9+/]{8,}=*")),
    ("key", re.compile(r"\b(?:sk|pk|rk)(?:-[\w-]{16,}|_(?:live|test)_\w{10,})")),
    ("key", re.compile(r"\b(?:(?:AKIA|ASIA)[A-Z0-9]{16}\b|AIza[\w-]{30,})")),
    ("token", re.compile(r"\b(?:gh[opsur]_|github_pat_|glpat-|xox[abprs]-)[\w-]{10,}")),
    ("token", re.compile(r"(?<![A-Za-z0-9])(?:hf_[A-Za-z0-9]{20,}|npm_[A-Za-z0-9]{30,})")),
    # In a header; the key alone would keep all but the first of several.
    ("cookie", re.compile(r"(?i)(?<=cookie:)(?=\s*[\w.-]+=)[^\r\n\"'\\]+")),
    ("token", re.compile(r"(?<![\w-])eyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]*")),
    ("password", re.compile(r"(?<=://)[^\s/:@]+:[^\s/@]+(?=@)")),
)  # fmt: skip
_QUOTED = re.compile(r"""(\\*)(["'])""")
_BARE = re.compile(
    r"(?:(?i:bearer|basic)\s+)?(?:[A-Z]{2}\d{2}(?: ?[A-Z0-9]{4}){2,7}(?: ?[A-Z0-9]{1,4})?\b"
    r"|\d+(?:[ -]\d+)+|[^\s,;&\"'}\]]+)"
)
"""A value without quotes: a scheme and what follows; numbers in groups; or up to the next space."""

RECORD_WORDS = frozenset(
    "agents allowed_tools arguments claimed content data deadline_seconds edges goal id ingress "
    "inputs limits max_steps max_tokens name notes output_schema reason role schemas status "
    "steps_used summary task text tool_calls tools".split()
)
"""What the record itself calls parts of flows, messages, requests and results. As keys they remove
what a session is run again by, or all that was said in it."""


@dataclass(frozen=True)
class Redaction:
    """The rules of what is removed before anything is written.

    `Redaction()` has the defaults; `Redaction(keys=SENSITIVE_KEYS | {"customer_name"})` adds a key;
    `Redaction.off()` writes everything as it is.
    """

    keys: frozenset[str] = SENSITIVE_KEYS
    """Those of `SENSITIVE_KEYS` count in every name that ends with them (`db_password`), others
    only as a whole."""
    patterns: bool = True
    """Whether values are removed by their form as well: keys, tokens, bearer headers, passwords in
    addresses, card numbers of a known issuer whose check digit is right."""

    @classmethod
    def off(cls) -> "Redaction":
        """Return rules that remove nothing."""
        return cls(keys=frozenset(), patterns=False)

    def is_sensitive(self, key: str) -> bool:
        """Say whether the value under this key is removed."""
        return tells_secret(self.keys, key)

    def may_hold(self, text: str) -> bool:
        """Say whether `text` (plain or JSON) may hold something to remove; no is certain."""
        return self._is_suspicious(_plain(text))

    def clean_text(self, text: str) -> str:
        """Return `text` with what is sensitive replaced by `[redacted: what]`."""
        plain = _plain(text)
        if not self._is_suspicious(plain):
            return text
        if self.patterns:
            for name, pattern in _PATTERNS:
                text = pattern.sub(mark_of(name), text)
            text = without_cards(text) if _has_card_shape(plain) else text
        return self._without_values(text) if self._has_name(plain) else text

    def clean(self, value: Any) -> Any:
        """Return a copy of a JSON value with what is sensitive replaced, at any depth."""
        if isinstance(value, str):
            return self.clean_text(value)
        if isinstance(value, Mapping):
            return {
                self.clean_text(str(key)): self._marked(str(key), item)
                for key, item in value.items()
            }
        if isinstance(value, list | tuple):
            return [self.clean(item) for item in value]
        if isinstance(value, int | float) and abs(value) >= 10**12:
            cleaned = self.clean_text(str(value))
            return value if cleaned == str(value) else cleaned.removesuffix(".0")
        return value

    def without_sensitive(self, facts: Mapping[str, Any]) -> tuple[dict[str, Any], tuple[str, ...]]:
        """Return the facts that may go along, and the names of those that may not.

        What is sensitive inside a fact is replaced as `clean` does it.

        Source: S3, practice exercise 2.
        """
        kept = {
            key: self.clean(value) for key, value in facts.items() if not self.is_sensitive(key)
        }
        return kept, tuple(sorted(facts.keys() - kept.keys()))

    def _marked(self, key: str, item: Any) -> Any:
        if self.is_sensitive(key) and item not in (None, "", [], {}):
            return mark_of(key)
        return self.clean(item)

    def _without_values(self, text: str) -> str:
        """Return `text` without what stands after a sensitive name and `:` or `=`."""
        kept, at = [], 0
        while found := self._named.search(text, at):
            start = found.end()
            name = text[name_start(text, found.start(), at) : found.end("name")]
            end = _value_end(text, start) if self.is_sensitive(name) else start
            if end == start or text[start:end].lstrip("\\\"'").startswith("[redacted"):
                kept.append(text[at : max(end, start)])
            else:
                opening = _QUOTED.match(text, start)
                quote = found["end"] or (opening[0] if opening else "")
                kept.append(f"{text[at:start]}{quote}{mark_of(name)}{quote}")
            at = max(end, start)
        return "".join([*kept, text[at:]])

    @cached_property
    def _is_suspicious(self) -> Callable[[str], bool]:
        forms = [*map(re.escape, _MARKS), CARD_SHAPE] if self.patterns else []
        return _search(*forms, *self._name_shapes)

    @cached_property
    def _has_name(self) -> Callable[[str], bool]:
        return _search(*self._name_shapes)

    @property
    def _name_shapes(self) -> list[str]:
        return [name_shape(self.keys)] if self.keys else []

    @cached_property
    def _named(self) -> re.Pattern[str]:
        return name_pattern(self.keys)


def mark_of(name: str) -> str:
    """Return the mark that stands for a value that was removed."""
    return f"[redacted: {name}]"


def redacted_names(values: Mapping[str, Any]) -> list[str]:
    """Return the names of the values that something was removed from, in order."""
    return [name for name, value in values.items() if has_mark(value)]


def has_mark(value: Any) -> bool:
    """Say whether something was left out of a JSON value, its names included."""
    if isinstance(value, Mapping):
        return any(has_mark(part) for item in value.items() for part in item)
    if isinstance(value, list | tuple):
        return any(map(has_mark, value))
    return isinstance(value, str) and "[redacted: " in value


def _plain(text: str) -> str:
    if text.isascii():
        return text
    # `ß` is `ss` to a key, and a lone surrogate no text to pydantic.
    return text.casefold().encode(errors="replace").decode()


@cache
def _search(*shapes: str) -> Callable[[str], bool]:
    """Return what says whether a text has one of these shapes, in capitals or not."""
    if not shapes:
        return lambda _: False
    pattern = f"(?i:{'|'.join(shapes)})"
    return SchemaValidator(core_schema.str_schema(pattern=pattern)).isinstance_python


_has_card_shape = _search(CARD_SHAPE)


def _value_end(text: str, start: int) -> int:
    """Return where the value ends that begins at `start`."""
    if opening := _QUOTED.match(text, start):
        escapes, quote = opening.groups()
        closing = re.compile(rf"(?<!\\)(?:\\\\)*{re.escape(escapes + quote)}")
        if escapes:
            closing = re.compile(rf"(?<!\\){re.escape(escapes + quote)}")
        found = closing.search(text, opening.end())
        return found.end() if found else len(text)
    if text[start : start + 1] in ("{", "["):
        return _bracket_end(text, start)
    found = _BARE.match(text, start)
    return found.end() if found else start


def _bracket_end(text: str, start: int) -> int:
    """Return where what the bracket at `start` opens is closed; brackets in quotes are text."""
    depth, at = 0, start
    while at < len(text):
        opening = _QUOTED.match(text, at)
        # An apostrophe within a word opens nothing.
        if opening and (opening[2] == '"' or text[at - 1] in "[{(,: "):
            at = _value_end(text, at)
            continue
        depth += (text[at] in "{[") - (text[at] in "}]")
        at += 1
        if depth == 0:
            return at
    return len(text)
