"""Exports of a real release: the reference solution wins gold in mle-bench, and the sample wins nothing."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from sandmill.export.base import ExportTask
from sandmill.export.export import export
from sandmill.models.reports import Medal
from sandmill.scoring.grading import grade_submission
from sandmill.scoring.submission import read_answers
from sandmill.store.release import StoredRelease, load

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]

STUBS = Path(__file__).parents[2] / "client_stubs"


@pytest.fixture
def release(small_release) -> StoredRelease:
    return load(small_release)


def python(*arguments: object, cwd: Path) -> str:
    """Run Python without this repository, and with the stand-in of the benchmark. Returns what it prints."""
    environment = {**os.environ, "PYTHONPATH": str(STUBS)}
    command = [sys.executable, *map(str, arguments)]
    done = subprocess.run(command, cwd=cwd, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout or done.stderr


def solve(task: ExportTask, folder: Path) -> Path:
    """Run the reference solution on the public files."""
    for path, content in task.public.items():
        (folder / "public").mkdir(parents=True, exist_ok=True)
        (folder / "public" / path).write_bytes(content)
    (folder / "solution.py").write_bytes(task.private["solution.py"])
    python("solution.py", "public", "submission.csv", cwd=folder)
    return folder / "submission.csv"


def test_the_reference_solution_wins_gold_and_the_sample_nothing(release, tmp_path):
    export(release, "mlebench", tmp_path / "mlebench")
    for task_id in release.task_ids:
        task = ExportTask(release.record(task_id), release.files("public", task_id), release.files("private", task_id))
        reference = solve(task, tmp_path / "work" / task_id)
        assert compare(task, reference, tmp_path) is Medal.GOLD
        assert compare(task, reference.parent / "public" / "sample_submission.csv", tmp_path) is None


def compare(task: ExportTask, submission: Path, folder: Path) -> Medal | None:
    """Grade with the export and our grader, which must agree, and return the medal."""
    facts, calibration, name = task.record.facts, task.record.calibration, task.task_id
    answers = read_answers(task.private["answers.csv"], facts)
    ours = grade_submission(submission.read_bytes(), answers, facts, calibration)
    thresholds = {f"{bar}_threshold": value for bar, value in ours.thresholds.model_dump().items()}

    mlebench = json.loads(python(folder / "mlebench" / "shim.py", "grade-sample", submission, name, cwd=folder))
    assert mlebench["score"] == ours.score
    assert mlebench["is_lower_better"] is ours.is_lower_better
    assert {bar: mlebench[bar] for bar in thresholds} == thresholds
    assert [medal for medal in Medal if mlebench[f"{medal}_medal"]] == ([ours.medal] if ours.medal else [])
    assert mlebench["above_median"] is ours.above_median
    return ours.medal
