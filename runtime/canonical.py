"""Canonical JSON, digests and estimates: the same value gives the same bytes everywhere."""

import json
import math
from collections.abc import Mapping
from hashlib import blake2b
from typing import Any

from pydantic_core import to_jsonable_python

DIGEST_BYTES = 16
"""128 bits: digests are keyed, so nobody outside can search for two bodies with the same one."""

BYTES_PER_TOKEN = 4
"""What an estimate takes a token to be. Estimates are recorded, never compared with usage."""

_encode = json.JSONEncoder(
    ensure_ascii=False,
    separators=(",", ":"),
    sort_keys=True,
    allow_nan=False,
    default=lambda value: to_jsonable_python(value, fallback=repr),
).encode
_encode_ascii = json.JSONEncoder(
    separators=(",", ":"), sort_keys=True, allow_nan=False, default=repr
).encode


def canonical_text(value: Any) -> str:
    """Return `value` as JSON with sorted keys and no spaces, always valid UTF-8 and valid JSON.

    What JSON has no form for is written as close as it gets: a model, dataclass, date or set as
    pydantic would write it, anything else as its `repr`; NaN and infinities as strings; lone
    surrogates escaped.
    """
    try:
        text = _encode(value)
    except (ValueError, TypeError):  # NaN, keys that are no strings
        text = _encode(_plain(value))
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


def _plain(value: Any) -> Any:
    value = to_jsonable_python(value, fallback=repr, inf_nan_mode="strings")
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    return value
