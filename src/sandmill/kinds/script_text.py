"""Lay out generated Python: lines of at most 100 characters, comments, lists, imports, functions of this library."""

import ast
import inspect
import os
import re
import textwrap
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from sandmill.kinds.library import load_texts
from sandmill.models.package import TaskFacts

WIDTH = 100
_IMPORTS = load_texts("imports.yaml")
_MODULES = {name: module for module, names in _IMPORTS["sklearn"].items() for name in names.split()}
_FEW = 3
"""Most plain values of a broken list that stand on a line each; more share lines."""
_MUCH = 20
"""Characters in brackets that are worth a line of their own."""
_HELD = "\x00"
"""Stands for a space at which a line must not break."""


def quoted(text: str) -> str:
    """A string as Python source, in double quotes where that needs no escapes."""
    return f'"{text}"' if '"' not in text and "\\" not in text and text.isprintable() else repr(text)


def listed(names: Iterable[str]) -> str:
    """A list of strings as Python source."""
    return f"[{', '.join(map(quoted, names))}]"


def number(value: float, digits: int = 4) -> str:
    """A number as Python source with a few significant digits."""
    short = float(f"{value:.{digits}g}")
    return repr(int(short)) if short == int(short) and abs(short) < 1e6 else repr(short)


def comment(text: str, indent: int = 0) -> list[str]:
    """A comment, wrapped."""
    return textwrap.wrap(text, WIDTH, initial_indent=" " * indent + "# ", subsequent_indent=" " * indent + "# ")


def spaced(body: str) -> str:
    """Set functions apart by two blank lines, and leave no more than two anywhere."""
    return re.sub(r"\n{4,}", "\n\n\n", re.sub(r"\n+(?=def )", "\n\n\n", body))


def fold(lines: Iterable[str]) -> list[str]:
    """Break long lines at their last bracket pair, then at its commas, again and again until they fit."""
    return [piece for line in lines for piece in _fold(line)]


def imports(body: str) -> list[str]:
    """Import statements for the names of numpy, pandas and scikit-learn that a script uses."""
    used = {node.id for node in ast.walk(ast.parse(body)) if isinstance(node, ast.Name)}
    by_module: dict[str, list[str]] = {}
    for name in sorted(used & _MODULES.keys()):
        by_module.setdefault(_MODULES[name], []).append(name)
    standard = [line for name, line in _IMPORTS["standard"].items() if name in used]
    packages = [line for name, line in _IMPORTS["packages"].items() if name in used]
    of_sklearn = fold(f"from {module} import {', '.join(names)}" for module, names in sorted(by_module.items()))
    return [*standard, *([""] if standard else []), *packages, *of_sklearn]


def _fold(line: str) -> list[str]:
    pair = _last_pair(line)
    if len(line) <= WIDTH or line.lstrip().startswith("#") or pair is None:
        return [line]
    opening, closing = pair
    indent = " " * (len(line) - len(line.lstrip()))
    items = _items(line[opening + 1 : closing])
    if len(items) > _FEW and all(_is_plain(item) for item in items):
        held = " ".join(f"{item.replace(' ', _HELD)}," for item in items)
        packed = textwrap.wrap(held, WIDTH - len(indent) - 4, break_long_words=False, break_on_hyphens=False)
        inner = [f"{indent}    {piece.replace(_HELD, ' ')}" for piece in packed]
        return [line[: opening + 1], *inner, indent + line[closing:]]
    comma = "," if len(items) > 1 else ""
    inner = [f"{indent}    {item}{comma}" for item in items]
    return [line[: opening + 1], *fold(inner), indent + line[closing:]]


def _is_plain(item: str) -> bool:
    """Whether an item of a list is a string, a number, or a tuple of numbers."""
    return item[:1] in "\"'" or not re.search(r"[^-\d., ()]", item)


def _last_pair(line: str) -> tuple[int, int] | None:
    """Places of the last bracket pair that lies in no other and holds much, or else something."""
    depth, opening, found, large = 0, 0, None, None
    for place, character in _outside_strings(line):
        if character in "([{":
            opening = place if depth == 0 else opening
            depth += 1
        elif character in ")]}":
            depth -= 1
            if depth == 0 and place > opening + 1:
                found = (opening, place)
                large = found if place > opening + _MUCH else large
    return large or found


def _items(inner: str) -> list[str]:
    """The parts of the inside of a bracket that commas separate; a comprehension is one part."""
    depth, start, items, outer = 0, 0, [], ""
    for place, character in _outside_strings(inner):
        depth += (character in "([{") - (character in ")]}")
        outer += character if depth == 0 else ""
        if character == "," and depth == 0:
            items.append(inner[start:place].strip())
            start = place + 1
    if " for " in outer:
        return [inner.strip()]
    return [item for item in (*items, inner[start:].strip()) if item]


def _outside_strings(line: str) -> Iterable[tuple[int, str]]:
    """Characters that are in no string, with their places."""
    quote, escaped = "", False
    for place, character in enumerate(line):
        if quote:
            quote = "" if character == quote and not escaped else quote
            escaped = character == "\\" and not escaped
        elif character in "\"'":
            quote = character
        else:
            yield place, character


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
    return [f"def {made.name}({ast.unparse(made.args)}):", *_source(function).splitlines()[made.body[0].lineno - 1 :]]


@cache
def _source(function: Callable[..., Any]) -> str:
    return inspect.getsource(function)


@cache
def _parsed(function: Callable[..., Any]) -> ast.FunctionDef:
    made = ast.parse(_source(function)).body[0]
    assert isinstance(made, ast.FunctionDef)
    return made


class Reader:
    """Reads the public files of a task by the lines that scripts hold.

    Args:
        write: makes these lines from the facts of a task, and perhaps from its cues. A script that has them knows the
            names ID and TARGET before them, and the tables `train` and `test` after them.
        known: functions of other modules than `write` that take the place of those that the lines define.
    """

    def __init__(self, write: Callable[..., list[str]], *known: Callable[..., Any]) -> None:
        self.source, self.known = write, known

    def read(self, folder: Path, facts: TaskFacts, *cues: Any) -> tuple[Any, Any]:
        """Return a table of the training items and one of the test items. Classes are text."""
        names = self.run(folder, facts, *cues)
        return names["train"], names["test"]

    def run(self, folder: Path, facts: TaskFacts, *cues: Any) -> dict[str, Any]:
        """Run the lines and return the names that they define. Functions of this library are not defined anew."""
        text = "\n".join(self.source(facts, *cues))
        own = {**self.source.__globals__, **{function.__name__: function for function in self.known}}
        tree = ast.parse("\n".join([*imports(text), text]))
        tree.body = [one for one in tree.body if not (isinstance(one, ast.FunctionDef) and one.name in own)]
        names: dict[str, Any] = {"ID": facts.id_column, "TARGET": facts.target_column, "CLASSES": list(facts.classes)}
        names |= {**own, "sys": SimpleNamespace(argv=["", str(folder)]), "os": os}
        exec(compile(tree, "reading.py", "exec"), names)
        if facts.classes:
            coded = names["train"][list(facts.target_columns)].select_dtypes("number")
            names["train"] = names["train"].astype(dict.fromkeys(coded, str))
        return names
