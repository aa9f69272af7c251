"""Read the private half of a task, which has everything that a grader needs, from a folder or from bytes.

Folders are untrusted: only regular files of limited size are read, without following links, and facts are checked.
"""

import csv
import errno
import json
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

from pydantic import ValidationError

from sandmill.errors import InputError, Problem
from sandmill.models.calibration import Calibration
from sandmill.models.package import GradedTask, TaskFacts, TaskFile
from sandmill.scoring.forms import form_of
from sandmill.scoring.submission import MAX_SUBMISSION_BYTES, Answers, read_answers
from sandmill.scoring.support import ANSWER_FORMS, RENDERED_FORMS, possible_forms

TASK_FILE, ANSWERS_FILE = "task.json", "answers.csv"
"""Files of the private half that a grader reads."""
_PULL_AGAIN = "Pull it with: sandmill pull RELEASE --to DIR (without --public-only)."
_MOST_FACTS = 16 << 20
"""Bytes of task.json."""
_MOST_ANSWERS = 64 << 20
"""Bytes of answers.csv."""
_KEPT = 64
"""Tasks whose answers are cached: tens of megabytes at most."""
_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_KINDS = {stat.S_IFDIR: "a folder", stat.S_IFIFO: "a pipe", stat.S_IFCHR: "a device", stat.S_IFBLK: "a device"}
MOST_CLASSES = 10_000
"""Classes, labels or columns of a submission."""
MOST_PLACES = 1000
"""Places of a ranked list that count."""
MOST_SIDE = 1000
"""Pixels of a side of a picture that is a target."""
MOST_CELLS = 20_000_000
"""Numbers in one table of the grader: 160 MB."""


class PrivateHalf(NamedTuple):
    """Facts, calibration and answers of one task. An agent's code must never be able to read them."""

    task: GradedTask
    answers: Answers

    def __repr__(self) -> str:
        return f"PrivateHalf({self.task.task_id!r}, {self.answers})"


def read_private(task_dir: Path) -> PrivateHalf:
    """Read the private half of a pulled task. Results are cached until one of the files changes.

    Raises:
        InputError: if the folder is not a pulled task with its private half.
    """
    try:
        files = [(task_dir / "private" / name).lstat() for name in (TASK_FILE, ANSWERS_FILE)]
    except OSError:
        # Reading raises an error that names the missing file.
        return _read_private.__wrapped__(task_dir, ())
    states = tuple((one.st_dev, one.st_ino, one.st_size, one.st_mtime_ns, one.st_ctime_ns) for one in files)
    return _read_private(task_dir, states)


def parse_private(facts: bytes, answers: bytes, where: str) -> PrivateHalf:
    """Check the content of task.json and answers.csv.

    Raises:
        InputError: if one of them is not a file of a task that can be graded.
    """
    task = parse_task_file(facts, f"{where}/{TASK_FILE}")
    return PrivateHalf(task, _parse_answers(answers, task, f"{where}/{ANSWERS_FILE}"))


def read_task_file(task_dir: Path) -> TaskFile:
    """Read and check private/task.json.

    Raises:
        InputError: if the folder is not a pulled task with its private half, or no task that can be graded.
    """
    if not task_dir.is_dir():
        raise InputError(str(task_dir), [Problem("task folder", "no such folder", "a pulled task")], "")
    content = read_pulled_file(task_dir, "private", TASK_FILE, _MOST_FACTS, _PULL_AGAIN)
    return parse_task_file(content, str(task_dir / "private" / TASK_FILE))


def parse_task_file(content: bytes, where: str) -> TaskFile:
    """Check the content of task.json.

    Raises:
        InputError: if it is not the file of a task that can be graded.
    """
    try:
        task = TaskFile.model_validate_json(content)
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"]) or "document"
        raise InputError(where, [Problem(place, first["msg"], "the file as pulled", _PULL_AGAIN)], "") from None
    if problems := [*_facts_problems(task.facts), *_calibration_problems(task.calibration)]:
        raise InputError(where, problems, _PULL_AGAIN)
    return task


@lru_cache(maxsize=_KEPT)
def _read_private(task_dir: Path, states: tuple[tuple[int, ...], ...]) -> PrivateHalf:
    task = read_task_file(task_dir)
    content = read_pulled_file(task_dir, "private", ANSWERS_FILE, _MOST_ANSWERS, _PULL_AGAIN)
    return PrivateHalf(task, _parse_answers(content, task, str(task_dir / "private" / ANSWERS_FILE)))


def _parse_answers(content: bytes, task: TaskFile, where: str) -> Answers:
    if problem := answers_problem(content, task.facts):
        raise InputError(where, [problem], "")
    try:
        answers = read_answers(content, task.facts)
    except (ValueError, KeyError, TypeError, AttributeError, csv.Error) as error:
        saw = f"answers that cannot be read ({type(error).__name__})"
        raise InputError(where, [Problem("file", saw, "the file as pulled", _PULL_AGAIN)], "") from error
    if not answers.ids:
        raise InputError(where, [Problem("file", "no rows", "the file as pulled", _PULL_AGAIN)], "")
    for column in (answers.truth, answers.is_final, answers.is_scored, answers.lengths):
        if column is not None:
            # The arrays are cached and shared.
            column.setflags(write=False)
    return answers


