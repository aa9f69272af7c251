"""Executions in the real sandbox: scripts that learn, fail and hang, on a table of other people's."""

import pytest

from learn.tests.tables import write_table
from sandmill.models.reports import Outcome
from sandmill_learn.executions import Executor
from sandmill_learn.task_sets import from_folder
from tests.unit.export.tiny import fenced

LEARNS = """
import os
import pandas as pd
from sklearn.linear_model import LogisticRegression

train, test = pd.read_csv("public/train.csv"), pd.read_csv("public/test.csv")
columns = ["length", "width", "weight"]
model = LogisticRegression().fit(train[columns], train["ripe"])
test["ripe"] = model.predict_proba(test[columns])[:, 1]
test[["id", "ripe"]].to_csv("submission.csv", index=False)
# Answers and measures lie beside the public files, where no script can see them.
print(sorted(os.listdir("public")), os.path.exists("private"), os.path.exists("public/../../private"))
"""


@pytest.mark.slow
def test_scripts_run_on_a_table_of_ones_own_and_see_its_public_files_alone(tmp_path):
    write_table(tmp_path / "tables", train=80, test=200)
    tasks = from_folder(tmp_path / "tables", cache=tmp_path / "cache")
    (task_id,) = tasks.ids
    executor = Executor(tasks, cache=tmp_path / "runs", timeout=2)
    scripts = [LEARNS, "raise ValueError('no')", "while True: pass", LEARNS]
    learned, failed, hung, same = executor.rollouts([(task_id, fenced(script)) for script in scripts])
    assert learned == same
    assert executor.executed == 3
    assert learned.grade.gap_closed > 0.5
    assert learned.steps[0].stdout.strip() == "['sample_submission.csv', 'test.csv', 'train.csv'] False False"
    assert failed.grade.outcome is Outcome.RUNTIME_ERROR
    assert "ValueError: no" in failed.steps[0].stderr
    assert hung.grade.outcome is Outcome.TIMEOUT
    assert "2 s of processor time" in hung.steps[0].detail
