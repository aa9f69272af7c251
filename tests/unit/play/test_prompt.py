"""The prompt states the limits of the sandbox. Both take the numbers from the same object."""

import os
import re
import shutil
from pathlib import Path

import pytest

import sandmill
from sandmill.check.description_gate import split_sections
from sandmill.errors import InputError
from sandmill.models import layout
from sandmill.models.layout import LIBRARIES
from sandmill.models.reports import Outcome
from sandmill.models.run import RunLimits
from sandmill.models.structure import MetricName, SplitKind, TargetKind
from sandmill.play.prompt import prompt
from sandmill.play.score import score
from sandmill.sandbox.agent_env import pinned_versions
from tests.task_folders import write_task

LIMITS = {
    "memory_mb": 777,
    "processes": 13,
    "open_files": 111,
    "disk_mb": 55,
    "inodes": 4321,
    "file_mb": 17,
    "cpu_s": 91,
    "cores": 3,
    "output_kb": 29,
    "submission_mb": 19,
}


@pytest.fixture
def without_env(monkeypatch, tmp_path):
    monkeypatch.setenv("SANDMILL_AGENT_ENV", str(tmp_path / "none"))


def test_a_prompt_begins_with_the_description_and_the_dictionary(task):
    description, dictionary = (task / "public" / name for name in ("description.md", "data_dictionary.md"))
    texts = f"{description.read_text().rstrip()}\n\n#{dictionary.read_text().rstrip()}"
    assert sandmill.prompt(task).startswith(f"{texts}\n\n## How code runs\n\n")
    assert sandmill.prompt(str(task)) == sandmill.prompt(task)


def test_a_prompt_states_every_limit_that_a_run_gets(task):
    assert set(LIMITS) == set(RunLimits.model_fields)
    for name, value in LIMITS.items():
        usual, changed = (
            sandmill.prompt(task, limits=limits).split("| limit of a step |")[1].split("Libraries")[0]
            for limits in (None, RunLimits(**{name: value}))
        )
        assert re.search(rf"(?<!\d){value}(?!\d)", changed), name
        assert not re.search(rf"(?<!\d){value}(?!\d)", usual), name
    assert "| wall time | 12.5 s |" in sandmill.prompt(task, timeout=12.5)


def test_a_prompt_names_libraries_with_their_versions(task, without_env):
    text, pinned = sandmill.prompt(task), {name.lower(): version for name, version in pinned_versions().items()}
    assert [name for name in LIBRARIES if f"{name} {pinned[name.lower()]}" not in text] == []
    assert "torch" not in text


def test_a_prompt_names_the_versions_that_the_sandbox_has(task, agent_env):
    assert pinned_versions().items() <= {name.lower(): v for name, v in agent_env.packages.items()}.items()
    text = sandmill.prompt(task)
    assert f"scikit-learn {agent_env.packages['scikit-learn']}" in text
    assert ("torchvision 0" in text) == ("torchvision" in agent_env.packages)
    assert ("torch" in text) == ("torch" in agent_env.packages)


def test_submissions_are_spoken_of_only_where_some_are_scored(task):
    assert "## Feedback" not in sandmill.prompt(task)
    assert "At most 7 submissions are scored" in sandmill.prompt(task, submissions=7)
    assert "At most 1 submission is scored" in sandmill.prompt(task, submissions=1)
    assert "rounded" in sandmill.prompt(task, submissions=1)


def test_the_public_half_is_enough(task, tmp_path):
    shutil.copytree(task / "public", tmp_path / "public")
    assert sandmill.prompt(tmp_path, submissions=5) == sandmill.prompt(task, submissions=5)


def test_a_folder_that_is_no_task_is_named_with_what_to_do(tmp_path):
    with pytest.raises(InputError, match=r"public/description.md: saw No such file.*Pull it with: sandmill pull"):
        sandmill.prompt(tmp_path)
    (tmp_path / "public").mkdir()
    (tmp_path / "public" / "description.md").write_bytes(b"\xff\xfe")
    with pytest.raises(InputError, match="saw bytes that are not UTF-8"):
        sandmill.prompt(tmp_path)


def test_numbers_out_of_range_are_refused_all_at_once(task):
    with pytest.raises(InputError) as caught:
        sandmill.prompt(task, timeout=float("nan"), submissions=0)
    assert [problem.where for problem in caught.value.problems] == ["timeout", "submissions"]
    with pytest.raises(InputError, match="timeout: saw inf; expected a number of seconds above 0, at most 86400"):
        sandmill.prompt(task, timeout=float("inf"))


def description_as(kind, folder):
    """Write a task folder that has something else in place of the description."""
    public = folder / "task" / "public"
    public.mkdir(parents=True)
    (folder / "secret").mkdir()
    (folder / "secret" / "description.md").write_text("a key")
    place = public / "description.md"
    match kind:
        case "a symbolic link":
            place.symlink_to(folder / "secret" / "description.md")
        case "a folder, not a link":
            public.rmdir()
            public.symlink_to(folder / "secret")
        case "a pipe":
            os.mkfifo(place)
        case "1099511627776 bytes":
            place.touch()
            os.truncate(place, 1 << 40)
    return folder / "task"


@pytest.mark.parametrize("kind", ["a symbolic link", "a folder, not a link", "a pipe", "1099511627776 bytes"])
@pytest.mark.timeout(20)
def test_a_description_is_a_regular_file_of_bounded_size_in_the_folder_itself(kind, tmp_path):
    with pytest.raises(InputError, match=f"public.*{kind}"):
        sandmill.prompt(description_as(kind, tmp_path))


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
