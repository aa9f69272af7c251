"""The grader that travels gives the grades of our own grader, for every metric, and refuses what that refuses."""

import dataclasses
import importlib
import json
import math
import random
import subprocess
import sys
from collections.abc import Callable
from random import Random
from types import ModuleType
from typing import Any

import numpy as np
import pandas as pd
import pytest

from sandmill.draw.csv_files import answers_file
from sandmill.errors import InputError
from sandmill.export.grader import compose
from sandmill.export.mlebench import check_names, export
from sandmill.models.calibration import Ceiling
from sandmill.models.reports import GradeReport
from sandmill.models.rollout import Ending, Rollout
from sandmill.models.structure import MetricName, TargetKind
from sandmill.rewards import get_reward
from sandmill.scoring.forms import form_of
from sandmill.scoring.support import ANSWER_FORMS
from tests import many_rows
from tests.export_tasks import MANIFEST, make_exported, write_export
from tests.factories import CALIBRATION
from tests.many_rows import FORMS, guess_at, make_many, table_of
from tests.metric_cases import CASES, prepare
from tests.metric_samples import guess
from tests.submission_mutants import ROWS, Graded, make_graded, mutate, write
from tests.unit.scoring.test_parity import ours

PAIRS = sorted(ANSWER_FORMS)
MUTANTS = 60
ALONE = """
import runpy, sys
runpy.run_path({path!r}, run_name="__main__")
loaded = {{name.split(".")[0] for name in sys.modules}}
assert not loaded & {{"sandmill", "sklearn", "scipy", "pandas"}}, loaded
"""


def load(source: str) -> ModuleType:
    module = ModuleType("grader")
    exec(compile(source, "grader.py", "exec"), module.__dict__)
    return module


def travelling(task: Graded) -> Callable[[bytes | None], dict[str, Any]]:
    grader, answers = load(compose(task.facts, task.calibration)), answers_file(task.facts, task.answers)
    return lambda content: grader.grade_bytes(content, answers)


def assert_same(report: dict[str, Any], grade: GradeReport) -> None:
    assert report["valid"] == (grade.score is not None), (report["problems"], grade.problems)
    assert bool(report["problems"]) == (not report["valid"])
    expected = grade.model_dump(mode="json")
    for name in ("score", "gap_closed", "gap_to_gold"):
        assert (report[name] is None) == (expected[name] is None), name
        assert report[name] is None or report[name] == pytest.approx(expected[name], abs=1.01e-5, rel=1e-9), name
    for name in ("is_lower_better", "thresholds", "medal", "above_median", "position", "position_score"):
        assert report[name] == expected[name], name
    rollout = Rollout(task_id="task", ending=Ending.FINISHED, grade=grade)
    assert report["reward"] == pytest.approx(get_reward(report["reward_preset"])(rollout).total, abs=1.01e-5)
    json.dumps(report, allow_nan=False)


@pytest.mark.parametrize("pair", PAIRS, ids="-".join)
def test_random_predictions_get_the_grades_of_our_own_grader(pair):
    for seed in range(3):
        task = make_graded(pair, seed)
        grade = travelling(task)
        rng = np.random.default_rng([seed, 7])
        contents = [task.honest, *(write(task.facts, task.answers.ids, guess(pair, rng, ROWS)) for _ in range(4))]
        if form_of(task.facts).width(task.facts) == 0 and task.facts.encoding in ("value", "probability"):
            contents.append(write(task.facts, task.answers.ids, np.full(ROWS, 0.1)))
        for content in contents:
            assert_same(grade(content), task.grade(content))


@pytest.mark.parametrize("pair", PAIRS, ids="-".join)
def test_broken_files_are_refused_where_our_own_grader_refuses_them(pair):
    task = make_graded(pair)
    grade = travelling(task)
    mutants = [mutate(task.honest, Random(f"travel {pair} {number}")) for number in range(MUTANTS)]
    for content in [b"", b"id", *mutants]:
        assert_same(grade(content), task.grade(content))
    assert (grade(None)["score"], grade(None)["reward"], grade(None)["valid"]) == (None, 0.0, False)


@pytest.mark.parametrize("case", [pytest.param(case, id=case["name"]) for case in CASES])
def test_a_case_of_the_fields_graders_is_scored_as_by_our_own(case):
    prepared, expected = prepare(case), ours(case)
    report = load(compose(prepared.facts, CALIBRATION)).grade_bytes(prepared.submission, prepared.answers)
    if isinstance(expected, str) or not math.isfinite(expected):
        assert report["score"] is None
    else:
        assert report["score"] == pytest.approx(expected, abs=1e-5, rel=1e-9)


def test_the_feedback_part_is_scored_on_demand_and_pays_no_reward():
    task = make_graded(PAIRS[0])
    grader = load(compose(task.facts, task.calibration))
    report = grader.grade_bytes(task.honest, answers_file(task.facts, task.answers), "feedback")
    assert report["score"] == pytest.approx(task.grade(task.honest).feedback_score)
    assert (report["reward"], report["gap_closed"]) == (0.0, None)
    assert report["thresholds"] == task.calibration.feedback_thresholds.model_dump()


