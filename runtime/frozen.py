"""Frozen data classes that are made as quickly as ordinary ones.

A frozen data class sets each of its fields by a call: 1,600 instructions a field, where an ordinary
one takes 100 (measured). The runtime makes some twenty such values for a handoff.
"""

import dataclasses
from collections.abc import Callable, Sequence
from typing import Any, Never, TypeVar, dataclass_transform

_T = TypeVar("_T")


@dataclass_transform(frozen_default=True, kw_only_default=True)
def frozen_by_name(cls: type[_T]) -> type[_T]:
    """Make a class a frozen data class with slots, made by keyword, as quickly as `quickly_made`.

    What such classes are compared, hashed, shown and copied with they share: `dataclass` writes and
    compiles six functions for each, which for the events alone takes a tenth of importing all.
    """
    bare = dataclasses.dataclass(init=False, repr=False, eq=False, slots=True, kw_only=True)(cls)
    for function in _SHARED:
        setattr(bare, function.__name__, function)
    return quickly_made(bare)


def _values(of: Any) -> tuple[Any, ...]:
    return tuple(getattr(of, name) for name in of.__dataclass_fields__)


def __eq__(self: Any, other: object) -> bool:
    if other.__class__ is not self.__class__:
        return NotImplemented
    return _values(self) == _values(other)


def __hash__(self: Any) -> int:
    return hash(_values(self))


def __repr__(self: Any) -> str:
    shown = ", ".join(f"{name}={getattr(self, name)!r}" for name in self.__dataclass_fields__)
    return f"{self.__class__.__qualname__}({shown})"


def __setattr__(self: Any, name: str, value: Any) -> Never:  # noqa: ARG001
    raise dataclasses.FrozenInstanceError(f"cannot assign to field {name!r}")


def __delattr__(self: Any, name: str) -> Never:  # noqa: ARG001
    raise dataclasses.FrozenInstanceError(f"cannot delete field {name!r}")


def __getstate__(self: Any) -> tuple[Any, ...]:
    return _values(self)


def __setstate__(self: Any, state: tuple[Any, ...]) -> None:
    for name, value in zip(self.__dataclass_fields__, state, strict=True):
        object.__setattr__(self, name, value)


_SHARED = (__eq__, __hash__, __repr__, __setattr__, __delattr__, __getstate__, __setstate__)


def quickly_made(cls: type[_T]) -> type[_T]:
    """Give a frozen data class with slots an `__init__` that fills it while it is not frozen.

    The object belongs to a class without the freeze for as long as that takes. For a class with a
    `__dict__` this gains little; fields that are no parameters are not supported.
    """
    fields = dataclasses.fields(cls)  # type: ignore[arg-type]
    known: dict[str, Any] = {
        "frozen": cls,
        "thawed": type(
            cls.__name__,
            (cls,),
            {
                "__slots__": (),
                "__setattr__": object.__setattr__,
                "__delattr__": object.__delattr__,
            },
        ),
        # Half the instructions of `object.__setattr__`, which looks the attribute up (measured).
        "become": object.__dict__["__class__"].__set__,
        "missing": dataclasses.MISSING,
    }
    body = ["become(self, thawed)"]
    for field in fields:
        known[f"default_{field.name}"] = field.default
        value = field.name
        if field.default_factory is not dataclasses.MISSING:
            known[f"make_{field.name}"] = field.default_factory
            value = f"make_{field.name}() if {field.name} is missing else {field.name}"
        body.append(f"self.{field.name} = {value}")
    body.append("self.__class__ = frozen")
    if hasattr(cls, "__post_init__"):
        body.append("self.__post_init__()")
    parameters = ["self", *(_parameter(field) for field in fields if not field.kw_only)]
    if by_name := [_parameter(field) for field in fields if field.kw_only]:
        parameters += ["*", *by_name]
    cls.__init__ = function_of("__init__", parameters, body, known)  # type: ignore[method-assign]
    return cls


def function_of(
    name: str, parameters: Sequence[str], body: Sequence[str], known: dict[str, Any]
) -> Callable[..., Any]:
    """Return a function made from lines of code that this program wrote.

    Args:
        name: Its name.
        parameters: As they stand in its head.
        body: Its lines.
        known: What the names in it stand for, besides the built-in ones.
    """
    lines = "\n".join(f"    {line}" for line in body)
    exec(f"def {name}({', '.join(parameters)}):\n{lines}", known)
    made: Callable[..., Any] = known[name]
    return made


def _parameter(field: dataclasses.Field[Any]) -> str:
    has_default = field.default is not dataclasses.MISSING
    has_factory = field.default_factory is not dataclasses.MISSING
    return f"{field.name}=default_{field.name}" if has_default or has_factory else field.name
