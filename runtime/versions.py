"""With which versions a session runs: of Python, and of the packages that take part in it."""

import platform
import sys
from functools import lru_cache

PYTHON_VERSION = platform.python_version()

_TAKES_PART = {
    "pydantic": "pydantic",
    "pydantic_ai": "pydantic-ai-slim",
    "openai": "openai",
    "anthropic": "anthropic",
    "handoff_console.runtime.mcp_server": "mcp",  # loads the SDK with the first call
    "wordllama": "wordllama",
}
"""Packages, by the module whose presence tells that the process uses them."""


def package_versions() -> tuple[str, ...]:
    """Return the packages that take part in this process, each with its version.

    This one, pydantic, and what models and tools have loaded by now: `pydantic 2.12.0`. What is not
    installed as a package, as where the runtime is embedded, is left out.
    """
    loaded = tuple(name for module, name in _TAKES_PART.items() if module in sys.modules)
    return _with_versions(("handoff-console", *loaded))


@lru_cache(maxsize=8)
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
