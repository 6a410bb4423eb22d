"""What a flow has otherwise than the one that a session was recorded with, in sentences."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from handoff_console.runtime.as_recorded import pairs, snapshot_of
from handoff_console.runtime.flow import Flow
from handoff_console.runtime.recorded_rules import (
    other_checks,
    other_redaction,
    recorded_redaction,
    tells_rules,
)
from handoff_console.store.analysis.plain_text import as_name, listed

_Part = Mapping[str, Any]
_WORDS = {
    "prompt": "prompt",
    "description": "description",
    "examples": "examples",
    "threshold": "threshold",
    "output_schema": "output schema",
    "trust": "trust",
}
"""Of an agent, by how they are recorded."""
_OF_TOOL = {
    "source": "source",
    "parameters": "parameters",
    "effect": "effect",
    "approval": "need of a yes",
    "approval_seconds": "time for a yes",
    "remembers": "list of what is remembered",
    "untrusted": "origin",
    "description": "description",
}
_LATER_OF_TOOL = frozenset({"approval_seconds", "remembers"})
"""What the first records do not tell."""
_SEVERAL = frozenset({"examples", "limits", "allowed tools", "fields"})
_OF_EDGE = {
    "description": "description",
    "payload": "payload",
    "limits": "limits",
    "context": "context policy",
    "allowed_tools": "allowed tools",
    "fields": "fields",
    "output_schema": "output schema",
    "return_to": "return_to",
}
_OF_FLOW = {
    "start": "start",
    "limits": "limits",
    "max_workers_per_session": "max_workers_per_session",
    "max_result_bytes": "max_result_bytes",
    "aggregator": "aggregator",
    "alert_tokens": "alert_tokens",
}
_OF_REQUEST = {
    "pool_tokens": "pool",
    "finish_floor_tokens": "finish floor",
    "depth": "depth",
    "max_handoffs": "max_handoffs",
    "max_edge_repeats": "max_edge_repeats",
    "max_workers": "max_workers",
    "max_cost": "max_cost",
}
"""Of a flow, what is recorded with each message besides, and so is always known. A handoff that was
run alone had a pool of its own, which is not the flow's."""


class Kept(NamedTuple):
    """Something that a flow has otherwise by now, and a re-run has as it was recorded."""

    what: str
    """As the middle of a sentence: `the prompt of billing`."""
    agent: str = ""
    """Whose it is; empty where it is the flow's."""
    part: str = ""
    """Of an agent, which part of it: `prompt`; empty for one of its edges."""


def flow_changes(loaded: Flow, as_was: Flow, recorded: _Part) -> list[str]:
    """Return what a flow cannot have as a session was recorded with it, a sentence each.

    Tools are compared by source, schema and effect, checks of what comes in by source, redaction
    by its rules; what is other is announced before anything runs live. Of what the record does not
    tell nothing is said here.

    Args:
        loaded: The flow as the user named it.
        as_was: With all of the record that can be had again.
        recorded: The flow as it was recorded.
    """
    now, rules = snapshot_of(as_was), as_was.redaction
    parts = (snapshot_of(loaded), now, recorded)
    if not tells_rules(recorded):
        return list(_changes(*map(rules.clean, parts)))
    if how := other_redaction(now["redaction"], recorded["redaction"]):
        then = recorded_redaction(recorded)  # what one of them leaves out is no other difference
        return [
            *_changes(*(then.clean(rules.clean(one)) for one in parts)),
            f"the redaction rules differ from the recorded ones: {how}",
        ]
    return list(_changes(*parts))


def kept_as_recorded(loaded: Flow, as_was: Flow, recorded: _Part) -> list[Kept]:
    """Return what a flow has otherwise by now that a re-run takes from the record.

    What a prompt version said is none of it: the flow never had it.
    """
    words = {} if as_was.prompt_version != loaded.prompt_version else _WORDS
    now = snapshot_of(loaded)
    of_request = [Kept(f"its {part}") for part in _other(now, recorded, _OF_REQUEST)]
    return [*_kept(now, snapshot_of(as_was), words), *of_request]


