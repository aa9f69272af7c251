"""Graders that travel with an export, for forms with several answer rows an item, against our own grader."""

import dataclasses
import importlib
import random
import sys

import numpy as np
import pandas as pd
import pytest

from sandmill.draw.csv_files import answers_file
from sandmill.errors import InputError
from sandmill.export.grader import compose
from sandmill.export.mlebench import check_names, export
from tests import many_rows
from tests.export_tasks import MANIFEST, make_exported, write_export
from tests.many_rows import FORMS, guess_at, make_many, table_of
from tests.submission_mutants import mutate
from tests.unit.export.test_grader import assert_same, load

MUTANTS = 80


def travelling(task):
    grader, answers = load(compose(task.facts, task.calibration)), answers_file(task.facts, task.answers)
    return lambda content: grader.grade_bytes(content, answers)


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
    broken, fuzz = [mutate(task.honest, random.Random(number)) for number in range(MUTANTS)], 0
    for content in broken:
        assert_same(grade(content), task.grade(content))
        fuzz += grade(content)["valid"]
    assert 0 < fuzz < MUTANTS


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
