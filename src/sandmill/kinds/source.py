"""Functions of the panel as lines of a script, so that scripts compute what solvers compute."""

import ast
import inspect
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

_OWN = "sandmill."


def functions_source(*functions: Callable[..., Any]) -> list[str]:
    """Return the source of functions, each after those of this library that it calls, without annotations."""
    ordered = dict.fromkeys(needed for function in functions for needed in _with_needed(inspect.unwrap(function)))
    return [line for function in ordered for line in ("", "", *_plain_lines(function))]


def _with_needed(function: Callable[..., Any]) -> Iterator[Callable[..., Any]]:
    for node in ast.walk(_parsed(function)):
        other = function.__globals__.get(node.id) if isinstance(node, ast.Name) else None
        if inspect.isfunction(other) and other.__module__.startswith(_OWN):
            plain = inspect.unwrap(other)
            if plain is not function:
                yield from _with_needed(plain)
    yield function


def _plain_lines(function: Callable[..., Any]) -> list[str]:
    made = _parsed(function)
    for argument in (*made.args.args, *made.args.kwonlyargs, *([made.args.vararg] if made.args.vararg else [])):
        argument.annotation = None
    return [
        f"def {made.name}({ast.unparse(made.args)}):",
        *_source(function).splitlines()[made.body[0].lineno - 1 :],
    ]


@cache
def _source(function: Callable[..., Any]) -> str:
    return inspect.getsource(function)


def _parsed(function: Callable[..., Any]) -> ast.FunctionDef:
    made = ast.parse(_source(function)).body[0]
    assert isinstance(made, ast.FunctionDef)
    return made
