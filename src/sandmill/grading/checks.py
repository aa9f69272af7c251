"""Check what a pulled task asks of the grader before anything is graded: the folder may come from a stranger."""

from collections.abc import Iterator
from math import isfinite
from typing import Any

from sandmill.errors import Problem
from sandmill.metrics.support import GRADED
from sandmill.models.calibration import Calibration
from sandmill.models.package import Brief
from sandmill.models.task_file import TaskFile

MOST_CLASSES = 10_000
"""Classes, labels or columns of a submission."""
MOST_PLACES = 1000
"""Places of a ranked list that count."""
MOST_CELLS = 20_000_000
"""Numbers in one table that grading makes: 160 MB."""

_SOME = 5
"""Numbers that are not finite that are named one by one."""
_TABLES_OF_LABELS = frozenset({"label_list", "label_probabilities", "class_probabilities"})


def task_problems(task: TaskFile) -> list[Problem]:
    """List what of a task cannot be graded; empty if it can."""
    return [*_brief_problems(task.brief), *_calibration_problems(task.calibration)]


def answers_problem(content: bytes, brief: Brief) -> Problem | None:
    """Say whether answers have more cells than grading may take memory for. They are not read for it."""
    lines = content.count(b"\n") + content.count(b"\r") - content.count(b"\r\n")
    width = max(1, len(brief.submission_columns), len(brief.target_columns))
    if brief.encoding in _TABLES_OF_LABELS:
        width = max(width, len(brief.classes))
    if brief.encoding == "ranked_list":
        width = max(width, brief.list_length or 1)
    cells = lines * width
    if brief.encoding == "label":
        # Metrics of labels count every pair of classes.
        cells = max(cells, len(brief.classes) ** 2)
    if cells <= MOST_CELLS:
        return None
    return Problem("file", f"{lines} lines, {cells} cells to grade", f"at most {MOST_CELLS} cells")


def _brief_problems(brief: Brief) -> Iterator[Problem]:
    encoding = GRADED.get((brief.target, brief.metric))
    if encoding is None:
        expected = ", ".join(sorted(metric for target, metric in GRADED if target is brief.target))
        yield Problem("brief.metric", f"{brief.metric} for a {brief.target} target", f"one of {expected}")
    elif encoding != brief.encoding:
        yield Problem("brief.encoding", brief.encoding, f"{encoding}, as {brief.metric} needs")
    columns = brief.submission_columns
    for name, values in (("classes", brief.classes), ("submission_columns", columns)):
        if len(values) > MOST_CLASSES:
            yield Problem(f"brief.{name}", f"{len(values)} names", f"at most {MOST_CLASSES}")
        if len(set(values)) != len(values):
            yield Problem(f"brief.{name}", "a name twice", "names that differ")
    if not columns or brief.id_column in columns:
        yield Problem("brief.submission_columns", "none, or the id column", "the columns beside the id")
    if (brief.list_length or 1) > MOST_PLACES:
        yield Problem("brief.list_length", str(brief.list_length), f"at most {MOST_PLACES}")
    if brief.value_range is not None:
        yield from _not_finite("brief.value_range", brief.value_range)


def _calibration_problems(calibration: Calibration) -> Iterator[Problem]:
    if not calibration.board:
        yield Problem("calibration.board", "no entry", "the scores of at least one solver")
    if calibration.trivial == calibration.oracle:
        yield Problem("calibration.oracle", f"{calibration.oracle}, as the trivial score", "another score")
    problems = list(_not_finite("calibration", calibration.model_dump()))
    yield from problems[:_SOME]
    if len(problems) > _SOME:
        yield Problem("calibration", f"{len(problems) - _SOME} more of them", "finite numbers")


def _not_finite(where: str, value: Any) -> Iterator[Problem]:
    """Name every number that is infinite or none at all, however deep it lies."""
    if isinstance(value, float) and not isfinite(value):
        yield Problem(where, str(value), "a finite number")
    elif isinstance(value, dict):
        for name, inner in value.items():
            yield from _not_finite(f"{where}.{name}", inner)
    elif isinstance(value, list | tuple):
        for place, inner in enumerate(value):
            yield from _not_finite(f"{where}.{place}", inner)
