"""Leave out of a script what its models do not use: measures of items, and stated quantities made of them."""

import ast
import re
from collections.abc import Iterable, Sequence
from dataclasses import replace

from sandmill.calibrate.scripts.findings import PanelFindings
from sandmill.calibrate.scripts.members import ScriptModel, features_of

_FEATURES_ALONE = "sparse"
"""Set of columns that holds found features and nothing else."""


def narrowed(found: PanelFindings, members: Sequence[ScriptModel]) -> PanelFindings:
    """Return what a script needs to know if all of its models read a few found features alone.

    Items of other kinds than tables show a dozen columns, and each takes a function of its own to measure.
    """
    if not found.cues or any(member.columns != _FEATURES_ALONE for member in members):
        return found
    features = features_of(found, members)
    columns = frozenset((*found.numbers, *found.categories, *(cue.column for cue in found.cues)))
    needed = {name for feature in features for name in (*feature.names, *_quoted(feature.lines)) if name in columns}
    reading, needed = _needed_lines(found.reading, needed, columns)
    cues = tuple(cue for cue in found.cues if cue.column in needed)
    if not cues:
        return found
    measured = {cue.column for cue in found.cues} | {name for name in columns if name in set(_quoted(found.reading))}
    unused = measured - needed
    return replace(
        found,
        cues=cues,
        reading=reading,
        numbers=tuple(name for name in found.numbers if name not in unused),
        categories=tuple(name for name in found.categories if name not in unused),
    )


def _quoted(lines: Iterable[str]) -> list[str]:
    return [name for line in lines for name in re.findall(r'"([^"\\]+)"', line)]


def _needed_lines(
    reading: Sequence[str], wanted: set[str], columns: frozenset[str]
) -> tuple[tuple[str, ...], set[str]]:
    """Keep the lines that lead to the wanted columns. Returns the lines and all columns that they need."""
    tree, needed, kept = ast.parse("\n".join(reading)), set(wanted), list[ast.stmt]()
    empty = set[str]()
    for node in reversed(tree.body):
        if isinstance(node, ast.FunctionDef):
            body = _needed_statements(node.body, needed, columns)
            if len(body) == len(_frame(node.body)):
                empty.add(node.name)
            else:
                node.body = body
                kept.insert(0, node)
        else:
            kept.insert(0, node)
    kept = [node for node in kept if not _names(node) & empty]
    return _lines_of(kept, reading), needed


def _needed_statements(body: Sequence[ast.stmt], needed: set[str], columns: frozenset[str]) -> list[ast.stmt]:
    """Go backwards through a function and add to `needed` what the statements that are kept read."""
    frame, kept = _frame(body), list[ast.stmt]()
    for node in reversed(body):
        made = _made_by(node)
        if node in frame or made is None or made in needed:
            kept.insert(0, node)
            if made not in columns:
                needed.discard(made or "")
            if node not in frame:
                needed |= (_constants(node) & columns) | _variables(node)
    return kept


def _frame(body: Sequence[ast.stmt]) -> list[ast.stmt]:
    """Return the first lines and the last line of a function: its docstring, the copy, `return`."""
    return [*body[:2], body[-1]]


def _made_by(node: ast.stmt) -> str | None:
    """Return the column or the variable that a statement makes; None if it is not one of these."""
    if not isinstance(node, ast.Assign) or len(node.targets) != 1:
        return None
    match node.targets[0]:
        case ast.Name(id=name) if name != "df":
            return name
        case ast.Subscript(value=ast.Name(id="df"), slice=ast.Constant(value=str(name))):
            return name
        case _:
            return None


def _constants(node: ast.AST) -> set[str]:
    return {one.value for one in ast.walk(node) if isinstance(one, ast.Constant) and isinstance(one.value, str)}


def _names(node: ast.AST) -> set[str]:
    return {one.id for one in ast.walk(node) if isinstance(one, ast.Name)}


def _variables(node: ast.AST) -> set[str]:
    """Return the variables that a statement reads."""
    return {one.id for one in ast.walk(node) if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Load)}


def _lines_of(nodes: Sequence[ast.stmt], lines: Sequence[str]) -> tuple[str, ...]:
    """Return the lines of statements as they were written, with two empty lines around functions."""
    found = list[str]()
    for node in nodes:
        if isinstance(node, ast.FunctionDef):
            inner = [line for part in node.body for line in lines[part.lineno - 1 : part.end_lineno]]
            found += [lines[node.lineno - 1], *inner, "", ""]
        else:
            found += lines[node.lineno - 1 : node.end_lineno]
    return tuple(found)
