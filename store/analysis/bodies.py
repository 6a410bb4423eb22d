"""How analysis reads what was said: through a lookup, and never depending on it.

Events alone give the tree, the outcomes and the ledger; bodies add the words. A body may be gone
(deleted, or not exported), so every reader here says what it does then.
"""

from collections.abc import Callable, Mapping
from typing import Any

Body = Callable[[str], Any]
"""Gives a body, as the JSON value it is, by its digest.

A body that is not there is None or raises KeyError."""
_EMPTY: tuple[Any, ...] = (None, "", [], {})
"""As good as no value; 0 and false are values."""


def read(body: Body | None, digest: str | None) -> Any:
    """Return a body; None when there is no lookup, no digest, or the body is gone."""
    if body is None or not digest:
        return None
    try:
        return body(digest)
    except KeyError:
        return None


def read_fields(body: Body | None, digest: str | None) -> Mapping[str, Any]:
    """Return a body that should be a JSON object; empty when it is gone or something else."""
    value = read(body, digest)
    return value if isinstance(value, Mapping) else {}


def fields_within(value: Any, *names: str) -> Mapping[str, Any]:
    """Return the object that stands in a JSON value under these names; empty where there is none.

    What was imported may have any form.
    """
    for name in names:
        value = value.get(name) if isinstance(value, Mapping) else None
    return value if isinstance(value, Mapping) else {}


def filled(value: Any) -> list[str]:
    """Return the names in a JSON object whose value is not empty; none of anything else."""
    fields = value if isinstance(value, Mapping) else {}
    return [name for name, one in fields.items() if one not in _EMPTY]


def texts_within(value: Any) -> list[str]:
    """Return every text inside a JSON value, keys left out, in order of appearance."""
    found: list[str] = []
    pending = [value]
    while pending:
        item = pending.pop()
        if isinstance(item, str):
            found.append(item)
        elif isinstance(item, Mapping):
            pending.extend(reversed(list(item.values())))
        elif isinstance(item, list | tuple):
            pending.extend(reversed(item))
    return found
