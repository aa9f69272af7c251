"""Insert progress markers into an agent's script without changing what it does."""

import ast
import warnings
from collections.abc import Callable, Iterator
from typing import TypeAlias

from sandmill.rewards.insertion import insert
from sandmill.rewards.markers import key_of
from sandmill.rewards.milestones import plan_markers
from sandmill.rewards.proposals import plan_proposed

InstrumentWith: TypeAlias = Callable[[str], str]
"""Function from a script to the script with prints such as `print("sandmill: trained")`, for example an LLM call."""

_MOST_CODE = 1 << 15
"""Characters of the longest script that is instrumented. Agents' scripts are untrusted, and 200,000 take 20 seconds."""
_DEEPEST = 60
"""Levels of nesting up to which scripts are instrumented. libcst parses recursively, in this process."""


def instrument(code: str, token: str, using: InstrumentWith | None = None) -> str:
    """Return the script with markers of the token after its milestones.

    The markers are in place before the run, on the lines of their statements, so line numbers in tracebacks stay
    correct. The result is compared with the script: without its markers it has the same syntax tree. A script that
    does not parse, or that cannot be instrumented so, is returned unchanged. A script that reads its own source, or
    that captures the output of its own process at descriptor level, sees the markers.

    Args:
        code: an agent's script.
        token: random token of the run, from `new_token`.
        using: proposes the places in place of the built-in rules. Only the places of its prints are used, never its
            code, and only if all statements of the script are there, unchanged and in order. Its exceptions are not
            caught.

    Raises:
        InputError: if libcst is not installed, or the token is not made of letters and digits.
    """
    key_of(token)
    with warnings.catch_warnings():
        # Python warns of strings such as "\d" in the script whenever it parses it.
        warnings.simplefilter("ignore", SyntaxWarning)
        warnings.simplefilter("ignore", DeprecationWarning)
        tree = _parse(code)
        if tree is None:
            return code
        try:
            plan = plan_markers(tree) if using is None else plan_proposed(tree, using(code))
            return code if plan is None else insert(code, plan, token) or code
        except RecursionError:
            return code


def _parse(code: str) -> ast.Module | None:
    if len(code) > _MOST_CODE or _brackets(code) > _DEEPEST:
        return None
    try:
        tree = ast.parse(code)
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        return None
    return tree if _is_flat(tree) else None


def _is_flat(tree: ast.Module) -> bool:
    level: list[ast.AST] = [tree]
    for _ in range(2 * _DEEPEST):
        level = [child for node in level for child in ast.iter_child_nodes(node)]
        if not level:
            return True
    return False


def _brackets(code: str) -> int:
    """Return the depth of brackets, those in strings and comments included. The syntax tree does not show it."""
    return max(_depths(code), default=0)


def _depths(code: str) -> Iterator[int]:
    depth = 0
    for char in code:
        if char in "([{":
            depth += 1
            yield depth
        elif char in ")]}":
            depth = max(0, depth - 1)