def read_regular_file(path: Path) -> bytes | None:
    """Read a submission, without following links or blocking on pipes.

    Returns:
        At most one byte more than a submission may have, which shows that a file is too large; None if there is none.

    Raises:
        InputError: if the path is a link, a folder, a device or a pipe.
    """
    try:
        with _opened(path) as (file, status):
            if status.st_nlink > 1:
                raise _Unfit(f"{status.st_nlink} hard links to one file")
            return file.read(MAX_SUBMISSION_BYTES + 1)
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as error:
        expected = "a regular file of its own, not a link, folder or pipe"
        raise InputError(str(path), [Problem("submission", _reason(error), expected)], "") from None


def read_pulled_file(task: Path, side: str, name: str, limit: int, hint: str = "") -> bytes:
    """Read a file of a pulled task, without following links or blocking on pipes.

    The path to the folder of the task may hold links; `side`, the folder in it, may not be one.

    Raises:
        InputError: if there is no such file, it is anything but a regular file, or it has more than `limit` bytes.
    """

    def refusal(where: str, error: OSError | ValueError, expected: str) -> InputError:
        return InputError(str(task), [Problem(where, _reason(error), expected, hint)], "")

    where = f"{side}/{name}"
    try:
        folder = os.open(task / side, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except FileNotFoundError as error:
        raise refusal(where, error, "a pulled task") from None
    except (OSError, ValueError) as error:
        raise refusal(side, error, "a folder, not a link") from None
    try:
        with _opened(name, folder) as (file, status):
            content = file.read(limit + 1)
            if (size := max(status.st_size, len(content))) > limit:
                raise _Unfit(f"{size} bytes")
            return content
    except _Unfit as error:
        raise refusal(where, error, f"a regular file of at most {limit} bytes") from None
    except (OSError, ValueError) as error:
        raise refusal(where, error, "a regular file, not a link") from None
    finally:
        os.close(folder)


class _Unfit(ValueError):
    """A file is not regular, has other names, or is too large."""


@contextmanager
def _opened(path: Path | str, folder: int | None = None) -> Iterator[tuple[BinaryIO, os.stat_result]]:
    descriptor = os.open(path, _READ, dir_fd=folder)
    try:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            raise _Unfit(_KINDS.get(stat.S_IFMT(status.st_mode), "a special file"))
        with os.fdopen(descriptor, "rb", closefd=False) as file:
            yield file, status
    finally:
        os.close(descriptor)


def _reason(error: OSError | ValueError) -> str:
    """Return why a path cannot be opened. A path with a zero byte is a ValueError."""
    number = getattr(error, "errno", None)
    if number == errno.ELOOP:
        return "a symbolic link"
    return getattr(error, "strerror", None) or str(error)


def answers_problem(content: bytes, facts: TaskFacts) -> Problem | None:
    """Return a problem if answers have too many cells to grade. Lines are counted without parsing."""
    form = form_of(facts)
    lines = content.count(b"\n") + content.count(b"\r") - content.count(b"\r\n")
    columns = form.width(facts)
    width = max(1, len(facts.submission_columns), len(facts.target_columns), columns // form.rows_each(facts))
    # Metrics of named classes count every pair of classes.
    cells = max(lines * width, 0 if columns else len(facts.classes) ** 2)
    if cells <= MOST_CELLS:
        return None
    return Problem("file", f"{lines} lines, {cells} cells to grade", f"at most {MOST_CELLS} cells")


def _facts_problems(facts: TaskFacts) -> Iterator[Problem]:
    forms = possible_forms(facts.target, facts.metric)
    if not forms:
        pairs = (*ANSWER_FORMS, *RENDERED_FORMS)
        expected = ", ".join(sorted(metric for target, metric in pairs if target is facts.target))
        yield Problem("facts.metric", f"{facts.metric} for a {facts.target} target", f"one of {expected}")
    elif facts.encoding not in forms:
        yield Problem("facts.encoding", facts.encoding, f"{' or '.join(forms)}, as {facts.metric} needs")
    if facts.encoding in ("dense", "runs") and facts.shape is None:
        yield Problem("facts.shape", "none", "rows and columns of the picture that is the target")
    if facts.shape and not (min(facts.shape) > 0 and max(facts.shape) <= MOST_SIDE):
        yield Problem("facts.shape", f"{facts.shape[0]} x {facts.shape[1]}", f"from 1 to {MOST_SIDE} pixels a side")
    columns = facts.submission_columns
    for name, values in (("classes", facts.classes), ("submission_columns", columns)):
        if len(values) > MOST_CLASSES:
            yield Problem(f"facts.{name}", f"{len(values)} names", f"at most {MOST_CLASSES}")
        if len(set(values)) != len(values):
            yield Problem(f"facts.{name}", "a name twice", "names that differ")
    if not columns or facts.id_column in columns:
        yield Problem("facts.submission_columns", "none, or the id column", "the columns beside the id")
    if (facts.list_length or 1) > MOST_PLACES:
        yield Problem("facts.list_length", str(facts.list_length), f"at most {MOST_PLACES}")
    if not _is_finite(facts.value_range):
        yield Problem("facts.value_range", str(facts.value_range), "finite numbers")


def _calibration_problems(calibration: Calibration) -> Iterator[Problem]:
    if not calibration.board:
        yield Problem("calibration.board", "no entry", "the scores of at least one solver")
    if calibration.trivial == calibration.oracle:
        yield Problem("calibration.oracle", f"{calibration.oracle}, as the trivial score", "another score")
    if not _is_finite(calibration.model_dump()):
        yield Problem("calibration", "a number that is infinite or NaN", "finite numbers")


def _is_finite(content: Any) -> bool:
    try:
        json.dumps(content, allow_nan=False, default=str)
    except ValueError:
        return False
    return True
