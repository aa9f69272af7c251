"""Insert marker expressions into the text of a script, on the lines that are there."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from functools import cache
from typing import TYPE_CHECKING

from sandmill.errors import InputError, Problem
from sandmill.models.rollout import Marker
from sandmill.rewards.markers import marker_code
from sandmill.rewards.milestones import Plan

if TYPE_CHECKING:
    import libcst as cst


def insert(code: str, plan: Plan, token: str) -> str | None:
    """Return the code with markers, or None if it cannot be written without changing anything else.

    A marker stands behind its statement, after a semicolon. `return x` becomes `return (x, marker)[0]`.
    """
    module = _parse(code)
    if module is None:
        return None
    numbers = _number(module)
    if len(numbers) != len(plan.statements):
        return None
    written = module.visit(_transformer(numbers, plan, token)).code
    return written if _only_adds_markers(code, written, token) else None


def _parse(code: str) -> cst.Module | None:
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
