"""Insert progress markers into an agent's script without changing what it does."""

import ast
import re
import warnings
from collections.abc import Iterator

from sandmill.models.rollout import Marker
from sandmill.rewards.markers import key_of, marker_code
from sandmill.rewards.milestones import Plan, plan_markers

_MOST_CODE = 1 << 15
"""Characters of the longest script that is instrumented. Agents' scripts are untrusted, and long ones take seconds."""
_LINE_ENDS = re.compile(rb"(?<=\n)|(?<=\r)(?!\n)")
"""Where Python begins a new line."""
_UNFIT = (SyntaxError, ValueError, MemoryError, RecursionError)
"""Errors of scripts that are no Python, or are nested too deeply."""


def instrument(code: str, token: str) -> str:
    """Return the script with markers of the token after its milestones.

    The markers are in place before the run, on the lines of their statements, so line numbers in tracebacks stay
    correct. The result is compared with the script: without its markers it has the same syntax tree. A script that
    does not parse, or that cannot be instrumented so, is returned unchanged. A script that reads its own source, or
    that captures the output of its own process at descriptor level, sees the markers.

    Args:
        code: an agent's script.
        token: random token of the run, from `new_token`.

    Raises:
        InputError: if the token is not made of letters and digits.
    """
    key_of(token)
    if len(code) > _MOST_CODE:
        return code
    with warnings.catch_warnings():
        # Python warns of strings such as "\d" in the script whenever it parses it.
        warnings.simplefilter("ignore", SyntaxWarning)
        warnings.simplefilter("ignore", DeprecationWarning)
        try:
            tree = ast.parse(code)
            written = _insert(code, plan_markers(tree), token)
            return written if _only_adds_markers(tree, written, token) else code
        except _UNFIT:
            return code


def _insert(code: str, plan: Plan, token: str) -> str:
    """Write each marker behind its statement, after a semicolon. `return x` becomes `return (x, marker)[0]`."""
    source = code.encode()
    starts = [0]
    for line in _LINE_ENDS.split(source):
        starts.append(starts[-1] + len(line))
    texts = [
        (starts[line - 1] + column, text)
        for node in {*plan.before, *plan.after}
        for line, column, text in _texts_of(node, plan, token)
    ]
    pieces, last = [], 0
    for place, text in sorted(texts):
        pieces += [source[last:place], text.encode()]
        last = place
    return b"".join([*pieces, source[last:]]).decode()


def _texts_of(node: ast.stmt, plan: Plan, token: str) -> Iterator[tuple[int, int, str]]:
    """Yield the texts that the markers of a statement need: line, column in bytes, and text."""
    before, after = (
        [marker_code(marker, token) for marker in Marker if marker in side.get(node, ())]
        for side in (plan.before, plan.after)
    )
    if before:
        yield node.lineno, node.col_offset, "".join(f"{code}; " for code in before)
    if not after:
        return
    if not isinstance(node, ast.Return):
        yield node.end_lineno or 0, node.end_col_offset or 0, "".join(f"; {code}" for code in after)
    elif value := node.value:
        # Tuples and `yield` need not have brackets of their own.
        is_bare = isinstance(value, (ast.Tuple, ast.Yield, ast.YieldFrom))
        codes = "".join(f", {code}" for code in after)
        yield value.lineno, value.col_offset, "((" if is_bare else "("
        yield value.end_lineno or 0, value.end_col_offset or 0, f"){codes})[0]" if is_bare else f"{codes})[0]"


def _only_adds_markers(old: ast.Module, written: str, token: str) -> bool:
    """Check that removing the markers gives the original program, with each statement on its original line."""
    new = _Removal(token).visit(ast.parse(written))
    lines = [
        [(node.lineno, node.end_lineno) for node in ast.walk(tree) if isinstance(node, ast.stmt)] for tree in (old, new)
    ]
    return ast.dump(old) == ast.dump(new) and lines[0] == lines[1]


class _Removal(ast.NodeTransformer):
    """Remove the marker expressions of one token."""

    def __init__(self, token: str) -> None:
        codes = (ast.parse(marker_code(marker, token), mode="eval").body for marker in Marker)
        self._marks = {ast.dump(code) for code in codes}

    def visit_Expr(self, node: ast.Expr) -> ast.Expr | None:
        return None if self._is_marker(node.value) else node

    def visit_Return(self, node: ast.Return) -> ast.Return:
        match node.value:
            case ast.Subscript(value=ast.Tuple(elts=[value, *rest]), slice=ast.Constant(value=0)) if rest:
                if all(self._is_marker(part) for part in rest):
                    return ast.copy_location(ast.Return(value), node)
        return node

    def _is_marker(self, node: ast.expr) -> bool:
        return isinstance(node, ast.BoolOp) and ast.dump(node) in self._marks
