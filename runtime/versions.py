"""With which versions a session runs: of Python, and of the packages that take part in it."""

import platform
from collections.abc import Iterable
from functools import lru_cache

PYTHON_VERSION = platform.python_version()

_TAKE_PART = {
    "anthropic:": ("pydantic-ai-slim", "anthropic"),
    "openai:": ("pydantic-ai-slim", "openai"),
    "server:": ("pydantic-ai-slim", "openai"),
    "offline:wordllama": ("wordllama",),
}
"""What a model rests on, by how its name begins."""


def package_versions(models: Iterable[str], *, over_mcp: bool = False) -> tuple[str, ...]:
    """Return the packages that take part in a session, each with its version: `pydantic 2.12.0`.

    This one and pydantic, and what its models and tools rest on. What is not installed as a
    package, as where the runtime is embedded, is left out.

    Args:
        models: The names of its models.
        over_mcp: It has tools of an MCP server.
    """
    names = dict.fromkeys(("handoff-console", "pydantic"))
    for model in models:
        for beginning, packages in _TAKE_PART.items():
            if model.startswith(beginning):
                names.update(dict.fromkeys(packages))
    if over_mcp:
        names["mcp"] = None
    return _with_versions(tuple(names))


@lru_cache(maxsize=16)
def _with_versions(names: tuple[str, ...]) -> tuple[str, ...]:
    # Found in files: ten milliseconds for the first session of a process, none for the others.
    from importlib.metadata import PackageNotFoundError, version

    found = []
    for name in names:
        try:
            found.append(f"{name} {version(name)}")
        except PackageNotFoundError:
            continue
    return tuple(found)
