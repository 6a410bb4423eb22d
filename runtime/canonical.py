"""Canonical JSON, digests and estimates: the same value gives the same bytes everywhere."""

import json
import json.encoder
import math
import re
from collections.abc import Callable, Mapping
from copy import deepcopy
from functools import cache, lru_cache
from hashlib import blake2b
from typing import Any

from pydantic import BaseModel
from pydantic_core import to_jsonable_python

DIGEST_BYTES = 16
"""128 bits: digests are keyed, so nobody outside can search for two bodies with the same one."""

BYTES_PER_TOKEN = 4
"""What an estimate takes a token to be. Estimates are recorded, never compared with usage."""

_DEEPEST = 100
"""How deep a value may nest; what lies deeper is left out. Python itself goes 1,000 calls deep."""

_BREAKS = {"\x85": "\\u0085", "\u2028": "\\u2028", "\u2029": "\\u2029"}

_ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+")


def json_schema(model: type[BaseModel]) -> dict[str, Any]:
    """Return the JSON schema of a model, as `model_json_schema` does, made once for each class.

    To make one costs half a step of a session, and a flow that is run again asks for all of its.
    """
    return deepcopy(_json_schema(model))


@lru_cache(maxsize=512)
def _json_schema(model: type[BaseModel]) -> dict[str, Any]:
    return model.model_json_schema()


def canonical_text(value: Any) -> str:
    """Return `value` as JSON with sorted keys and no spaces, always valid UTF-8 and valid JSON.

    Any value has a text, and equal values have the same in every process. What JSON has no form
    for is written as close as it gets: a model, dataclass or date as pydantic would write it, a set
    in order, anything else as its `repr` without the address; NaN and infinities as strings; bytes
    that are no text with escapes; lone surrogates escaped.
    """
    try:
        text = raw_text(value)
    except NO_JSON:  # NaN, keys that are no strings, circles, …
        text = raw_text(_plain(value, ()))
    if text.count("[") + text.count("{") > _DEEPEST and _is_deep(value):
        text = raw_text(_plain(value, ()))
    return text if is_utf8(text) else _encode_ascii(json.loads(text))


def as_json(value: Any) -> Any:
    """Return a value as who reads its `canonical_text` finds it, nested no more than 100 deep.

    What comes from outside passes here first, so that nothing that walks through it later meets a
    circle, an object of somebody else, or no end. Lists and objects are copied: whoever made them
    may go on changing them.
    """
    try:
        return _copy(value, _DEEPEST)
    except _NotPlain:
        return json.loads(canonical_text(value))


class _NotPlain(Exception):
    """A value is no JSON as it stands."""


def _copy(value: Any, deepest: int) -> Any:
    kind = type(value)
    if kind is str or kind is bool or value is None:
        return value
    if kind is int and -_LARGEST < value < _LARGEST:
        return value
    if kind is float and math.isfinite(value):
        return value
    if deepest > 0 and kind is list:
        return [_copy(item, deepest - 1) for item in value]
    if deepest > 0 and kind is dict and all(type(key) is str for key in value):
        return {key: _copy(item, deepest - 1) for key, item in value.items()}
    raise _NotPlain


def one_line_text(value: Any) -> str:
    """Return `canonical_text` with the ends of lines escaped that JSON leaves as they are."""
    text = canonical_text(value)
    for end, escaped in _BREAKS.items():
        text = text.replace(end, escaped)
    return text


def canonical(value: Any) -> bytes:
    """Return `canonical_text` as UTF-8 bytes."""
    return canonical_text(value).encode()


def digest(body: bytes, key: bytes) -> str:
    """Return the keyed digest of a body as 32 hexadecimal digits.

    A bare hash of a customer number is reversed by trying them all; `key` (at most 64 bytes,
    secret, of the store that keeps the body) prevents that for digests that outlive their body.
    """
    hashed: blake2b = _keyed(key).copy()
    hashed.update(body)
    return hashed.hexdigest()


@cache
def _keyed(key: bytes) -> blake2b:
    return blake2b(digest_size=DIGEST_BYTES, key=key)


def estimate_tokens(size_bytes: int) -> int:
    """Return how many tokens a text of this size may have: a quarter of its bytes, rounded up."""
    return math.ceil(size_bytes / BYTES_PER_TOKEN)


def is_utf8(text: str) -> bool:
    """Say whether a text has UTF-8 bytes: whether no lone surrogate is in it."""
    if text.isascii():
        return True
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


def _is_deep(value: Any) -> bool:
    """Say whether lists and objects nest deeper than what is made of JSON later can take."""
    layer: list[Any] = [value]
    for _ in range(_DEEPEST + 1):
        inner = [
            list(one.values()) if isinstance(one, dict) else one
            for one in layer
            if isinstance(one, dict | list | tuple)
        ]
        layer = [item for one in inner for item in one]
        if not layer:
            return False
    return True


def _plain_scalar(value: Any) -> Any:
    if isinstance(value, float) and not math.isfinite(value):
        return _NOT_FINITE[str(float(value))]
    if isinstance(value, int) and abs(value) >= _LARGEST:
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
_LARGEST = 10**_LONGEST_INT


def _encoder() -> Callable[[Any], str]:
    """Return the JSON encoder of the standard library without what it does anew for each value.

    That takes 7,000 of its 14,000 instructions for a small object (measured).
    """
    make = json.encoder.c_make_encoder  # type: ignore[attr-defined]
    if make is None:  # an interpreter without it
        return json.JSONEncoder(
            ensure_ascii=False,
            separators=(",", ":"),
            sort_keys=True,
            allow_nan=False,
            default=_written,
        ).encode
    # Its own look for circles stays off: after an error it would take what it saw for one.
    encode = make(None, _written, quoted, None, ":", ",", True, False, False)
    return lambda value: "".join(encode(value, 0))


quoted: Callable[[str], str] = json.encoder.encode_basestring
"""Return a text as it stands in JSON."""

NO_JSON = (ValueError, TypeError, RecursionError)
"""What `raw_text` and `quoted` raise for what JSON has no form for."""

raw_text = _encoder()
"""Return a JSON value as `canonical_text` does, or raise one of `NO_JSON`; a lone surrogate stays.

A part of a text whose other parts are known: what is put together has to be `is_utf8`.
"""
_encode_ascii = json.JSONEncoder(
    separators=(",", ":"), sort_keys=True, allow_nan=False, default=repr
).encode
