"""Tests of exports to NeMo Gym: their folders and rows. tests/clients runs them with the real package."""

import json

import pytest
import yaml

from sandmill.export.export import export
from sandmill.store.files import Store
from sandmill.store.release import load
from tests.factories import make_task
from tests.publishing import publish_splits

TASKS = {number: make_task(number) for number in range(4)}
SPLITS = {0: "train", 1: "validation", 2: "train", 3: "train"}


@pytest.fixture(scope="module")
def release(tmp_path_factory):
    place = str(tmp_path_factory.mktemp("releases") / "micro")
    publish_splits(Store(place), SPLITS)
    return load(place)


def test_nemo_gym_gets_harbor_folders_and_a_row_for_each_of_them(release, tmp_path):
    export(release, "nemo-gym", tmp_path / "to")
    export(release, "harbor", tmp_path / "harbor")
    for path in (tmp_path / "harbor" / "tasks").rglob("*.*"):
        there = tmp_path / "to" / path.relative_to(tmp_path / "harbor")
        assert there.is_dir() if path.is_dir() else there.read_bytes() == path.read_bytes()
    lines = (tmp_path / "to" / "data" / "train.jsonl").read_text().splitlines()
    rows = [json.loads(line) for line in lines]
    assert len(rows) == 3
    for row in rows:
        assert row["responses_create_params"] == {"input": []}
        assert (tmp_path / "to" / "tasks" / row["task_name"] / "task.toml").is_file()
    config = yaml.safe_load((tmp_path / "to" / "config.yaml").read_text())
    agent = config["harbor_agent_general"]["responses_api_agents"]["harbor_agent_general"]
    assert agent["harbor_dataset"] == {"path": "${harbor_dataset_path}"}
    assert agent["harbor_reward_key"] == "reward"
