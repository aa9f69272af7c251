"""Read regular source files only, and collect problems of all sources before an error is raised.

A link could copy a private file of the user into a seed's texts.
"""

import os
import stat
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

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


MAX_BYTES = 256 * 1024
"""Bytes of a card, a seed.yaml, a config.yaml or a description.md. Real ones have a few kilobytes."""

_REGULAR = "a regular file in the folder itself"
_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


def require_regular(path: Path, file: str) -> None:
    """Refuse links, which can point outside the folder, and pipes and devices, which may never end.

    A missing file is not refused here; opening it fails.

    Raises:
        Unsound: if something is there and it is no regular file.
    """
    try:
        mode = path.lstat().st_mode
    except OSError:
        return
    if not stat.S_ISREG(mode):
        saw = "a link" if stat.S_ISLNK(mode) else "no regular file"
        raise Unsound([SourceProblem(file, saw, _REGULAR)])


def require_folder(path: Path, file: str) -> None:
    """Refuse a folder that is a link.

    Raises:
        Unsound: if it is one.
    """
    if path.is_symlink():
        raise Unsound([SourceProblem(file, "a link", "a folder in the folder itself")])


def read_text(path: Path, file: str, limit: int = MAX_BYTES) -> str:
    """Read a UTF-8 file of at most `limit` bytes.

    Raises:
        Unsound: if it is a link, cannot be read, is larger than `limit` bytes or is not UTF-8.
    """
    require_regular(path, file)
    try:
        with os.fdopen(os.open(path, _READ), "rb") as stream:
            if not stat.S_ISREG(os.fstat(stream.fileno()).st_mode):
                raise Unsound([SourceProblem(file, "no regular file", _REGULAR)])
            content = stream.read(limit + 1)
    except OSError as error:
        raise Unsound([SourceProblem(file, error.strerror or "an unreadable file", "a readable file")]) from None
    if len(content) > limit:
        raise Unsound([SourceProblem(file, f"more than {limit // 1024} kB", f"at most {limit // 1024} kB")])
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise Unsound([SourceProblem(file, "bytes that are not UTF-8", "text in UTF-8", line)]) from None
