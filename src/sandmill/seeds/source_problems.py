"""Problems with a place in a file, gathered from every source before anything is raised."""

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import groupby

from sandmill.errors import Problem, SeedError, count

MAX_SHOWN = 100
"""Problems of one file that a message lists: a file that is wrong all through would fill the terminal."""
FOOTER = "No seed was read. See docs/seeds.md for every field."


@dataclass(frozen=True)
class SourceProblem:
    """One problem of one source file. Line and column count from 1; 0 is unknown."""

    file: str
    saw: str
    expected: str
    line: int = 0
    column: int = 0
    field: str = ""
    hint: str = ""

    def place(self, with_file: bool) -> str:
        """Say where, leaving the file out when the heading names it."""
        parts = [self.file] if with_file else []
        parts += [f"line {self.line}"] if self.line else []
        parts += [f"column {self.column}"] if self.column else []
        parts += [self.field] if self.field else []
        return ", ".join(parts) or "file"


class Unsound(Exception):
    """One source cannot be used. Carries all its problems to `gathered`; never leaves the package."""

    def __init__(self, findings: Sequence[SourceProblem]) -> None:
        super().__init__(count(len(findings), "problem"))
        self.findings = tuple(findings)


@contextmanager
def gathered(into: list[SourceProblem]) -> Iterator[None]:
    """Keep a source's problems and go on to the next source."""
    try:
        yield
    except Unsound as unsound:
        into.extend(unsound.findings)


def seed_error(findings: Sequence[SourceProblem]) -> SeedError:
    """Put all problems into one message; a single file's name becomes the heading."""
    files = list(dict.fromkeys(finding.file for finding in findings))
    order = {file: number for number, file in enumerate(files)}
    findings = sorted(findings, key=lambda f: (order[f.file], f.line or sys.maxsize))
    alone = len(files) == 1
    problems = [Problem(f.place(with_file=not alone), f.saw, f.expected, f.hint) for f in _limited(findings)]
    return SeedError(files[0] if alone else "seeds", problems, FOOTER)


def _limited(findings: Sequence[SourceProblem]) -> Iterator[SourceProblem]:
    """Keep the first findings of each file, and say how many more there are."""
    for file, group in groupby(findings, key=lambda finding: finding.file):
        of_file = list(group)
        yield from of_file[:MAX_SHOWN]
        if (more := len(of_file) - MAX_SHOWN) > 0:
            yield SourceProblem(file, count(more, "more problem"), "none", hint="Fix the ones above first.")
