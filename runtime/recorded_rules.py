"""What a flow goes by that is code: what its agents check, and what is left out of the record.

A re-run cannot have it from the record, so the record has what tells whether it is the same.
"""

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from handoff_console.runtime.canonical import digest
from handoff_console.runtime.redaction import Redaction, has_mark
from handoff_console.runtime.sources import source_of, version_of

_SHOWN = 3
"""Of more keys than that, the others are counted."""
_LONG = 40
"""Characters of a key that are said: a file may hold any."""


def redaction_rules(redaction: Redaction) -> dict[str, Any]:
    """Return redaction rules as they are recorded; those of a class of somebody's own by its text.

    Which forms of values are removed is the same in all flows of one version of this program.
    """
    is_own = type(redaction) is not Redaction
    own = {"source": _digest(source_of(type(redaction)))} if is_own else {}
    return {"keys": sorted(redaction.keys), "patterns": redaction.patterns, **own}


def check_rules(checks: Sequence[Callable[..., Any]]) -> list[dict[str, str]]:
    """Return the checks of what comes in to an agent, as they are recorded."""
    return [
        {
            "name": getattr(getattr(one, "func", one), "__name__", type(one).__name__),
            "source": _digest(version_of(one)),
        }
        for one in checks
    ]


def tells_rules(snapshot: Mapping[str, Any]) -> bool:
    """Say whether a recorded flow tells its rules; those that were recorded first do not.

    Nor do rules that remove themselves, as those with a key `keys` do.

    With them came the terms of models, where they are not those that a model has without any.
    """
    rules = snapshot.get("redaction")
    return isinstance(rules, Mapping) and not has_mark(rules)


def recorded_redaction(snapshot: Mapping[str, Any]) -> Redaction:
    """Return the redaction of a recorded flow that tells its rules, as far as they are data."""
    rules = snapshot["redaction"]
    return Redaction(keys=frozenset(rules["keys"]), patterns=bool(rules["patterns"]))


def other_redaction(now: Mapping[str, Any], was: Mapping[str, Any]) -> str:
    """Return in what redaction rules differ from the recorded ones; empty where they do not.

    Args:
        now: The flow's, as they would be recorded.
        was: As they were.
    """
    keys, before = frozenset(now["keys"]), frozenset(was["keys"])
    forms = ["what has the form of a secret"]
    also = [_listed(keys - before)] if keys - before else []
    also += forms if now["patterns"] and not was["patterns"] else []
    gone = [_listed(before - keys)] if before - keys else []
    gone += forms if was["patterns"] and not now["patterns"] else []
    parts = [f"by now they leave out {' and '.join(also)} too"] if also else []
    if gone:
        begins = "no longer" if also else "by now they no longer leave out"
        parts.append(f"{begins} {', nor '.join(gone)}")
    if now.get("source") != was.get("source"):
        is_own = "are a class of the flow's own, with another source"
        parts.append(f"they {is_own}" if "source" in now else "they were a class of the flow's own")
    return ", and ".join(parts)


def other_checks(
    now: Sequence[Mapping[str, str]], were: Sequence[Mapping[str, str]]
) -> Iterator[tuple[str, str]]:
    """Yield which checks are others than the recorded ones, by name, and what is other of each."""
    after, before = _by_name(now), _by_name(were)
    for name in sorted(after.keys() | before.keys()):
        if name not in before:
            yield name, "is new"
        elif name not in after:
            yield name, "is gone"
        elif after[name] != before[name]:
            yield name, "has another source"


def _by_name(checks: Sequence[Mapping[str, str]]) -> dict[str, list[str]]:
    """Return the sources of checks by name: several may be called `<lambda>`."""
    found: dict[str, list[str]] = defaultdict(list)
    for one in checks:
        found[one["name"]].append(one["source"])
    return {name: sorted(sources) for name, sources in found.items()}


def _listed(names: frozenset[str]) -> str:
    shown = [repr(name if len(name) <= _LONG else f"{name[:_LONG]}…") for name in sorted(names)]
    if len(shown) > _SHOWN:
        shown = [*shown[: _SHOWN - 1], f"{len(shown) - _SHOWN + 1} more names"]
    *first, last = shown
    return f"{', '.join(first)} and {last}" if first else last


def _digest(text: str) -> str:
    return digest(text.encode(), b"")
