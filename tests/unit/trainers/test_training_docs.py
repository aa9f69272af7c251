"""docs/training.md: what runs without a trainer's package. tests/clients runs the other blocks."""

import inspect
import json
import re
import subprocess
import sys

import pytest
import yaml

from sandmill.models.rollout import EpisodeLimits
from sandmill.report.rollouts import ReadingStage
from sandmill.trainers import verl
from sandmill.trainers.shared import RELEASE_VARIABLE
from tests.docs_commands import texts
from tests.releases import REPOSITORY

PAGE = "docs/training.md"
PYTHON = texts(PAGE, "python")
SANDMILL = [sys.executable, "-c", "from sandmill.cli import main; main()"]


def documented_commands() -> list[list[str]]:
    lines = "\n".join(texts(PAGE, "bash")).splitlines()
    return [line.split()[1:] for line in lines if line.startswith("sandmill ")]


def test_every_python_block_is_run_by_some_test():
    used = {"trl": 2, "skyrl": 1, "import asyncio": 1, "import sandmill\n": 1, "curriculum.json": 1}
    found = [block for block in PYTHON if any(word in block for word in used)]
    assert len(found) == len(PYTHON) == sum(used.values())


def test_a_batch_is_drawn_by_the_mix_of_the_curriculum(tmp_path, monkeypatch):
    first, last = (
        ReadingStage(name=name, task_ids=ids, median_gain=0.2, solved=None, share=share)
        for name, ids, share in (("one plain fact", ("a", "b"), 1.0), ("prose", ("c",), 0.0))
    )
    content = {"reading": [stage.model_dump(mode="json") for stage in (first, last)]}
    (tmp_path / "curriculum.json").write_text(json.dumps(content))
    monkeypatch.chdir(tmp_path)
    (block,) = (block for block in PYTHON if "curriculum.json" in block)
    names = {}
    exec(block, names)
    assert len(names["batch"]) == 64
    assert set(names["batch"]) == {"a", "b"}


def test_the_settings_of_verl_are_arguments_of_its_function():
    (text,) = texts(PAGE, "yaml")
    function = yaml.safe_load(text)["reward"]["custom_reward_function"]
    arguments = inspect.signature(getattr(verl, function["name"])).parameters
    assert function["reward_kwargs"].keys() <= arguments.keys()
    assert f"`{RELEASE_VARIABLE}`" in (REPOSITORY / PAGE).read_text()


def test_documented_limits_are_limits_of_an_episode():
    named = set(re.findall(r"(max_\w+|timeout|time_budget)=", "\n".join(PYTHON)))
    assert named - {"max_completion_length"} <= EpisodeLimits.model_fields.keys() | {"max_steps"}


@pytest.mark.slow
def test_the_blocks_without_a_trainer_run_on_a_real_release(small_release, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    space: dict[str, object] = {}
    for block in PYTHON:
        # The block on curriculum.json needs rollouts that a model made.
        if not any(word in block for word in ("trl", "skyrl", "curriculum.json")):
            exec(block.replace("releases/micro", small_release).replace("(0.0, 0.5)", "(0.0, 1.0)"), space)
    printed = capsys.readouterr().out
    assert "## How code runs" in printed
    assert "ok " in printed
    assert [rollout.reward.total for rollout in space["rollouts"]] == [0.0] * len(space["ids"])
    assert all(len(rollout.steps) == 3 for rollout in space["rollouts"])


@pytest.mark.slow
@pytest.mark.parametrize("name", ["verl", "skyrl"])
def test_the_documented_export_and_path_commands_run(name, small_release, tmp_path):
    (line,) = [words for words in documented_commands() if name in words]
    words = [small_release if word == "releases/micro" else word for word in line]
    subprocess.run([*SANDMILL, *words], check=True, cwd=tmp_path)
    assert list((tmp_path / f"{name}-data").glob("*.parquet"))
    (command,) = re.findall(r'python -c "(.*)"', "\n".join(texts(PAGE, "bash")))
    shown = subprocess.run([sys.executable, "-c", command], check=True, capture_output=True, text=True).stdout
    assert shown.strip() == str(REPOSITORY / "src/sandmill/trainers/verl.py")
