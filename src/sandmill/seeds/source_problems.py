"""Problems in source files, collected from all sources before an error is raised."""

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from sandmill.errors import Problem, SeedError, count

MAX_SHOWN = 100
"""Problems that a message lists; more would fill the terminal."""
FOOTER = "No seed was read. See docs/seeds.md for every field."


@dataclass(frozen=True)
class SourceProblem:
    """One problem of one source file. Lines count from 1; 0 is unknown."""

    file: str
    saw: str
    expected: str
    line: int = 0
    field: str = ""
    hint: str = ""

    def place(self, with_file: bool) -> str:
        """Return file, line and field, as far as they are known."""
        parts = [self.file] if with_file else []
        parts += [f"line {self.line}"] if self.line else []
        parts += [self.field] if self.field else []
        return ", ".join(parts) or "file"


class Unsound(Exception):
    """One source cannot be used. Carries all its problems to `gathered`; the package raises `SeedError` instead."""

    def __init__(self, problems: Sequence[SourceProblem]) -> None:
        super().__init__(count(len(problems), "problem"))
        self.problems = tuple(problems)


@contextmanager
def gathered(into: list[SourceProblem]) -> Iterator[None]:
    """Append the problems of a source to a list instead of raising them."""
    try:
        yield
    except Unsound as unsound:
        into.extend(unsound.problems)


def seed_error(problems: Sequence[SourceProblem]) -> SeedError:
    """Put all problems into one error. If they are of one file, its name is the heading."""
    files = list(dict.fromkeys(problem.file for problem in problems))
    order = {file: number for number, file in enumerate(files)}
    ordered = sorted(problems, key=lambda one: (order[one.file], one.line or sys.maxsize))
    alone = len(files) == 1
    listed = [Problem(one.place(with_file=not alone), one.saw, one.expected, one.hint) for one in ordered[:MAX_SHOWN]]
    if (more := len(ordered) - MAX_SHOWN) > 0:
        listed.append(Problem("file", count(more, "more problem"), "none", "Fix the ones above first."))
    return SeedError(files[0] if alone else "seeds", listed, FOOTER)
