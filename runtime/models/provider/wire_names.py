"""Tool names as providers take them, and back: letters, digits, `_` and `-`, at most 64."""

import re
from collections.abc import Iterable
from hashlib import blake2b
from itertools import count

MAX_NAME_CHARACTERS = 64
MAX_ID_CHARACTERS = 40
_HASH_CHARACTERS = 8
_FOREIGN = re.compile(r"[^A-Za-z0-9_-]")


class WireNames:
    """The names of the tools that one call offers, each with a name of its own on the wire.

    A name that providers take is left as it is; `billing.list_invoices` becomes
    `billing__list_invoices`, unless a tool is called that already.
    """

    def __init__(self, names: Iterable[str]) -> None:
        self._wire: dict[str, str] = {}
        self._back: dict[str, str] = {}
        for name in sorted(names, key=lambda name: (fitted(name) != name, name)):
            wire = fitted(name)
            tries = count(1)
            while wire in self._back:
                wire = _hashed(name, f"{name} {next(tries)}", MAX_NAME_CHARACTERS)
            self._wire[name], self._back[wire] = wire, name

    def out(self, name: str) -> str:
        """Return a name as it is sent; one that is not offered is fitted all the same."""
        return self._wire.get(name) or fitted(name)

    def back(self, wire: str) -> str:
        """Return the name that came back; one that the model made up stays as it is."""
        return self._back.get(wire, wire)


def fitted(text: str, limit: int = MAX_NAME_CHARACTERS) -> str:
    """Return a name or an id in the characters and the length that every provider takes.

    What is too long, or empty, ends in a hash of the whole.
    """
    plain = _FOREIGN.sub("_", text.replace(".", "__"))
    return plain if 0 < len(plain) <= limit else _hashed(text, text, limit)


def _hashed(text: str, key: str, limit: int) -> str:
    digest = blake2b(key.encode(errors="replace"), digest_size=_HASH_CHARACTERS // 2).hexdigest()
    plain = _FOREIGN.sub("_", text.replace(".", "__"))
    return f"{plain[: limit - _HASH_CHARACTERS - 1]}_{digest}"
