"""What a model that follows rules reads of a call, as far as its code says: nothing is run for it.

A rule is a function of one call. Where all that it does with that call can be followed, what it
never looks at cannot change what it answers.
"""

import ast
import inspect
import textwrap
from collections.abc import Callable, Iterator
from functools import lru_cache
from types import ModuleType
from typing import Any

from handoff_console.runtime.models import Bm25, Model, Rules, Scripted
from handoff_console.sample_runs.pace import Paced

_ROUTER = frozenset({"text", "tools", "results", "agent"})
_WHOLES = frozenset({"request", "packet"})
"""Of these the part that is read is told apart: `request.inputs`."""


def reads_of(model: Model) -> frozenset[str] | None:
    """Return the fields of a `ModelCall` that a model may read; None where nobody knows.

    A part of the request or the packet is named with it, `request.inputs`; alone, `request`, it may
    be any part.
    """
    while isinstance(model, Paced):  # at another pace, it is the same one
        model = model.model
    kind = type(model)  # what a user derives from it may read more
    if kind is Scripted:
        return frozenset()
    if kind is Bm25:
        return _ROUTER
    if isinstance(model, Rules) and kind is Rules and inspect.isfunction(model.rule):
        return _reads_of_rule(model.rule)
    return None


def may_read_prompt(model: Model) -> bool:
    """Say whether a model may read its prompt: also a rule that looks at all its messages may."""
    while isinstance(model, Paced):
        model = model.model
    if model.reads_prompt or not isinstance(model, Rules):
        return model.reads_prompt
    reads = reads_of(model)
    return reads is None or "messages" in reads


@lru_cache(maxsize=256)
def _reads_of_rule(rule: Callable[..., Any]) -> frozenset[str] | None:
    try:
        found = _Reading()
        found.follow(rule, 0)
    except _Unclear:
        return None
    return frozenset(found.fields)


class _Unclear(Exception):
    """The call goes somewhere that cannot be followed."""


class _Reading:
    """Follows one argument through a function, and through those that it is passed on to."""

    def __init__(self) -> None:
        self.fields: set[str] = set()
        self._seen: set[tuple[Any, str]] = set()

    def follow(self, function: Any, argument: int | str) -> None:
        """Take what a function reads of one of its arguments.

        Raises:
            _Unclear: It cannot be told.
        """
        tree = _tree(function)
        names = [one.arg for one in (*tree.args.posonlyargs, *tree.args.args)]
        if isinstance(argument, int):
            if argument >= len(names):
                raise _Unclear
            argument = names[argument]
        elif argument not in [*names, *(one.arg for one in tree.args.kwonlyargs)]:
            raise _Unclear
        if (function, argument) in self._seen:
            return
        self._seen.add((function, argument))
        parents = {child: node for node in ast.walk(tree) for child in ast.iter_child_nodes(node)}
        for use in _uses(tree, argument):
            self._take(use, parents, function)

    def _take(self, use: ast.Name, parents: dict[ast.AST, ast.AST], function: Any) -> None:
        parent = parents[use]
        if isinstance(parent, ast.Attribute) and isinstance(use.ctx, ast.Load):
            further = parents[parent]
            part = further.attr if isinstance(further, ast.Attribute) else ""
            named = f"{parent.attr}.{part}" if part and parent.attr in _WHOLES else parent.attr
            self.fields.add(named)
        elif isinstance(parent, ast.Call) and use in parent.args:
            before = parent.args[: parent.args.index(use)]
            if any(isinstance(one, ast.Starred) for one in before):
                raise _Unclear
            self.follow(_called(parent.func, function), len(before))
        elif isinstance(parent, ast.keyword) and parent.arg:
            call = parents[parent]
            assert isinstance(call, ast.Call)
            self.follow(_called(call.func, function), parent.arg)
        else:
            raise _Unclear


def _uses(tree: ast.AST, argument: str) -> Iterator[ast.Name]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and node.id == argument:
            yield node


def _tree(function: Any) -> ast.FunctionDef | ast.AsyncFunctionDef:
    if not inspect.isfunction(function) or hasattr(function, "__wrapped__"):
        raise _Unclear
    try:
        (tree,) = ast.parse(textwrap.dedent(inspect.getsource(function))).body
    except (OSError, TypeError, ValueError, SyntaxError) as error:
        raise _Unclear from error
    if not isinstance(tree, ast.FunctionDef | ast.AsyncFunctionDef):
        raise _Unclear
    return tree


def _called(callee: ast.expr, function: Any) -> Any:
    """Return the function that an expression names; nothing is looked up but names.

    Raises:
        _Unclear: It is no name, or one that the function gives a value itself.
    """
    code = function.__code__
    own = {*code.co_varnames, *code.co_cellvars}
    if any(isinstance(one, ast.Name) and one.id in own for one in ast.walk(callee)):
        raise _Unclear
    try:
        known = {**function.__globals__, **inspect.getclosurevars(function).nonlocals}
    except ValueError as error:  # a name of the enclosing function that has no value yet
        raise _Unclear from error
    if isinstance(callee, ast.Name):
        return known.get(callee.id)
    if isinstance(callee, ast.Attribute) and isinstance(callee.value, ast.Name):
        module = known.get(callee.value.id)
        return getattr(module, callee.attr, None) if isinstance(module, ModuleType) else None
    raise _Unclear
