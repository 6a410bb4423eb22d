"""Which names of values tell a secret: `password`, and `db_password`, `DB_PASSWORD`, `dbPassword`.

A name is taken apart into its words. It tells a secret where it ends with one of the keys, of which
the long ones may be grown together with what stands before (`PGPASSWORD`).
"""

import re
from collections.abc import Iterable
from functools import lru_cache

SENSITIVE_KEYS = frozenset(
    "access_key access_token api_key auth_token authorization aws_secret_access_key bearer_token "
    "card_no card_number client_secret cookie credential credentials credit_card "
    "credit_card_number cvc cvv db_pass encryption_key iban id_token passcode passphrase passwd "
    "password passwords pin_code private_key pwd refresh_token secret secret_access_key secret_key "
    "secrets security_code session_token signing_key smtp_pass ssn token user_pass x_api_key"
    "".split()
)
"""Keys whose values are removed, however they are written: `card_number` is `Card-Number`,
`card number` and `cardNumber` as well; and names that end with one of them: `old_card_number`."""

_WHOLE = frozenset(("authorization", "pin_code"))
"""With other words before they mean something else: `return_authorization`, `shipping_pin_code`."""
_BEFORE_WHOLE = frozenset(("http", "proxy", "x"))
_GROWN_FROM = 6  # characters
_GROWN_NEVER = frozenset(("cookie", "secret", "secrets"))
_ENDINGS = "value|hash|old|new|confirm|confirmation|repeat|live|test|prod|dev|staging|header|env"
_NO_SECRETS = frozenset("has is max maximum min minimum needs per requires total uses".split())
"""Words before a key after which it is counted or asked for: `max_token`, `has_password`."""
_NO_TOKENS = frozenset(
    "bos cached cancel cancellation completion continuation end eos first idempotency input last "
    "mask next output pad page prompt reasoning special start stop sync unk".split()
)
"""Words after which a token is a piece of text, or a place in a list."""
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_MARK = re.compile(r"[-_.\s]+")


@lru_cache(maxsize=4_096)
def folded(name: str) -> str:
    """Return a name without capitals and without what separates its words."""
    return re.sub(r"[-_\s]", "", name.casefold())


@lru_cache(maxsize=4_096)
def tells_secret(keys: frozenset[str], name: str) -> bool:
    """Say whether a name is one of `keys`, or ends with one of them that are known here."""
    if folded(name) in _folded_keys(keys):
        return True
    keys &= SENSITIVE_KEYS
    words = _MARK.sub("_", _HUMP.sub("_", name).casefold()).strip("_")
    found = _ends_with(keys).search(words) if keys else None
    if not found:
        return False
    before = words[: found.start()].split("_")
    key = folded(found["key"] or found["grown"])
    if key in map(folded, _WHOLE):
        return _BEFORE_WHOLE.issuperset(filter(None, before))
    if key == "token" and not _NO_TOKENS.isdisjoint(before):
        return False
    return _NO_SECRETS.isdisjoint(before)


def name_pattern(keys: Iterable[str]) -> re.Pattern[str]:
    """Return what finds the end of a name that ends with a key, and the `:` or `=` after it."""
    words = _choice(keys).replace("_", "[_ -]?")
    return re.compile(
        rf"(?i)(?P<name>(?:{words})(?:[_-]?(?:{_ENDINGS}))?(?:[_-]?\d{{1,4}})?)"
        r"""(?P<end>\\*["']?)\s*[:=]\s*"""
    )


def name_start(text: str, start: int, earliest: int) -> int:
    r"""Return where the name begins of which something was found at `start`, not before `earliest`.

    The letter of an escape belongs to no name: a line break before `token` in JSON is `\ntoken`.
    """
    at = start
    while at > earliest and (text[at - 1].isalnum() or text[at - 1] in "_-"):
        at -= 1
    is_escape = start > at > earliest and text[at - 1] == "\\" and text[at] in "bfnrt"
    return at + 1 if is_escape else at


def name_shape(keys: Iterable[str]) -> str:
    """Return a pattern for every text that has a name with one of the keys, and `:` or `=` after.

    Without looking around, and for a text without capitals, so that any engine takes it.
    """
    words = _choice({key.casefold() for key in keys}).replace("_", r"[-_.\s]*")
    return (
        rf"(?:{words})(?:[-_.\s]*(?:{_ENDINGS}))?(?:[-_.\s]*[0-9]{{1,4}})?"
        r"""[-_.\s]*\\*["']?\s*[:=]"""
    )


@lru_cache(maxsize=64)
def _folded_keys(keys: frozenset[str]) -> frozenset[str]:
    return frozenset(map(folded, keys))


@lru_cache(maxsize=64)
def _ends_with(keys: frozenset[str]) -> re.Pattern[str]:
    grown = [key for key in keys if len(key) >= _GROWN_FROM and key not in _GROWN_NEVER | _WHOLE]
    # `(?!)` is what nothing matches.
    alone, together = (_choice(some).replace("_", "_?") or "(?!)" for some in (keys, grown))
    return re.compile(
        rf"(?:(?:^|_)(?P<key>{alone})|(?P<grown>{together}))(?:_?(?:{_ENDINGS}))?(?:_?\d{{1,4}})?$"
    )


def _choice(keys: Iterable[str]) -> str:
    return "|".join(sorted(map(re.escape, keys), key=len, reverse=True))
