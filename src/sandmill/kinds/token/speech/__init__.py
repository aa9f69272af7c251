"""How written tokens are read aloud, by language: a table of readers, each from a token to its words."""

import ast
import re
from collections.abc import Callable, Collection, Mapping
from functools import cache
from importlib import import_module
from importlib.resources import files
from typing import Literal, TypeAlias

Language: TypeAlias = Literal["english", "russian"]
Reader: TypeAlias = Callable[[str], str | None]
"""From a token to its words; None for a token that it cannot read."""


def readers_of(language: Language) -> Mapping[str, Reader]:
    """Return the readers of a language by name."""
    table: Mapping[str, Reader] = import_module(f"{__name__}.{language}").READERS
    return table


FIELD = re.compile(r"\{(\w+)\}")
"""Field of the words: the name of a reader, which reads the next group of the pattern."""


def say_by_custom(language: Language, match: str, says: str, token: str) -> str | None:
    """Read a token by a custom.

    Args:
        language: whose readers the words name.
        match: regular expression of the tokens that the custom covers.
        says: words with a field for each group of the expression.
        token: as it is written.

    Returns:
        The words; None for a token that the custom does not cover.
    """
    found = re.fullmatch(match, token)
    if found is None:
        return None
    parts, readers = iter(found.groups()), readers_of(language)
    return FIELD.sub(lambda field: str(readers[field[1]](next(parts))), says)


def source_of(language: Language, names: Collection[str]) -> list[str]:
    """Return the lines that define `READERS` with the named readers alone.

    They need `re`, which the script imports.
    """
    text, tree = _module(language)
    body = [node for node in tree.body if not isinstance(node, ast.Import | ast.ImportFrom | ast.Expr)]
    table = next(node for node in body if isinstance(node, ast.Assign) and _defined(node) == {"READERS"})
    assert isinstance(table.value, ast.Dict)
    kept = [
        (key, value)
        for key, value in zip(table.value.keys, table.value.values, strict=True)
        if isinstance(key, ast.Constant) and key.value in names
    ]
    used = {name for _, value in kept for name in _used(value)}
    needed: list[ast.stmt] = []
    for node in reversed(body[: body.index(table)]):
        if _defined(node) & used:
            needed.insert(0, node)
            used |= _used(node)
    lines = text.splitlines()
    written = ["READERS = {", *(line for key, value in kept for line in _entry(lines, key, value)), "}"]
    return [line for node in needed for line in _lines(lines, node)] + written


@cache
def _module(language: Language) -> tuple[str, ast.Module]:
    text = files("sandmill.kinds.token.speech").joinpath(f"{language}.py").read_text(encoding="utf-8")
    return text, ast.parse(text)


def _entry(lines: list[str], key: ast.expr, value: ast.expr) -> list[str]:
    return lines[key.lineno - 1 : value.end_lineno]


def _lines(lines: list[str], node: ast.stmt) -> list[str]:
    """Return the lines of a statement; functions stand apart and have neither docstring nor annotations."""
    found = lines[node.lineno - 1 : node.end_lineno]
    if not isinstance(node, ast.FunctionDef):
        return found
    body = found[node.body[1].lineno - node.lineno :]
    inner = [part for part in node.body if isinstance(part, ast.FunctionDef)]
    for function in inner:
        place = next(place for place, line in enumerate(body) if line.lstrip().startswith(f"def {function.name}("))
        body[place] = f"    {_signature(function)}"
    return ["", "", _signature(node), *body]


def _signature(function: ast.FunctionDef) -> str:
    arguments = ast.arguments(
        posonlyargs=[],
        args=[ast.arg(one.arg) for one in function.args.args],
        kwonlyargs=[],
        kw_defaults=[],
        defaults=function.args.defaults,
    )
    return f"def {function.name}({ast.unparse(arguments)}):"


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
