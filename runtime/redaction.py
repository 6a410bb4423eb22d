"""What is never written: secrets and personal numbers, by the name of their key and by their form.

Everything the recorder keeps passes here first. Most text holds nothing of the kind, so a quick
look for all tell-tale words at once comes before the work of taking a value apart. pydantic brings
the means: the automaton behind its patterns reads a text once, whatever the number of words (5,000
instructions for 300 characters; searching for one word after the other takes 40,000, and the `re`
of Python more; measured).
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property, lru_cache
from typing import Any

from pydantic_core import SchemaValidator, core_schema

SENSITIVE_KEYS = frozenset(
    "access_token api_key auth_token authorization aws_secret_access_key bearer_token card_number "
    "client_secret credit_card credit_card_number cvc cvv iban id_token passphrase passwd password "
    "pin_code private_key refresh_token secret secret_access_key secret_key session_token ssn "
    "token x_api_key".split()
)
"""Keys whose values are removed, however they are written: `card_number` is `Card-Number`,
`card number` and `cardNumber` as well."""

_MARKS = (
    "sk-", "pk-", "rk-", "k_live_", "k_test_", "bearer", "basic", "eyj", "akia", "asia", "aiza",
    "ghp_", "gho_", "ghs_", "ghu_", "ghr_", "github_pat", "glpat-", "xox", "private key", "://",
)  # fmt: skip
_CARD_SHAPE = r"[0-9](?:[ -]*[0-9]){12}"
_DIGITS = re.compile(r"(?<![\w.+])[0-9]+(?:[ -][0-9]+)*(?![\w])")
_ISSUED = re.compile(
    r"4(?:\d{12}|\d{15}|\d{18})|5[1-5]\d{14}|2[2-7]\d{14}|3[47]\d{13}|3(?:0[0-5]|[689]\d)\d{11}"
    r"|35\d{14,17}|(?:50|5[6-9]|6\d)\d{11,17}"
)
"""The first digits and lengths that card issuers use: one in ten timestamps in milliseconds has a
right check digit, and none of them begins like a card."""
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
    ("token", re.compile(r"(?<![\w-])eyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]*")),
    ("password", re.compile(r"(?<=://)[^\s/:@]+:[^\s/@]+(?=@)")),
)  # fmt: skip
_QUOTED = re.compile(r"""(\\*)(["'])""")
_BARE = re.compile(
    r"(?:(?i:bearer|basic)\s+)?(?:[A-Z]{2}\d{2}(?: ?[A-Z0-9]{4}){2,7}(?: ?[A-Z0-9]{1,4})?\b"
    r"|\d+(?:[ -]\d+)+|[^\s,;&\"'}\]]+)"
)
"""A value without quotes: a scheme and what follows; numbers in groups; or up to the next space."""


@dataclass(frozen=True)
class Redaction:
    """The rules of what is removed before anything is written.

    `Redaction()` has the defaults; `Redaction(keys=SENSITIVE_KEYS | {"customer_name"})` adds a key;
    `Redaction.off()` writes everything as it is.
    """

    keys: frozenset[str] = SENSITIVE_KEYS
    patterns: bool = True
    """Whether values are removed by their form as well: keys, tokens, bearer headers, passwords in
    addresses, card numbers of a known issuer whose check digit is right."""

    @classmethod
    def off(cls) -> "Redaction":
        """Return rules that remove nothing."""
        return cls(keys=frozenset(), patterns=False)

    def is_sensitive(self, key: str) -> bool:
        """Say whether the value under this key is removed."""
        return _folded(key) in self._folded_keys

    def may_hold(self, text: str) -> bool:
        """Say whether `text` (plain or JSON) may hold something to remove; no is certain."""
        if not text.isascii():  # `ß` is `ss` to a key, and a lone surrogate no text to pydantic
            text = text.casefold().encode(errors="replace").decode()
        return self._is_suspicious(text)

    def clean_text(self, text: str) -> str:
        """Return `text` with what is sensitive replaced by `[redacted: what]`."""
        if not self.may_hold(text):
            return text
        if self.patterns:
            for name, pattern in _PATTERNS:
                text = pattern.sub(f"[redacted: {name}]", text)
            text = _DIGITS.sub(_without_cards, text)
        return _without_values(self._named, text) if self.keys else text

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
        if isinstance(value, int) and not isinstance(value, bool) and abs(value) >= 10**12:
            cleaned = self.clean_text(str(value))
            return value if cleaned == str(value) else cleaned
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
            return f"[redacted: {key}]"
        return self.clean(item)

    @cached_property
    def _folded_keys(self) -> frozenset[str]:
        return frozenset(map(_folded, self.keys))

    @cached_property
    def _is_suspicious(self) -> Callable[[str], bool]:
        return _search(self.keys, self.patterns)

    @cached_property
    def _named(self) -> re.Pattern[str]:
        words = "|".join(sorted(map(re.escape, self.keys), key=len, reverse=True))
        words = words.replace("_", "[_ -]?")
        return re.compile(rf"""(?i)(?<![\w-])(?P<name>{words})(?P<end>\\*["']?)\s*[:=]\s*""")


@lru_cache(maxsize=4_096)
def _folded(key: str) -> str:
    return re.sub(r"[-_\s]", "", key.casefold())


@cache
def _search(keys: frozenset[str], patterns: bool) -> Callable[[str], bool]:
    """Return what says whether a text has one of the tell-tale words, in capitals or not."""
    words = {form.casefold() for key in keys for form in _spellings(key)}
    if "token" in words:  # bare, it would be seen in every `max_tokens`
        words = words - {"token"} | {f"token{end}" for end in "\"'\\:= \t\n"}
    if patterns:
        words.update(_MARKS)
    choices = [re.escape(word) for word in sorted(words)]
    if patterns:
        choices.append(_CARD_SHAPE)
    if not choices:
        return lambda _: False
    pattern = f"(?i:{'|'.join(choices)})"
    return SchemaValidator(core_schema.str_schema(pattern=pattern)).isinstance_python


def _spellings(key: str) -> Iterable[str]:
    return {key.replace("_", mark) for mark in ("_", "-", " ", "")}


def _without_values(named: re.Pattern[str], text: str) -> str:
    """Return `text` without what stands after a sensitive name and `:` or `=`."""
    kept, at = [], 0
    while found := named.search(text, at):
        start = found.end()
        end = _value_end(text, start)
        if end == start or text[start:end].lstrip("\\\"'").startswith("[redacted"):
            kept.append(text[at : max(end, start)])
        else:
            opening = _QUOTED.match(text, start)
            quote = found["end"] or (opening[0] if opening else "")
            kept.append(f"{text[at:start]}{quote}[redacted: {found['name']}]{quote}")
        at = max(end, start)
    return "".join([*kept, text[at:]])


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


def _without_cards(match: re.Match[str]) -> str:
    """Return a run of digit groups without the card numbers in it."""
    parts = re.split("([ -])", match[0])  # groups at even places, what separates them at odd ones
    first, kept = 0, []
    while first < len(parts):
        last = _card_end(parts, first)
        kept.append(parts[first] if last is None else "[redacted: card number]")
        first = first + 1 if last is None else last + 1
        if first < len(parts):
            kept.append(parts[first])
        first += 1
    return "".join(kept)


def _card_end(parts: Sequence[str], first: int) -> int | None:
    """Return where the longest card number ends that begins with this group; None if none does."""
    end, number = None, ""
    for at in range(first, len(parts), 2):
        number += parts[at]
        if len(number) > 19:
            break
        # Phone numbers have 13 digits too; cards that short are not written in groups.
        if len(number) >= (13 if at == first else 14) and _is_card(number):
            end = at
    return end


def _is_card(number: str) -> bool:
    if not _ISSUED.fullmatch(number):
        return False
    doubled = [sum(divmod(2 * int(digit), 10)) for digit in number[-2::-2]]
    return (sum(map(int, number[-1::-2])) + sum(doubled)) % 10 == 0
