"""Write the grader of one task as one Python file that needs only numpy.

The file has the functions that the task's answer form needs, and those of its metric from `sandmill.scoring.scores`. It
gives the scores of `sandmill.scoring.grading.grade_submission`.
"""

import ast
from collections.abc import Iterator, Mapping
from functools import cache
from importlib.resources import files
from pprint import pformat
from typing import Any

from sandmill.export.base import ExportTask, template
from sandmill.models.calibration import Calibration, Thresholds
from sandmill.models.package import TaskFacts
from sandmill.scoring import get_metric
from sandmill.scoring.forms import form_of

_PARTS = ("scoring/scores.py", "export/grader_parts.py")
"""Modules of the package, in the order in which their functions are written."""

_FORMS: Mapping[str, tuple[str, str]] = {
    "probability": ("read_value", "true_codes"),
    "label": ("read_label", "true_codes"),
    "class_probabilities": ("read_class_probabilities", "true_codes"),
    "label_probabilities": ("read_values", "true_numbers"),
    "label_list": ("read_label_list", "true_flags"),
    "ranked_list": ("read_ranked_list", "true_codes"),
    "value": ("read_value", "true_number"),
    "values": ("read_values", "true_numbers"),
    "pairs": ("read_value", "true_number"),
    "dense": ("read_value", "true_number"),
    "strings": ("read_text", "true_text"),
    "runs": ("read_runs", "true_runs"),
}
"""Functions of `grader_parts` that read submission and answers, by answer form."""

_ENTRY = template("grader.txt")


def grader_source(task: ExportTask) -> str:
    """Return the source of the grader of a task.

    The module has `grade(submission_path, answers_path, part="final")` and `grade_bytes(submission, answers, part)`.
    Both return a dict with score, valid, problems, thresholds, medal, gap_closed, position_score and reward.
    `answers_path` is the private answers.csv of the task. The source names thresholds, so agents must not see it.
    """
    return compose(task.record.facts, task.record.calibration)


def compose(facts: TaskFacts, calibration: Calibration) -> str:
    """Return the source of a grader for an answer form, a metric and a leaderboard."""
    read, read_truth = _FORMS[facts.encoding]
    entry = _ENTRY.format(metric=facts.metric, form=facts.encoding, read=read, read_truth=read_truth)
    constants = pformat(_task_facts(facts, calibration), width=112, sort_dicts=False, compact=True)
    return (
        f'"""Grade one task. Usage: python grader.py SUBMISSION ANSWERS. Needs numpy."""\n\n'
        f"{_select(read, read_truth, str(facts.metric))}\n\nTASK = {constants}\n\n{entry}"
    )


def _task_facts(facts: TaskFacts, calibration: Calibration) -> dict[str, Any]:
    low, high = _range_of(facts)
    board, ends = calibration.board, (calibration.trivial, calibration.oracle, calibration.reward_end)
    return {
        "id_column": facts.id_column,
        "columns": list(facts.submission_columns),
        "target_columns": list(facts.target_columns),
        "classes": list(facts.classes),
        "places": facts.places,
        **({"pixels": form_of(facts).width(facts)} if facts.encoding == "runs" else {}),
        "low": low,
        "high": high,
        "cell_bytes": form_of(facts).cell_bytes(facts),
        "is_lower_better": calibration.is_lower_better,
        "parts": {
            "final": _part_facts(calibration.thresholds, [entry.final for entry in board], *ends),
            "feedback": _part_facts(calibration.feedback_thresholds, [entry.feedback for entry in board]),
        },
    }


def _part_facts(thresholds: Thresholds, board: list[float], *ends: float) -> dict[str, Any]:
    known = dict(zip(("trivial", "oracle", "reward_end"), ends or (None,) * 3, strict=True))
    return {**known, "thresholds": thresholds.model_dump(), "board": board}


def _range_of(facts: TaskFacts) -> tuple[float | None, float | None]:
    """Return the least and the largest number of a submission; None for no limit."""
    if facts.encoding not in ("value", "values"):
        return 0.0, 1.0
    if facts.value_range is not None:
        return facts.value_range
    return (0.0 if get_metric(facts.metric).is_nonnegative else None), None


@cache
def _select(*wanted: str) -> str:
    """Return the imports, constants and functions that some functions need, in the order of the modules."""
    imports, definitions = _statements()
    used, open_names = set[str](), ["grade_paths", "grade_content", "score_part", "run", "Report", "Task", *wanted]
    while open_names:
        if (name := open_names.pop()) not in used:
            used.add(name)
            open_names += definitions[name][1] if name in definitions else ()
    lines = [line for name, line in sorted(imports.items(), key=lambda item: (item[1], item[0])) if name in used]
    standard = [line for line in dict.fromkeys(lines) if "numpy" not in line]
    others = [line for line in dict.fromkeys(lines) if "numpy" in line]
    head = "\n".join([*standard, "", *others])
    return "\n\n\n".join([head, *(source for name, (source, _) in definitions.items() if name in used)])


@cache
def _statements() -> tuple[dict[str, str], dict[str, tuple[str, tuple[str, ...]]]]:
    """Return import lines by the name that they define, and other statements with the names that they use."""
    imports: dict[str, str] = {}
    definitions: dict[str, tuple[str, tuple[str, ...]]] = {}
    for part in _PARTS:
        source = (files("sandmill") / part).read_text(encoding="utf-8")
        body = ast.parse(source).body
        for statement, following in zip(body, [*body[1:], None], strict=True):
            if isinstance(statement, ast.Import | ast.ImportFrom):
                imports.update(_imported(statement))
            elif name := _defined(statement):
                # The text that describes a constant stands after it.
                is_note = isinstance(following, ast.Expr) and isinstance(following.value, ast.Constant)
                end = following if is_note else statement
                text = "\n".join(source.splitlines()[statement.lineno - 1 : end.end_lineno if end else None])
                names = tuple(node.id for node in ast.walk(statement) if isinstance(node, ast.Name))
                if name in definitions:
                    raise ValueError(f"the sources of graders define {name} twice")
                definitions[name] = text, names
    return imports, definitions


def _imported(statement: ast.Import | ast.ImportFrom) -> Iterator[tuple[str, str]]:
    module = statement.module if isinstance(statement, ast.ImportFrom) else None
    if module and module.startswith("sandmill"):
        return
    for alias in statement.names:
        renamed = f"{alias.name} as {alias.asname}" if alias.asname else alias.name
        line = f"from {module} import {renamed}" if module else f"import {renamed}"
        yield alias.asname or alias.name, line


def _defined(statement: ast.stmt) -> str | None:
    if isinstance(statement, ast.FunctionDef | ast.ClassDef):
        return statement.name
    target = statement.targets[0] if isinstance(statement, ast.Assign) else getattr(statement, "target", None)
    return target.id if isinstance(target, ast.Name) else None
