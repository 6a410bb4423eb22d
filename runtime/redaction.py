"""What is never written: secrets and personal numbers, by the name of their key and by their form.

Everything the recorder keeps passes here first. Most text holds nothing of the kind, so a cheap
look for tell-tale words comes before the work of taking a value apart (measured: 15 µs a kilobyte).
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

SENSITIVE_KEYS = frozenset(
    "access_token api_key apikey auth_token authorization bearer_token card_number cardnumber "
    "client_secret credit_card credit_card_number cvc cvv iban passphrase passwd password pin_code "
    "private_key refresh_token secret secret_key session_token ssn token".split()
)
"""Keys whose values are removed; compared without case, with `-` and spaces as `_`."""

_MARKS = (
    "sk-", "pk-", "rk-", "bearer", "basic ", "eyj", "akia", "asia", "ghp_", "gho_", "ghs_", "ghu_",
    "ghr_", "github_pat", "glpat-", "xox", "private key", "://",
)  # fmt: skip
_STEMS = ("token", "key", "card", "pass", "secret", "pin", "gh", "pat", "cv", "k-")
"""Looked for first: a search costs about 0.7 µs a kilobyte, and most text has none of them."""
_SHAPE = (bytes(48 if 48 <= byte < 58 else 46 for byte in range(256)), b" -")
_CARD_SHAPE = b"0" * 13
_CARD = re.compile(r"(?<![\w.])\d(?:[ -]?\d){12,18}(?![\w.]?\d)")
_PATTERNS = (
    (
        "private key",
        re.compile(r"-----BEGIN [A-Z ]*PRIVATE KEY-----.*?(?:-----END [A-Z ]*-----|\Z)", re.S),
    ),
    ("bearer", re.compile(r"(?i)\b(?:bearer|basic)\s+[\w.~+/=-]{8,}")),
    ("key", re.compile(r"\b(?:sk|pk|rk)-[\w-]{16,}")),
    ("key", re.compile(r"\b(?:AKIA|ASIA)[A-Z0-9]{16}\b")),
    ("token", re.compile(r"\b(?:gh[opsur]_|github_pat_|glpat-|xox[abprs]-)[\w-]{10,}")),
    ("token", re.compile(r"\beyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]*")),
    ("password", re.compile(r"(?<=://)[^\s/:@]+:[^\s/@]+(?=@)")),
)  # fmt: skip


@dataclass(frozen=True)
class Redaction:
    """The rules of what is removed before anything is written.

    `Redaction()` has the defaults; `Redaction(keys=SENSITIVE_KEYS | {"customer_name"})` adds a key;
    `Redaction.off()` writes everything as it is.
    """

    keys: frozenset[str] = SENSITIVE_KEYS
    patterns: bool = True
    """Whether values are removed by their form as well: keys, tokens, bearer headers, passwords in
    addresses, card numbers whose check digit is right."""

    @classmethod
    def off(cls) -> "Redaction":
        """Return rules that remove nothing."""
        return cls(keys=frozenset(), patterns=False)

    def is_sensitive(self, key: str) -> bool:
        """Say whether the value under this key is removed."""
        return key.strip().casefold().replace("-", "_").replace(" ", "_") in self.keys

    def may_hold(self, text: str) -> bool:
        """Say whether `text` (plain or JSON) may hold something to remove; no is certain."""
        folded = text.lower()
        for stem, words in self._hints:
            if stem in folded and any(word in folded for word in words):
                return True
        return self.patterns and _CARD_SHAPE in text.encode(errors="replace").translate(*_SHAPE)

    def clean_text(self, text: str) -> str:
        """Return `text` with what is sensitive replaced by `[redacted: what]`."""
        if not self.may_hold(text):
            return text
        for named in self._named:
            text = named.sub(_keep_the_name, text)
        if self.patterns:
            for name, pattern in _PATTERNS:
                text = pattern.sub(f"[redacted: {name}]", text)
            text = _CARD.sub(_card, text)
        return text

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

        Source: S3, practice exercise 2.
        """
        kept = {key: value for key, value in facts.items() if not self.is_sensitive(key)}
        return kept, tuple(sorted(facts.keys() - kept.keys()))

    def _marked(self, key: str, item: Any) -> Any:
        if self.is_sensitive(key) and item not in (None, "", [], {}):
            return f"[redacted: {key}]"
        return self.clean(item)

    @cached_property
    def _hints(self) -> tuple[tuple[str, tuple[str, ...]], ...]:
        words = {form for key in self.keys for form in _spellings(key)}
        if "token" in words:  # bare, it would be seen in every `max_tokens`
            words = words - {"token"} | {f"token{end}" for end in "\"'\\:= "}
        if self.patterns:
            words.update(_MARKS)
        by_stem: dict[str, list[str]] = {}
        for word in sorted(words):
            stem = next((stem for stem in _STEMS if stem in word), word)
            by_stem.setdefault(stem, []).append(word)
        return tuple((stem, tuple(words)) for stem, words in by_stem.items())

    @cached_property
    def _named(self) -> tuple[re.Pattern[str], ...]:
        if not self.keys:
            return ()
        words = "|".join(sorted(map(re.escape, self.keys), key=len, reverse=True))
        words = words.replace("_", "[_ -]")
        return (
            re.compile(
                rf"""(?i)(?P<name>(?<![\w-])(?:{words})\\*["']?\s*[:=]\s*)"""
                r"""(?P<value>\\*"(?:[^"\\]|\\.)*?\\*"|'[^']*'|[^\s,;&"'}\]]+)"""
            ),
        )


def _spellings(key: str) -> Iterable[str]:
    return {key, key.replace("_", "-"), key.replace("_", " ")}


def _keep_the_name(match: re.Match[str]) -> str:
    if match["value"].strip("\\\"'").startswith("[redacted"):
        return match[0]
    name = re.split(r"[\\\"':=\s]", match["name"], maxsplit=1)[0]
    return f"{match['name']}[redacted: {name}]"


def _card(match: re.Match[str]) -> str:
    digits = [int(char) for char in match[0] if char.isdigit()]
    doubled = [sum(divmod(2 * digit, 10)) for digit in digits[-2::-2]]
    is_card = (sum(digits[-1::-2]) + sum(doubled)) % 10 == 0 and len(set(digits)) > 1
    return "[redacted: card number]" if is_card else match[0]
