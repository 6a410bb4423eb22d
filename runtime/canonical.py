"""Canonical JSON, digests and estimates: the same value gives the same bytes everywhere."""

import json
import math
import re
from collections.abc import Mapping
from hashlib import blake2b
from typing import Any

from pydantic_core import to_jsonable_python

DIGEST_BYTES = 16
"""128 bits: digests are keyed, so nobody outside can search for two bodies with the same one."""

BYTES_PER_TOKEN = 4
"""What an estimate takes a token to be. Estimates are recorded, never compared with usage."""

_DEEPEST = 100
"""How deep a value may nest that JSON cannot hold as it is; what lies deeper is left out."""

_ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+")


def canonical_text(value: Any) -> str:
    """Return `value` as JSON with sorted keys and no spaces, always valid UTF-8 and valid JSON.

    Any value has a text, and equal values have the same in every process. What JSON has no form
    for is written as close as it gets: a model, dataclass or date as pydantic would write it, a set
    in order, anything else as its `repr` without the address; NaN and infinities as strings; bytes
    that are no text with escapes; lone surrogates escaped.
    """
    try:
        text = _encode(value)
    except (ValueError, TypeError, RecursionError):  # NaN, keys that are no strings, circles, …
        text = _encode(_plain(value, ()))
    if not text.isascii() and not _is_utf8(text):
        return _encode_ascii(json.loads(text))
    return text


def canonical(value: Any) -> bytes:
    """Return `canonical_text` as UTF-8 bytes."""
    return canonical_text(value).encode()


def digest(body: bytes, key: bytes) -> str:
    """Return the keyed digest of a body as 32 hexadecimal digits.

    A bare hash of a customer number is reversed by trying them all; `key` (at most 64 bytes,
    secret, of the store that keeps the body) prevents that for digests that outlive their body.
    """
    return blake2b(body, digest_size=DIGEST_BYTES, key=key).hexdigest()


def estimate_tokens(size_bytes: int) -> int:
    """Return how many tokens a text of this size may have: a quarter of its bytes, rounded up."""
    return math.ceil(size_bytes / BYTES_PER_TOKEN)


def _is_utf8(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _written(value: Any) -> Any:
    """Return what JSON has no form for, one layer closer to it."""
    if isinstance(value, set | frozenset):
        return sorted(value, key=canonical_text)
    return to_jsonable_python(value, fallback=_named)


def _named(value: Any) -> str:
    try:
        return _ADDRESS.sub("", repr(value))
    except Exception:  # noqa: BLE001 - a value that cannot be shown still has a type
        return f"<{type(value).__name__}>"


def _plain(value: Any, around: tuple[int, ...]) -> Any:
    """Return a value as JSON, whatever it is. `around` are the containers it stands in."""
    if value is None or isinstance(value, _Scalar):
        return _plain_scalar(value)
    if len(around) == _DEEPEST or id(value) in around:
        return "[circular]" if id(value) in around else "[nested too deeply]"
    inside = (*around, id(value))
    if isinstance(value, Mapping):
        return {_key(key): _plain(item, inside) for key, item in value.items()}
    if isinstance(value, set | frozenset):
        value = sorted(value, key=canonical_text)
    if isinstance(value, list | tuple):
        return [_plain(item, inside) for item in value]
    try:
        return _plain(to_jsonable_python(value, fallback=_named, inf_nan_mode="strings"), inside)
    except Exception:  # noqa: BLE001 - a serializer of somebody else may raise anything
        return _named(value)


def _plain_scalar(value: Any) -> Any:
    if isinstance(value, float) and not math.isfinite(value):
        return _NOT_FINITE[str(float(value))]
    if isinstance(value, int) and abs(value) >= 10**_LONGEST_INT:
        return hex(value)
    if isinstance(value, bytes | bytearray):
        return value.decode(errors="backslashreplace")
    return value


def _key(key: Any) -> str:
    plain = _plain(key, ())
    return plain if isinstance(plain, str) else canonical_text(plain)


_Scalar = str | int | float | bytes | bytearray
_NOT_FINITE = {"nan": "NaN", "inf": "Infinity", "-inf": "-Infinity"}
_LONGEST_INT = 4_000
"""Digits. Python refuses to write more than 4,300 in the decimal system."""

_encode = json.JSONEncoder(
    ensure_ascii=False,
    separators=(",", ":"),
    sort_keys=True,
    allow_nan=False,
    default=_written,
).encode
_encode_ascii = json.JSONEncoder(
    separators=(",", ":"), sort_keys=True, allow_nan=False, default=repr
).encode
