"""Flows and models out of a user's own Python file, loaded because the user named it."""

import importlib.util
import sys
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple
from zlib import crc32

from handoff_console.console.commands.errors import FlowFileFailed, FlowNotFound
from handoff_console.runtime import Flow, FlowError
from handoff_console.runtime.errors import ArgumentUnknown, choices
from handoff_console.store.analysis.plain_text import one_line


class FileReference(NamedTuple):
    """`path/to/file.py:name`."""

    path: Path
    name: str
    """Empty when only the file was named."""


def file_reference(text: str) -> FileReference | None:
    """Return what a text names as a file and a name in it; None when it names no Python file."""
    before, mark, after = text.rpartition(":")
    if mark and before.endswith(".py"):
        return FileReference(Path(before), after)
    return FileReference(Path(text), "") if text.endswith(".py") else None


def flow_in_file(reference: FileReference) -> Flow:
    """Return the flow that a file defines under this name, or the only one it defines.

    Raises:
        FlowNotFound: There is no such file, or no such flow in it.
        FlowFileFailed: The file could not be imported.
        FlowError: The flow contradicts itself.
    """
    path, name = reference
    module = _imported(path)
    flows = {key: value for key, value in vars(module).items() if isinstance(value, Flow)}
    if name in flows:
        return flows[name]
    found = f"it defines the flows: {choices(flows)}" if flows else "it defines no flow"
    how = f"Name one as `{path}:NAME`."
    if hasattr(module, name):
        kind = type(getattr(module, name)).__name__
        raise FlowNotFound(f"{name!r} in {path} is no Flow but {kind}; {found}. {how}")
    if name:
        raise FlowNotFound(f"{path} has no {name!r}; {found}. {how}")
    if len(flows) == 1:
        return next(iter(flows.values()))
    raise FlowNotFound(f"Which flow of {path} is meant is not clear: {found}. {how}")


def model_in_file(reference: FileReference) -> Any:
    """Return the model, or the function that stands for one, which a file has under this name.

    Raises:
        FlowNotFound: There is no such file, or no such name in it.
        FlowFileFailed: The file could not be imported.
    """
    path, name = reference
    found: Any = getattr(_imported(path), name, None)
    if callable(found) or hasattr(found, "reply"):
        return found
    raise FlowNotFound(
        f"{path} has no model {name!r}; name a function of it, or an object with a `reply`, as "
        f"`{path}:NAME`."
    )


def _imported(path: Path) -> ModuleType:
    path = path.absolute()
    if path.is_dir() or not path.exists():
        raise FlowNotFound(
            f"There is no file {path}; a flow is the name of a sample (`handoff flows` lists them) "
            "or `path/to/file.py:name`."
        )
    written_ns = path.stat().st_mtime_ns
    known = _imported_as.get(str(path))
    if known is not None and known[0] == written_ns:
        return known[1]
    module = _import(path)
    _imported_as[str(path)] = (written_ns, module)
    return module


_imported_as: dict[str, tuple[int, ModuleType]] = {}
"""The files that were imported, and when they had been written: one that changed is imported again.

Not by their names: two folders may each have a file of the same name.
"""


def _import(path: Path) -> ModuleType:
    name = _module_name(path)
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    # As for any script: its neighbours can be imported, also later, from within its functions.
    if str(path.parent) not in sys.path:
        sys.path.insert(0, str(path.parent))
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except FlowError:
        del sys.modules[name]
        raise
    except (Exception, SystemExit) as error:
        del sys.modules[name]
        raise FlowFileFailed(_what_failed(path, error)) from error
    return module


def _module_name(path: Path) -> str:
    # Its own name would hide an installed module, and that of another folder's file.
    return f"handoff_flow_{path.stem}_{crc32(str(path).encode()):08x}"


def _what_failed(path: Path, error: BaseException) -> str:
    line = _last_line_of(path, error)
    where = f"{path}, line {line}" if line else str(path)
    # A syntax error would say file and line once more.
    text = (error.msg if isinstance(error, SyntaxError) else None) or str(error)
    if isinstance(error, ArgumentUnknown):  # a sentence of our own, which needs no name of a class
        return f"{where} could not be imported: {text}"
    said = one_line(text, 300) or "no message"
    return (
        f"{where} could not be imported ({type(error).__name__}: {said}); correct it and try again."
    )


def _last_line_of(path: Path, error: BaseException) -> int | None:
    """Return the line of the user's file that the error came from; None when it is not there."""
    if isinstance(error, SyntaxError):
        return error.lineno if error.filename == str(path) else None
    line, trace = None, error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == str(path):
            line = trace.tb_lineno
        trace = trace.tb_next
    return line
