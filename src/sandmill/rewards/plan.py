"""Places of markers in a script: before or after its simple statements, so that no line number changes."""

import ast
from collections import defaultdict
from collections.abc import Iterator, Sequence

from sandmill.models.rollout import Marker

COMPOUND = (
    ast.FunctionDef,
    ast.AsyncFunctionDef,
    ast.ClassDef,
    ast.If,
    ast.For,
    ast.AsyncFor,
    ast.While,
    ast.With,
    ast.AsyncWith,
    ast.Try,
    ast.TryStar,
    ast.Match,
)
_ENDS_BLOCK = (ast.Return, ast.Raise, ast.Break, ast.Continue)


class Plan:
    """Markers by statement. A statement has the number of its place in the source; a block comes before its content."""

    def __init__(self, tree: ast.Module) -> None:
        """Number the statements of a script."""
        found = (node for node in ast.walk(tree) if isinstance(node, ast.stmt))
        self.statements = sorted(found, key=lambda node: (node.lineno, node.col_offset))
        self._numbers = {id(node): number for number, node in enumerate(self.statements)}
        self.before: defaultdict[int, set[Marker]] = defaultdict(set)
        self.after: defaultdict[int, set[Marker]] = defaultdict(set)

    def add_after(self, body: Sequence[ast.stmt], place: int, markers: set[Marker]) -> None:
        """Add markers after a statement of a body.

        After a block they go before the next statement, which leaves its line where it is. If the next one is a block
        too, or the body ends, they go behind the last simple statement within the block.
        """
        node = body[place]
        if not isinstance(node, COMPOUND):
            self.after[self._numbers[id(node)]] |= markers
        elif place + 1 < len(body) and not isinstance(body[place + 1], COMPOUND):
            self.before[self._numbers[id(body[place + 1])]] |= markers
        elif last := _last_simple(node):
            side = self.before if isinstance(last, _ENDS_BLOCK) else self.after
            side[self._numbers[id(last)]] |= markers

    def add_first(self, body: Sequence[ast.stmt], markers: set[Marker]) -> None:
        """Add markers at the start of a body, unless this would change a docstring or a future import."""
        first = body[0]
        is_docstring = isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant)
        if not isinstance(first, COMPOUND) and not is_docstring and not is_future_import(first):
            self.before[self._numbers[id(first)]] |= markers


def bodies_of(node: ast.AST) -> Iterator[list[ast.stmt]]:
    """Yield the lists of statements in a node, all levels."""
    for child in ast.walk(node):
        for _, value in ast.iter_fields(child):
            if isinstance(value, list) and value and isinstance(value[0], ast.stmt):
                yield value


def is_future_import(node: ast.stmt) -> bool:
    """Return whether a statement is `from __future__ import ...`, which only others of its kind may precede."""
    return isinstance(node, ast.ImportFrom) and node.module == "__future__"


def _last_simple(node: ast.stmt) -> ast.stmt | None:
    while isinstance(node, COMPOUND):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Match)):
            return None
        node = node.body[-1]
    return node
