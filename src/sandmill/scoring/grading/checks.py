"""Check the facts of a pulled task before grading, since the folder is untrusted."""

from collections.abc import Iterator
from math import isfinite
from typing import Any

from sandmill.errors import Problem
from sandmill.models.calibration import Calibration
from sandmill.models.package import TaskFacts
from sandmill.models.task_file import TaskFile
from sandmill.scoring.forms import form_of
from sandmill.scoring.support import ANSWER_FORMS, RENDERED_FORMS, possible_forms

MOST_CLASSES = 10_000
"""Classes, labels or columns of a submission."""
MOST_PLACES = 1000
"""Places of a ranked list that count."""
MOST_SIDE = 1000
"""Pixels of a side of a picture that is a target."""
MOST_CELLS = 20_000_000
"""Numbers in one table of the grader: 160 MB."""

_SOME = 5
"""Numbers that are not finite that are named one by one."""


def task_problems(task: TaskFile) -> list[Problem]:
    """List the reasons why a task cannot be graded; empty if it can be."""
    return [*_facts_problems(task.facts), *_calibration_problems(task.calibration)]


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
    if facts.value_range is not None:
        yield from _not_finite("facts.value_range", facts.value_range)


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
    """Yield every number that is infinite or NaN, at any depth."""
    if isinstance(value, float) and not isfinite(value):
        yield Problem(where, str(value), "a finite number")
    elif isinstance(value, dict):
        for name, inner in value.items():
            yield from _not_finite(f"{where}.{name}", inner)
    elif isinstance(value, list | tuple):
        for place, inner in enumerate(value):
            yield from _not_finite(f"{where}.{place}", inner)
