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
    """Read a token by a custom: a pattern, and words with a reader of the language for each of its groups.

    Returns:
        The words; None for a token that the pattern does not cover.
    """
    found = re.fullmatch(match, token)
    if found is None:
        return None
    parts, readers = iter(found.groups()), readers_of(language)
    return FIELD.sub(lambda field: str(readers[field[1]](next(parts))), says)


def source_of(language: Language, names: Collection[str]) -> list[str]:
    """Return the lines that define `READERS` with the named readers alone.

    They need `re`, which the script imports. Functions stand apart and have neither docstring nor annotations.
    """
    lines, tree = _module(language)
    body = [node for node in tree.body if not isinstance(node, ast.Import | ast.ImportFrom | ast.Expr)]
    table = next(node for node in body if isinstance(node, ast.Assign) and _defined(node) == {"READERS"})
    assert isinstance(table.value, ast.Dict)
    entries, used = [], set[str]()
    for key, value in zip(table.value.keys, table.value.values, strict=True):
        if isinstance(key, ast.Constant) and key.value in names:
            entries += lines[key.lineno - 1 : value.end_lineno]
            used |= _used(value)
    needed: list[ast.stmt] = []
    for node in reversed(body[: body.index(table)]):
        if _defined(node) & used:
            needed.insert(0, node)
            used |= _used(node)
    written = []
    for node in needed:
        found = lines[node.lineno - 1 : node.end_lineno]
        if isinstance(node, ast.FunctionDef):
            for inner in (part for part in ast.walk(node) if isinstance(part, ast.FunctionDef)):
                found[inner.lineno - node.lineno] = (
                    f"{' ' * inner.col_offset}def {inner.name}({ast.unparse(inner.args)}):"
                )
            found = ["", "", found[0], *found[node.body[1].lineno - node.lineno :]]
        written += found
    return [*written, "READERS = {", *entries, "}"]


@cache
def _module(language: Language) -> tuple[list[str], ast.Module]:
    """Return the lines of a language's module, and its tree without annotations of arguments."""
    text = files("sandmill.kinds.token.speech").joinpath(f"{language}.py").read_text(encoding="utf-8")
    tree = ast.parse(text)
    for node in ast.walk(tree):
        if isinstance(node, ast.arg):
            node.annotation = None
    return text.splitlines(), tree


def _defined(node: ast.stmt) -> set[str]:
    """Return the names that a statement defines or fills."""
    if isinstance(node, ast.FunctionDef):
        return {node.name}
    if isinstance(node, ast.For):
        return set().union(*(_defined(inner) for inner in node.body if isinstance(inner, ast.Assign)))
    targets = node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AugAssign) else []
    return set().union(*map(_used, targets))


def _used(node: ast.AST) -> set[str]:
    return {part.id for part in ast.walk(node) if isinstance(part, ast.Name)}
