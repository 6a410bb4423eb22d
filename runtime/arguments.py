"""What is said of an argument that is spelt wrong: which one was meant, or which there are."""

import dataclasses
from collections.abc import Callable, Collection
from functools import wraps
from typing import Any, TypeVar

from handoff_console.runtime.errors import ArgumentUnknown

_T = TypeVar("_T")


def names_its_arguments(cls: type[_T]) -> type[_T]:
    """Make a class that is made from its fields say which of them was meant.

    Only what fails is looked into, so that what is right costs one more call.

    Args:
        cls: A data class, or a model of pydantic.
    """
    make: Callable[..., None] = cls.__init__

    @wraps(make)
    def __init__(self: Any, *values: Any, **options: Any) -> None:
        try:
            make(self, *values, **options)
        except (TypeError, ValueError) as error:
            known = _fields_of(cls)
            for name in options:
                if name not in known:
                    likely = meant_by(name, known)
                    raise ArgumentUnknown(cls.__name__, name, known, likely=likely) from error
            raise

    cls.__init__ = __init__  # type: ignore[method-assign]
    return cls


def meant_by(name: str, known: Collection[str]) -> str:
    """Return the name that was probably meant; empty when none is like it."""
    from difflib import get_close_matches  # takes longer to load than all that is right needs

    near = get_close_matches(name, known, n=1, cutoff=0.7)
    longer = [one for one in known if one.startswith(name) or name in one.split("_")]
    return next(iter([*near, *longer]), "")


def _fields_of(cls: type) -> Collection[str]:
    if dataclasses.is_dataclass(cls):
        return [field.name for field in dataclasses.fields(cls)]
    return list(getattr(cls, "model_fields", ()))
