"""Values that a person types for the arguments of a tool, checked against the tool's JSON schema.

The schema is the one that was recorded with the session, so that no code has to be loaded to check
a field. The tool itself checks again before anything is sent.
"""

import json
import math
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

Schema = Mapping[str, Any]


def _is_number(value: Any) -> bool:
    if isinstance(value, float):
        return math.isfinite(value)
    return isinstance(value, int) and not isinstance(value, bool)


_KINDS: Mapping[str, Callable[[Any], bool]] = {
    "string": lambda value: isinstance(value, str),
    "integer": lambda value: _is_number(value) and (isinstance(value, int) or value.is_integer()),
    "number": _is_number,
    "boolean": lambda value: isinstance(value, bool),
    "null": lambda value: value is None,
    "array": lambda value: isinstance(value, list),
    "object": lambda value: isinstance(value, dict),
}
_WORDS: Mapping[str, str] = {
    "string": "a text",
    "integer": "a whole number",
    "number": "a number",
    "boolean": "true or false",
    "null": "null",
    "array": "a list, as [ … ]",
    "object": "an object, as { … }",
}
_BOUNDS: Mapping[str, tuple[Callable[[float, float], bool], str]] = {
    "minimum": (lambda value, bound: value >= bound, "at least {}"),
    "maximum": (lambda value, bound: value <= bound, "at most {}"),
    "exclusiveMinimum": (lambda value, bound: value > bound, "more than {}"),
    "exclusiveMaximum": (lambda value, bound: value < bound, "less than {}"),
}
_SIZES: Mapping[str, tuple[Callable[[float, float], bool], str]] = {
    "minLength": (lambda size, bound: size >= bound, "at least {} characters long"),
    "maxLength": (lambda size, bound: size <= bound, "at most {} characters long"),
    "minItems": (lambda size, bound: size >= bound, "a list of at least {}"),
    "maxItems": (lambda size, bound: size <= bound, "a list of at most {}"),
}


def typed_value(text: str, schema: Schema, root: Schema | None = None) -> Any:
    """Return the value that a text stands for in a field.

    In a field for text it is the text as it is, to the last space; in any other one it is JSON.

    Args:
        text: What was typed.
        schema: Of the field; an empty one takes any JSON, and any text that is none.
        root: The schema that `$ref` looks into; defaults to `schema`.

    Raises:
        ValueError: It does not fit; the text says what the field takes.
    """
    root = schema if root is None else root
    kinds = kinds_of(schema, root)
    value: Any = text
    if kinds != {"string"}:
        try:
            value = json.loads(text, parse_constant=_no_number)
        except (ValueError, RecursionError):
            if "string" not in kinds and kinds:
                raise ValueError(f"It has to be {_kinds_in_words(kinds)}.") from None
    problem = next(problems(value, schema, root), "")
    if problem:
        raise ValueError(problem)
    return value


def kinds_of(schema: Schema, root: Schema) -> set[str]:
    """Return the JSON types that a schema takes; none means that it does not say."""
    schema = _resolved(schema, root)
    kinds = schema.get("type", ())
    found = {kinds} if isinstance(kinds, str) else set(kinds)
    for choice in (*schema.get("anyOf", ()), *schema.get("oneOf", ())):
        found |= kinds_of(choice, root)
    values = [schema["const"]] if "const" in schema else schema.get("enum", ())
    if not found and values and all(isinstance(value, str) for value in values):
        return {"string"}
    return found


def problems(value: Any, schema: Schema, root: Schema) -> Iterator[str]:
    """Yield what is wrong with a value, a sentence each; nothing where it fits."""
    schema = _resolved(schema, root)
    for name in ("anyOf", "oneOf"):
        if name in schema and all(any(problems(value, one, root)) for one in schema[name]):
            kinds = kinds_of(schema, root)
            yield f"It has to be {_kinds_in_words(kinds)}." if kinds else "It does not fit."
            return
    for part in schema.get("allOf", ()):
        yield from problems(value, part, root)
    values = [schema["const"]] if "const" in schema else schema.get("enum")
    if values is not None and value not in values:
        yield f"It has to be one of: {', '.join(json.dumps(one) for one in values)}."
        return
    own = schema.get("type", ())
    kinds = {own} if isinstance(own, str) else set(own)
    if kinds and not any(_KINDS.get(kind, _anything)(value) for kind in kinds):
        yield f"It has to be {_kinds_in_words(kinds)}."
        return
    yield from _outside(value, schema)
    yield from _inside(value, schema, root)


def _outside(value: Any, schema: Schema) -> Iterator[str]:
    """Yield what is wrong with the size of a value."""
    rules = [(value, _BOUNDS)] if _is_number(value) else []
    rules += [(len(value), _SIZES)] if isinstance(value, str | list) else []
    for size, bounds in rules:
        for name, (holds, words) in bounds.items():
            if name in schema and not holds(size, schema[name]):
                yield f"It has to be {words.format(f'{schema[name]:,}')}."
    pattern = schema.get("pattern")
    if isinstance(value, str) and pattern and not _looks_like(value, pattern):
        yield f"It has to look like {pattern}."


def _looks_like(value: str, pattern: str) -> bool:
    try:
        return re.search(pattern, value) is not None
    except re.error:  # of another kind than Python's; the tool itself checks again
        return True


def _inside(value: Any, schema: Schema, root: Schema) -> Iterator[str]:
    """Yield what is wrong with the parts of a list or an object."""
    if isinstance(value, list) and isinstance(schema.get("items"), Mapping):
        for number, item in enumerate(value, 1):
            yield from (f"Item {number}: {said}" for said in problems(item, schema["items"], root))
    if not isinstance(value, dict):
        return
    known: Schema = schema.get("properties", {})
    for name in schema.get("required", ()):
        if name not in value:
            yield f"{name!r} is missing."
    for name, part in value.items():
        if name in known:
            yield from (f"{name}: {said}" for said in problems(part, known[name], root))
        elif schema.get("additionalProperties") is False:
            yield f"There is no {name!r}; there are: {', '.join(sorted(known)) or 'none'}."


def _resolved(schema: Schema, root: Schema) -> Schema:
    name = schema.get("$ref")
    if not isinstance(name, str) or not name.startswith("#/$defs/"):
        return schema
    found = root.get("$defs", {}).get(name.removeprefix("#/$defs/"), {})
    return found if isinstance(found, Mapping) else {}


def _kinds_in_words(kinds: set[str]) -> str:
    words = [word for kind, word in _WORDS.items() if kind in kinds]
    return " or ".join(words) or "JSON"


def _anything(_: Any) -> bool:
    return True


def _no_number(word: str) -> Any:
    raise ValueError(f"{word} is no JSON")
