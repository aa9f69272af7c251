"""Read the private half of a task, which has everything that a grader needs, from a folder or from bytes."""

import csv
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from pydantic import ValidationError

from sandmill.errors import InputError, Problem
from sandmill.models.task_file import GradedTask, TaskFile
from sandmill.scoring.grading.checks import answers_problem, task_problems
from sandmill.scoring.grading.reading import read_pulled_file
from sandmill.scoring.submission import Answers, read_answers

TASK_FILE, ANSWERS_FILE = "task.json", "answers.csv"
"""Files of the private half that a grader reads."""
_PULL_AGAIN = "Pull it with: sandmill pull RELEASE --to DIR (without --public-only)."
_MOST_FACTS = 16 << 20
"""Bytes of task.json."""
_MOST_ANSWERS = 64 << 20
"""Bytes of answers.csv."""
_KEPT = 64
"""Tasks whose answers are cached: tens of megabytes at most."""


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
        states = tuple(_state_of(task_dir / "private" / name) for name in (TASK_FILE, ANSWERS_FILE))
    except OSError:
        # Reading raises an error that names the missing file.
        return _read_private.__wrapped__(task_dir, ())
    return _read_private(task_dir, states)


def parse_private(facts: bytes, answers: bytes, where: str) -> PrivateHalf:
    """Check the content of task.json and answers.csv.

    Args:
        facts: content of task.json.
        answers: content of answers.csv.
        where: their folder, for messages.

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
    if problems := task_problems(task):
        raise InputError(where, problems, _PULL_AGAIN)
    return task


def _state_of(path: Path) -> tuple[int, ...]:
    status = path.lstat()
    return status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns


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
