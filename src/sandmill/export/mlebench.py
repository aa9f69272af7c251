"""Folders of mle-bench: `competitions/<id>`, the prepared `data/<id>`, and `shim.py`, which registers them."""

import csv
import io
from collections.abc import Iterable, Iterator, Mapping
from hashlib import md5
from statistics import fmean

import yaml

from sandmill.errors import InputError, Problem, name_some, require_extra
from sandmill.export.base import ExportTask, template, within
from sandmill.export.grader import grader_source
from sandmill.kinds.files.base import layout_of
from sandmill.models.calibration import Calibration
from sandmill.models.release import Manifest
from sandmill.models.texts import DESCRIPTION

_HASHED = (".csv", ".json", ".jsonl", ".parquet", ".bson")
"""Extensions of the files that checksums.yaml lists."""
_ANSWERS, _GOLD = "answers.csv", "gold_submission.csv"
_GRADE = template("mlebench_grade.txt")
_SHIM = template("mlebench_shim.txt")
_PREPARE = template("prepare.txt")
"""prepare.py. mle-bench imports it when it loads a task."""


def export(tasks: Iterable[ExportTask], manifest: Manifest) -> Iterator[tuple[str, bytes]]:
    """Yield the files of each competition, its data, and shim.py."""
    yield "shim.py", _SHIM.encode()
    for task in tasks:
        check_names(task)
        description = task.plain_description
        public = {**task.data_files, DESCRIPTION: description}
        private: dict[str, bytes | str] = {
            _ANSWERS: task.private[_ANSWERS],
            _GOLD: _perfect_submission(task),
            "solution.py": task.private["solution.py"],
        }
        path, sample = _sample(task)
        if path.startswith("private/"):
            private[path.removeprefix("private/")] = sample
        yield from within(
            f"competitions/{task.task_id}",
            {
                "config.yaml": _config(task),
                DESCRIPTION: description,
                "grade.py": _GRADE,
                # Without its command line, so that other code can follow.
                "grader.py": grader_source(task).partition('\n\nif __name__ == "__main__":')[0].rstrip() + "\n",
                "prepare.py": _PREPARE,
                "leaderboard.csv": _leaderboard(task.record.calibration),
                "checksums.yaml": _checksums(public=public, private=private),
                "kernels.txt": "",
            },
        )
        yield from within(f"data/{task.task_id}/prepared/public", public)
        yield from within(f"data/{task.task_id}/prepared/private", private)


def _config(task: ExportTask) -> str:
    name, prepared = task.task_id, f"{task.task_id}/prepared"
    config = {
        "id": name,
        "name": task.record.spec.story.title,
        "competition_type": "simple",
        "awards_medals": True,
        "prizes": None,
        "description": f"mlebench/competitions/{name}/{DESCRIPTION}",
        "dataset": {
            "answers": f"{prepared}/private/{_ANSWERS}",
            "sample_submission": f"{prepared}/{_sample(task)[0]}",
            "gold_submission": f"{prepared}/private/{_GOLD}",
        },
        "grader": {
            "name": task.record.facts.metric.value,
            "grade_fn": f"mlebench.competitions.{name}.grade:grade",
        },
        "preparer": f"mlebench.competitions.{name}.prepare:prepare",
        # The harness puts the description among the files, where scripts can search it.
        "text_visible": True,
    }
    return yaml.safe_dump(config, sort_keys=False, allow_unicode=True)


def _sample(task: ExportTask) -> tuple[str, bytes]:
    """Return path and content of the sample submission. mle-bench reads no archive, so one gets a copy that is CSV."""
    layout = layout_of(task.record.spec)
    if layout.sample.endswith(".csv"):
        return f"public/{layout.sample}", task.public[layout.sample]
    return f"private/{layout.sample.rpartition('.')[0]}", layout.sample_csv(task.public)


def _leaderboard(calibration: Calibration) -> str:
    """Return the leaderboard of which mle-bench's rule by ranks gives the task's thresholds.

    With milestones it has ten rows that hold thresholds in place of runs. Of ten rows, mle-bench takes the first for
    gold, the second for silver, the fourth for bronze, and the mean of the fifth and the sixth for the median.

    Otherwise it has the scores of the final part, best first. mle-bench takes the mean of the two middle rows without
    rounding, and compares it strictly. Where this mean is not exactly our median, which has 5 decimals, both rows hold
    our median.
    """
    if calibration.rule == "milestones":
        names, bars = ("gold", "silver", "bronze", "bronze", *["median"] * 6), calibration.thresholds
        return "score,milestone\n" + "".join(f"{getattr(bars, name):.5f},{name}\n" for name in names)
    scores = [entry.final for entry in calibration.board]
    median, middle = calibration.thresholds.median, slice((len(scores) - 1) // 2, len(scores) // 2 + 1)
    if fmean(scores[middle]) != median:
        scores[middle] = [median] * len(scores[middle])
    return "score\n" + "".join(f"{score:.5f}\n" for score in scores)


def _checksums(**sides: Mapping[str, bytes | str]) -> str:
    def md5_of(content: bytes | str) -> str:
        return md5(content.encode() if isinstance(content, str) else content, usedforsecurity=False).hexdigest()

    # mle-bench looks at the files directly in the folder only.
    return yaml.safe_dump(
        {
            side: {name: md5_of(files[name]) for name in files if "/" not in name and name.endswith(_HASHED)}
            for side, files in sides.items()
        }
    )


def check_names(task: ExportTask) -> None:
    """Check that pandas keeps ids, class names and true texts: mle-bench reads all files with it.

    Raises `InputError` if pandas would read a name as a missing value, a boolean or another number.
    """
    facts = task.record.facts
    rows = list(csv.DictReader(io.StringIO(task.private[_ANSWERS].decode(), newline="")))
    ids = [row[facts.id_column] for row in rows]
    changed = [name for name in facts.classes if _read_by_pandas([name]) != [name]]
    texts = [row[facts.target_column] for row in rows] if facts.encoding == "strings" else []
    for cells in (ids, texts):
        changed += [old for old, new in zip(cells, _read_by_pandas(cells), strict=True) if old != new]
    if changed:
        hint = "Leave the task out: name the others with --task."
        expected = "class names, ids and texts that pandas does not take for numbers, booleans or missing values"
        problem = Problem(f"task {task.task_id}", name_some(changed), expected, hint)
        raise InputError("export", [problem], "Nothing was written.")


def _read_by_pandas(cells: list[str]) -> list[str]:
    with require_extra("rerun", "export"):
        import pandas as pd

    text = io.StringIO(newline="")
    csv.writer(text).writerows([cell] for cell in ("name", *cells))
    text.seek(0)
    return [str(cell) for cell in pd.read_csv(text)["name"].tolist()]


def _perfect_submission(task: ExportTask) -> str:
    """Return the true answers in the form of a submission."""
    facts = task.record.facts
    sink = io.StringIO(newline="")
    writer = csv.writer(sink, lineterminator="\n")
    writer.writerow([facts.id_column, *facts.submission_columns])
    for row in csv.DictReader(io.StringIO(task.private[_ANSWERS].decode(), newline="")):
        if facts.encoding == "class_probabilities":
            cells = [str(int(row[facts.target_column] == name)) for name in facts.submission_columns]
        else:
            cells = [row[name] for name in facts.target_columns]
        writer.writerow([row[facts.id_column], *cells])
    return sink.getvalue()