def test_the_reward_is_the_share_of_the_gap_which_a_loose_ceiling_shortens():
    task = make_graded((TargetKind.BINARY, MetricName.ROC_AUC))
    answers, calibration = answers_file(task.facts, task.answers), task.calibration
    thresholds = calibration.thresholds.model_copy(update={"gold": calibration.trivial + 0.8})
    calibration = calibration.model_copy(update={"thresholds": thresholds})
    report = load(compose(task.facts, calibration)).grade_bytes(task.honest, answers)
    assert report["reward"] == min(1, max(0, report["gap_closed"])) != report["gap_to_gold"]
    loose = Ceiling(low=calibration.trivial + 0.5, high=calibration.oracle, kind="bracket")
    report = load(compose(task.facts, calibration.model_copy(update={"ceiling": loose})))
    report = report.grade_bytes(task.honest, answers)
    assert report["reward"] == pytest.approx(min(1, max(0, (report["score"] - calibration.trivial) / 0.5)))


@pytest.mark.parametrize("fault", ["answers", "link", "folder", "absent"])
def test_anything_unexpected_is_an_invalid_submission(tmp_path, fault):
    task = make_graded(PAIRS[0])
    grader = load(compose(task.facts, task.calibration))
    submission, answers = tmp_path / "submission.csv", tmp_path / "answers.csv"
    answers.write_bytes(b"nonsense" if fault == "answers" else answers_file(task.facts, task.answers))
    if fault == "answers":
        submission.write_bytes(task.honest)
    elif fault == "link":
        (tmp_path / "other.csv").write_bytes(task.honest)
        submission.symlink_to("other.csv")
    elif fault == "folder":
        submission.mkdir()
    report = grader.grade(submission, answers)
    assert (report["score"], report["medal"], report["reward"], report["valid"]) == (None, None, 0.0, False)
    assert report["problems"]


def test_numbers_that_overflow_are_refused():
    task = make_graded((TargetKind.REGRESSION, MetricName.RMSE))
    content = write(task.facts, task.answers.ids, np.full(ROWS, 1e300))
    assert travelling(task)(content)["problems"] == ["the numbers are too large to score"]


def test_the_file_is_short_and_runs_without_sandmill_and_scikit_learn(tmp_path):
    task = make_graded((TargetKind.MULTILABEL, MetricName.LWLRAP))
    source = compose(task.facts, task.calibration)
    assert len(source.splitlines()) < 320
    assert "sandmill" not in source
    assert source == compose(task.facts, task.calibration)
    (tmp_path / "grader.py").write_text(source)
    (tmp_path / "submission.csv").write_bytes(task.honest)
    (tmp_path / "answers.csv").write_bytes(answers_file(task.facts, task.answers))
    files = [str(tmp_path / name) for name in ("submission.csv", "answers.csv")]
    code = ALONE.format(path=str(tmp_path / "grader.py"))
    ended = subprocess.run([sys.executable, "-c", code, *files], capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stderr
    assert json.loads(ended.stdout)["score"] == task.grade(task.honest).score


MANY_MUTANTS = 80


@pytest.mark.parametrize("form", FORMS)
def test_predictions_and_broken_files_get_the_grades_of_our_own_grader(form):
    for seed in range(3):
        task = make_many(form, seed)
        grade, rng = travelling(task), np.random.default_rng([seed, 7])
        truth = task.answers.truth
        contents = [table_of(task.facts, task.answers, guess_at(form, truth, rng)) for _ in range(3)]
        contents.append(table_of(task.facts, task.answers, truth))
        for content in contents:
            assert_same(grade(content), task.grade(content))
        assert grade(contents[-1])["medal"] == "gold"
    broken, fuzz = [mutate(task.honest, random.Random(number)) for number in range(MANY_MUTANTS)], 0
    for content in broken:
        assert_same(grade(content), task.grade(content))
        fuzz += grade(content)["valid"]
    assert 0 < fuzz < MANY_MUTANTS


def exported(form):
    task, made = make_many(form), make_exported()
    private = {**made.task.private, "answers.csv": answers_file(task.facts, task.answers)}
    update = {"facts": task.facts, "calibration": task.calibration}
    return task, dataclasses.replace(made.task, private=private, record=made.task.record.model_copy(update=update))


def test_texts_that_pandas_reads_as_missing_are_not_exported_to_mle_bench():
    with pytest.raises(InputError, match="texts that pandas does not take"):
        check_names(exported("strings")[1])


@pytest.mark.parametrize("form", FORMS)
def test_the_code_for_mle_bench_grades_tables_that_pandas_has_read(form, tmp_path, monkeypatch):
    monkeypatch.setattr(many_rows, "WORDS", [word for word in many_rows.WORDS if word not in ("", "None")])
    task, export_task = exported(form)
    write_export(export([export_task], MANIFEST), tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    folder = tmp_path / "competitions" / export_task.task_id
    (folder / "__init__.py").write_text("")
    (tmp_path / "competitions" / "__init__.py").write_text("")
    for name in [name for name in sys.modules if name.split(".")[0] == "competitions"]:
        del sys.modules[name]
    grade = importlib.import_module(f"competitions.{export_task.task_id}.grade").grade
    data = tmp_path / "data" / export_task.task_id / "prepared" / "private"
    gold, answers = pd.read_csv(data / "gold_submission.csv"), pd.read_csv(data / "answers.csv")
    assert grade(gold, answers) == task.calibration.oracle
    (tmp_path / "honest.csv").write_bytes(task.honest)
    assert grade(pd.read_csv(tmp_path / "honest.csv"), answers) == task.grade(task.honest).score
