"""Exports of a real release: the reference solution wins gold in each benchmark, and the sample wins nothing."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest

from sandmill.export.base import ExportTask
from sandmill.export.export import export
from sandmill.models.reports import Medal
from sandmill.scoring.grading import grade_submission
from sandmill.scoring.submission import read_answers
from sandmill.store.release import StoredRelease, load

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]

STUBS = Path(__file__).parents[2] / "client_stubs"
METRIC = """
import runpy, sys
import pandas as pd
metric = runpy.run_path(sys.argv[1])["TaskMetrics"]()
print(metric.evaluate(pd.read_csv(sys.argv[2]), pd.read_csv(sys.argv[3])))
"""


@pytest.fixture
def release(small_release) -> StoredRelease:
    return load(small_release)


def python(*arguments: object, cwd: Path) -> str:
    """Run Python without this repository, and with the stand-ins of the benchmarks. Returns what it prints."""
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
    for name in ("mlebench", "mledojo", "sandmle"):
        export(release, name, tmp_path / name, is_insecure=name == "sandmle")
    for task_id in release.task_ids:
        task = ExportTask(release.record(task_id), release.files("public", task_id), release.files("private", task_id))
        reference = solve(task, tmp_path / "work" / task_id)
        assert compare(task, reference, tmp_path) is Medal.GOLD
        assert compare(task, reference.parent / "public" / "sample_submission.csv", tmp_path) is None


def compare(task: ExportTask, submission: Path, folder: Path) -> Medal | None:
    """Grade with the three exports and our grader, which must agree, and return the medal."""
    facts, calibration, name = task.record.facts, task.record.calibration, task.task_id
    answers = read_answers(task.private["answers.csv"], facts)
    ours = grade_submission(submission.read_bytes(), answers, facts, calibration)
    thresholds = {f"{bar}_threshold": value for bar, value in ours.thresholds.model_dump().items()}

    mlebench = json.loads(python(folder / "mlebench" / "shim.py", "grade-sample", submission, name, cwd=folder))
    public = folder / "sandmle" / name / "prepared" / "public"
    sandmle = json.loads(python("evaluator.py", "--submission_path", submission, cwd=public))
    for report in (mlebench, sandmle):
        assert report["score"] == ours.score
        assert report["is_lower_better"] is ours.is_lower_better
        assert {bar: report[bar] for bar in thresholds} == thresholds
    assert [medal for medal in Medal if mlebench[f"{medal}_medal"]] == ([ours.medal] if ours.medal else [])
    assert mlebench["above_median"] is ours.above_median

    metric, data = folder / "mledojo" / "competitions" / name, folder / "mledojo" / "data" / name / "data"
    printed = python(
        "-c", METRIC, metric / "utils" / "metric.py", data / "private" / "test_answer.csv", submission, cwd=folder
    )
    board = pd.read_csv(data / "private" / "private_leaderboard.csv").iloc[:, 1]
    assert float(printed) == ours.score
    assert sum(board <= ours.score if not ours.is_lower_better else board >= ours.score) / len(board) == (
        pytest.approx(ours.position_score)
    )
    return ours.medal
