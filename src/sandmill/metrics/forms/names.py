"""Cells that hold several names."""

from collections.abc import Sequence

from sandmill.errors import Problem, shorten
from sandmill.metrics.forms.base import Column, known_names, others
from sandmill.models.package import TaskFacts


def split_names(cell: str) -> list[str]:
    """Cut a cell at spaces and tabs, and at no other character that Unicode counts as a blank."""
    return [name for name in cell.replace("\t", " ").split(" ") if name]


def read_names(cells: Column, lines: Sequence[int], facts: TaskFacts, problems: list[Problem]) -> list[list[int]]:
    """Read the codes that each cell names, in its order; unknown names are left out and go to `problems`."""
    codes = {name: code for code, name in enumerate(facts.classes)}
    named = [[(name, codes.get(name, -1)) for name in split_names(cell)] for cell in cells]
    bad = [(line, name) for line, names in zip(lines, named, strict=True) for name, code in names if code < 0]
    if bad:
        line, name = bad[0]
        more = others(sorted({line for line, _ in bad}))
        expected = f"names separated by spaces, each one of {known_names(facts)}{more}"
        problems.append(Problem(f"line {line}, {facts.submission_columns[0]}", f'"{shorten(name)}"', expected))
    return [[code for _, code in names if code >= 0] for names in named]
