"""The source of readers, for scripts: those that a script uses, and what they need."""

import ast
from collections.abc import Collection
from importlib.resources import files

from sandmill.mechanism.speech import Language


def source_of(language: Language, names: Collection[str]) -> list[str]:
    """Return the lines that define `READERS` with the named readers alone.

    They need `re` and `Callable`, which the script imports.
    """
    text = files("sandmill.mechanism.speech").joinpath(f"{language}.py").read_text(encoding="utf-8")
    tree = ast.parse(text)
    body = [node for node in tree.body if not isinstance(node, ast.Import | ast.ImportFrom | ast.Expr)]
    table = next(node for node in body if isinstance(node, ast.Assign) and _defined(node) == {"READERS"})
    assert isinstance(table.value, ast.Dict)
    kept = [
        (key, value)
        for key, value in zip(table.value.keys, table.value.values, strict=True)
        if isinstance(key, ast.Constant) and key.value in names
    ]
    table.value.keys, table.value.values = [key for key, _ in kept], [value for _, value in kept]
    used = _used(table)
    needed: list[ast.stmt] = []
    for node in reversed(body[: body.index(table)]):
        if _defined(node) & used:
            needed.insert(0, node)
            used |= _used(node)
    lines = text.splitlines()
    written = ["READERS = {", *(line for key, value in kept for line in _entry(lines, key, value)), "}"]
    return [line for node in needed for line in _lines(lines, node)] + written


def _entry(lines: list[str], key: ast.expr, value: ast.expr) -> list[str]:
    return lines[key.lineno - 1 : value.end_lineno]


def _lines(lines: list[str], node: ast.stmt) -> list[str]:
    """Return the lines of a statement; functions stand apart and have no docstring."""
    found = lines[node.lineno - 1 : node.end_lineno]
    if not isinstance(node, ast.FunctionDef):
        return found
    first = node.body[0].lineno - node.lineno
    return ["", "", *found[:first], *found[first + 1 :]]


def _defined(node: ast.stmt) -> set[str]:
    """Return the names that a statement defines or fills."""
    if isinstance(node, ast.FunctionDef):
        return {node.name}
    targets = node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AugAssign) else []
    if isinstance(node, ast.For):
        targets = [target for inner in node.body if isinstance(inner, ast.Assign) for target in inner.targets]
    found = {part.id for target in targets for part in ast.walk(target) if isinstance(part, ast.Name)}
    if isinstance(node, ast.Expr):
        found |= {part.id for part in ast.walk(node) if isinstance(part, ast.Name)}
    return found


def _used(node: ast.AST) -> set[str]:
    return {part.id for part in ast.walk(node) if isinstance(part, ast.Name)}
