"""The description states the files that a script finds in the sandbox."""

import re
import shutil
from pathlib import Path

import pytest

from sandmill.check.description_gate import split_sections
from sandmill.models import layout
from sandmill.models.reports import Outcome
from sandmill.models.structure import MetricName, SplitKind, TargetKind
from sandmill.play.prompt import prompt
from sandmill.play.score import score
from tests.task_folders import write_task

CASES = {
    "a probability": (TargetKind.BINARY, MetricName.ROC_AUC, SplitKind.GROUPED),
    "class probabilities": (TargetKind.MULTICLASS, MetricName.LOG_LOSS, SplitKind.TEMPORAL),
    "label sets": (TargetKind.MULTILABEL, MetricName.F1_MICRO, SplitKind.RANDOM),
    "numbers": (TargetKind.MULTI_TARGET, MetricName.MAE_COLUMNS, SplitKind.STRATIFIED),
}


def script_from(description: str) -> str:
    """Read the tables by the paths in the text and write to the path in the text, as a reader without a sandbox would.

    Sentences differ between descriptions, so paths are found by the names of the files. The columns come from the
    example in the text; nothing else is known.
    """
    paths = set(re.findall(r"`(\S+\.csv)`", description))
    (train,), (test,), (sample,), (out,) = (
        [path for path in paths if Path(path).name == name]
        for name in ("train.csv", "test.csv", "sample_submission.csv", layout.SUBMISSION)
    )
    header = re.search(r"```csv\n(.+)\n", description)[1].split(",")
    return f"""
import pandas as pd
train, test = pd.read_csv({train!r}, dtype=str), pd.read_csv({test!r}, dtype=str)
sample = pd.read_csv({sample!r}, dtype=str, keep_default_na=False).set_index({header[0]!r})
assert len(train) and set(test[{header[0]!r}]) == set(sample.index)
sample.loc[test[{header[0]!r}]].reset_index()[{header!r}].to_csv({out!r}, index=False)
"""


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("text", ["description", "prompt"])
def test_a_script_written_from_the_text_alone_submits(case, text, box, tmp_path):
    target, metric, split = CASES[case]
    task = write_task(tmp_path, target, metric, split=split)
    written = prompt(task) if text == "prompt" else (task / "public" / "description.md").read_text()
    result = box.run(script_from(written), public=task / "public")
    assert result.outcome is Outcome.OK, result.stderr
    assert score(task, result).outcome is Outcome.OK


def test_every_path_in_the_files_section_is_there_from_where_code_runs(task, tmp_path):
    text = (task / "public" / "description.md").read_text()
    shutil.copytree(task / "public", tmp_path / layout.PUBLIC)
    named = re.findall(r"`([\w/]+\.csv)`", split_sections(text)["files"])
    assert set(named) == {layout.public_path(f"{name}.csv") for name in ("train", "test", "sample_submission")}
    assert [name for name in named if not (tmp_path / name).is_file()] == []


def test_the_command_line_of_a_run_is_the_one_that_the_prompt_states(task, box):
    result = box.run("import sys, os; print(*sys.argv, sorted(os.listdir('.')))", public=task / "public")
    assert result.stdout.strip() == f"{layout.COMMAND.removeprefix('python ')} {[layout.PUBLIC, layout.SCRIPT]}"