def _changes(loaded: _Part, now: _Part, recorded: _Part) -> Iterator[str]:
    if recorded.get("name", now["name"]) != now["name"]:
        yield f"the flow is called {now['name']!r}, and was called {recorded['name']!r}"
    is_told = tells_rules(recorded)
    were, agents = _by_name(recorded.get("agents", ())), _by_name(now["agents"])
    for name, agent in agents.items():
        was = were.get(name)
        if was is None:
            yield f"agent {name!r} is new"
            continue
        yield from _of_tools(name, agent["tools"], was.get("tools", ()), is_told=is_told)
        yield from (_is_other(part, f" of {name!r}") for part in _other(agent, was, _WORDS))
        yield from _of_may_write(name, agent, was)
        yield from _of_checks(name, agent, was)
        yield from _of_edges(name, _by_name(loaded["agents"])[name]["edges"], agent["edges"], was)
    yield from (f"agent {name!r} is gone" for name in sorted(were.keys() - agents.keys()))
    yield from _of_schemas(now.get("schemas", {}), recorded.get("schemas", {}))
    for part in _other(now, recorded, _OF_FLOW):
        yield _is_other(part, " of the flow")


def _of_tools(
    agent: str, now: Sequence[_Part], were: Sequence[_Part], *, is_told: bool
) -> Iterator[str]:
    before, after = _by_name(were), _by_name(now)
    if not is_told:
        after = {name: _without(one, _LATER_OF_TOOL) for name, one in after.items()}
    for name in sorted(before.keys() | after.keys()):
        if before.get(name) != after.get(name):
            change = _tool_change(before.get(name), after.get(name))
            yield f"the tool {name!r} of {agent!r} {change}"


def _is_other(part: str, of: str) -> str:
    return f"the {part}{of} {'are others' if part in _SEVERAL else 'is another one'}"


def _tool_change(before: _Part | None, now: _Part | None) -> str:
    if before is None:
        return "is new"
    if now is None:
        return "is gone"
    parts = [word for part, word in _OF_TOOL.items() if before.get(part) != now.get(part)]
    return f"has another {listed(parts, limit=len(_OF_TOOL))}"


def _without(part: _Part, names: frozenset[str]) -> _Part:
    return {name: value for name, value in part.items() if name not in names}


def _of_may_write(agent: str, now: _Part, was: _Part) -> Iterator[str]:
    if was.get("may_write", now["may_write"]) != now["may_write"]:
        yield f"{agent!r} may {'write now' if now['may_write'] else 'not write any more'}"


def _of_checks(agent: str, now: _Part, was: _Part) -> Iterator[str]:
    for name, change in other_checks(now["ingress"], was.get("ingress", now["ingress"])):
        yield f"the ingress check {name!r} of {agent!r} {change}"


def _of_edges(
    agent: str, loaded: Sequence[_Part], now: Sequence[_Part], was: _Part
) -> Iterator[str]:
    recorded = was.get("edges", ())
    kept = dict(pairs(now, recorded))
    for at, before in kept.items():
        for part in _other(now[at], recorded[before], _OF_EDGE):
            yield _is_other(part, f" of {_edge(agent, now[at])}")
    for at in sorted(set(range(len(recorded))) - set(kept.values())):
        yield f"{_edge(agent, recorded[at])} is gone"
    known = dict(pairs(loaded, recorded))
    for at in sorted(set(range(len(loaded))) - set(known)):
        yield f"{_edge(agent, loaded[at])} is new, and not offered here"


def _of_schemas(now: _Part, were: _Part) -> Iterator[str]:
    for name in sorted(now.keys() | were.keys()):
        if name not in were:
            yield f"the schema {name!r} is new"
        elif name not in now:
            yield f"the schema {name!r} is gone"
        elif now[name] != were[name]:
            yield f"the schema {name!r} is another one"


def _kept(now: _Part, was: _Part, words: Mapping[str, str]) -> Iterator[Kept]:
    agents = _by_name(now["agents"])
    of_edge = {"via": "kind", **_OF_EDGE} if words else {**_OF_EDGE, "description": ""}
    for name, before in _by_name(was["agents"]).items():
        agent = agents[name]
        for part in _other(agent, before, words):
            yield Kept(f"the {part} of {as_name(name)}", name, part)
        for at, old in pairs(agent["edges"], before["edges"]):
            edge = agent["edges"][at]
            if parts := list(filter(None, _other(edge, before["edges"][old], of_edge))):
                way = f"{as_name(name)} → {as_name(edge['target'])}"
                yield Kept(f"the {listed(parts)} of {way}", name)
    yield from (Kept(f"its {part}") for part in _other(now, was, _OF_FLOW))


def _other(now: _Part, was: _Part, parts: Mapping[str, str]) -> Iterator[str]:
    """Yield what both have and have otherwise."""
    for name, word in parts.items():
        if name in was and now.get(name) != was[name]:
            yield word


def _by_name(parts: Sequence[_Part]) -> dict[str, _Part]:
    return {one["name"]: one for one in parts}


def _edge(agent: str, edge: _Part) -> str:
    return f"the {edge['via']} {agent!r} → {edge['target']!r}"
