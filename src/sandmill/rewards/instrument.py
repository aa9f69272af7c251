"""Insert progress markers into an agent's script without changing what it does."""

from __future__ import annotations

import ast
import warnings
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from typing import TYPE_CHECKING, TypeAlias

from sandmill.errors import InputError, Problem
from sandmill.models.rollout import Marker
from sandmill.rewards.markers import key_of, marker_code
from sandmill.rewards.milestones import Plan, plan_markers
from sandmill.rewards.proposals import plan_proposed

if TYPE_CHECKING:
    import libcst as cst


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


def insert(code: str, plan: Plan, token: str) -> str | None:
    """Return the code with markers, or None if it cannot be written without changing anything else.

    A marker stands behind its statement, after a semicolon. `return x` becomes `return (x, marker)[0]`.
    """
    module = _parse_text(code)
    if module is None:
        return None
    numbers = _number(module)
    if len(numbers) != len(plan.statements):
        return None
    written = module.visit(_transformer(numbers, plan, token)).code
    return written if _only_adds_markers(code, written, token) else None


def _parse_text(code: str) -> cst.Module | None:
    try:
        import libcst as cst
    except ImportError as error:
        problem = Problem("libcst", "not installed", "libcst 1.5 or newer", "Run: pip install 'sandmill[instrument]'")
        raise InputError("instrument", [problem], "") from error
    try:
        return cst.parse_module(code)
    except (cst.ParserSyntaxError, RecursionError, UnicodeError, ValueError):
        return None


def _number(module: cst.Module) -> dict[int, int]:
    """Number the statements as `Plan` does: in the order of the source."""
    import libcst as cst

    numbers: dict[int, int] = {}

    class Numbering(cst.CSTVisitor):
        """Visit statements only."""

        def on_visit(self, node: cst.CSTNode) -> bool:
            if isinstance(node, (cst.BaseSmallStatement, cst.BaseCompoundStatement)):
                numbers[id(node)] = len(numbers)
            return not isinstance(node, cst.BaseExpression)

    module.visit(Numbering())
    return numbers


def _transformer(numbers: dict[int, int], plan: Plan, token: str) -> cst.CSTTransformer:
    import libcst as cst

    @cache
    def expression(marker: Marker) -> cst.BaseExpression:
        return cst.parse_expression(marker_code(marker, token))

    def statements(markers: Iterable[Marker]) -> list[cst.BaseSmallStatement]:
        return [cst.Expr(expression(marker)) for marker in _ordered(markers)]

    def returned(node: cst.Return, markers: Iterable[Marker]) -> cst.Return:
        if node.value is None:
            return node
        value = node.value
        if isinstance(value, cst.Tuple) and not value.lpar:
            value = value.with_changes(lpar=[cst.LeftParen()], rpar=[cst.RightParen()])
        elements = [cst.Element(value), *(cst.Element(expression(marker)) for marker in _ordered(markers))]
        first = cst.SubscriptElement(cst.Index(cst.Integer("0")))
        return node.with_changes(
            value=cst.Subscript(cst.Tuple(elements), [first]), whitespace_after_return=cst.SimpleWhitespace(" ")
        )

    def surrounded(
        originals: Iterable[cst.BaseSmallStatement], updated: Iterable[cst.BaseSmallStatement]
    ) -> list[cst.BaseSmallStatement]:
        body: list[cst.BaseSmallStatement] = []
        for original, node in zip(originals, updated, strict=True):
            number = numbers[id(original)]
            body += statements(plan.before.get(number, ()))
            after = plan.after.get(number, ())
            if isinstance(node, cst.Return) and after:
                body.append(returned(node, after))
            else:
                body += [node, *statements(after)]
        return body

    class Insertion(cst.CSTTransformer):
        """Write the markers of the plan."""

        def on_visit(self, node: cst.CSTNode) -> bool:
            return not isinstance(node, cst.BaseExpression)

        def leave_SimpleStatementLine(  # noqa: N802
            self, original_node: cst.SimpleStatementLine, updated_node: cst.SimpleStatementLine
        ) -> cst.SimpleStatementLine:
            return updated_node.with_changes(body=surrounded(original_node.body, updated_node.body))

        def leave_SimpleStatementSuite(  # noqa: N802
            self, original_node: cst.SimpleStatementSuite, updated_node: cst.SimpleStatementSuite
        ) -> cst.SimpleStatementSuite:
            return updated_node.with_changes(body=surrounded(original_node.body, updated_node.body))

    return Insertion()


def _ordered(markers: Iterable[Marker]) -> list[Marker]:
    wanted = set(markers)
    return [marker for marker in Marker if marker in wanted]


def _only_adds_markers(code: str, written: str, token: str) -> bool:
    """Check that removing the markers gives the original program, with each statement on its original line."""
    try:
        old, new = ast.parse(code), ast.parse(written)
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        return False
    new = _Removal(token).visit(new)
    return ast.dump(old) == ast.dump(new) and _lines_of(old) == _lines_of(new)


def _lines_of(tree: ast.Module) -> list[tuple[int, int | None]]:
    return [(node.lineno, node.end_lineno) for node in ast.walk(tree) if isinstance(node, ast.stmt)]


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
