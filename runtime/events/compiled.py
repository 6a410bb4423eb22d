"""What is written of an event, and what is searched, by functions that are made for its kind.

Found in a loop over the fields it takes 5,000 instructions and more; this way 2,000 (measured).
"""

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from handoff_console.runtime.frozen import function_of

HARMLESS_LENGTH = 6
"""`cvv=123` has 7: the names of agents and tools are mostly shorter, and are not searched."""


def fields_writer(
    fields: Mapping[str, Any], forms: Mapping[str, str]
) -> Callable[[Any], dict[str, Any]]:
    """Return a function that gives the fields of an object that differ from their default, by name.

    Args:
        fields: Every field with its default; required ones have `MISSING`.
        forms: Of fields that are not written as they are, the expression of `value` that is.
    """
    known: dict[str, Any] = {}
    body = ["fields = {}"]
    for number, name in enumerate(sorted(fields)):
        written, default = forms.get(name), fields[name]
        if default is dataclasses.MISSING and not written:
            body.append(f"fields['{name}'] = of.{name}")
            continue
        body.append(f"value = of.{name}")
        if default is not dataclasses.MISSING:
            known[f"default{number}"] = default
            body.append(f"if value is not default{number} and value != default{number}:")
        indent = "" if default is dataclasses.MISSING else "    "
        body.append(f"{indent}fields['{name}'] = {written or 'value'}")
    return function_of("fields_of", ["of"], [*body, "return fields"], known)


def texts_finder(names: Sequence[str]) -> Callable[[Any], list[Any]]:
    """Return a function that gives what stands in these fields and may hold a secret.

    Most are empty, or a short name.
    """
    body = ["texts = []"]
    for name in names:
        body += [
            f"value = of.{name}",
            f"if value and (type(value) is not str or len(value) > {HARMLESS_LENGTH}):",
            "    texts.append(value)",
        ]
    return function_of("texts_of", ["of"], [*body, "return texts"], {})
