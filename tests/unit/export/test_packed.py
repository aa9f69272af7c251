"""The folder for `datasets`, and the rows for NeMo Gym. tests/clients checks them with the real packages."""

import json
from pathlib import Path

import pyarrow.parquet as pq
import pytest
import yaml

from sandmill.export import hf
from sandmill.export.export import export
from sandmill.models.texts import TEXTS, prompt_text
from sandmill.store.files import Store
from sandmill.store.release import load
from tests.factories import CALIBRATION, make_task
from tests.publishing import publish_splits

TASKS = {number: make_task(number) for number in range(4)}
SPLITS = {0: "train", 1: "validation", 2: "train", 3: "train"}


@pytest.fixture(scope="module")
def release(tmp_path_factory):
    place = str(tmp_path_factory.mktemp("releases") / "micro")
    publish_splits(Store(place), SPLITS)
    return load(place)


def card(folder: Path) -> dict[str, object]:
    return yaml.safe_load((folder / "README.md").read_text().split("---\n")[1])


def test_every_split_has_its_rows_with_the_public_files_packed(release, tmp_path):
    export(release, "hf", tmp_path / "to")
    for split in ("train", "validation"):
        rows = pq.read_table(tmp_path / "to" / "data" / f"{split}-00000.parquet").to_pylist()
        wanted = sorted(TASKS[number].record.task_id for number, name in SPLITS.items() if name == split)
        assert [row["task_id"] for row in rows] == wanted
        for row in rows:
            files = {file["path"]: file["bytes"] for file in row["files"]}
            public = release.files("public", row["task_id"])
            assert files == {path: content for path, content in public.items() if path not in TEXTS}
            assert row["prompt"] == prompt_text(public)
            assert (row["band"], row["is_lower_better"]) == ("medium", False)
    (config,) = card(tmp_path / "to")["configs"]
    assert config["data_files"] == [
        {"split": split, "path": f"data/{split}-*.parquet"} for split in ("train", "validation")
    ]


def test_no_answer_and_no_threshold_is_in_any_file(release, tmp_path):
    export(release, "hf", tmp_path / "to")
    names = {name for path in (tmp_path / "to" / "data").iterdir() for name in pq.read_schema(path).names}
    assert not names & {*CALIBRATION.thresholds.model_dump(), "oracle", "trivial", "record", "seed_id"}
    for path in (tmp_path / "to" / "data").iterdir():
        for row in pq.read_table(path).to_pylist():
            private = release.files("private", row["task_id"])
            assert not {file["bytes"] for file in row["files"]} & set(private.values())
            assert not {file["path"] for file in row["files"]} & {*private}


def test_a_large_split_is_written_as_several_files(release, tmp_path, monkeypatch):
    monkeypatch.setattr(hf, "SHARD_BYTES", 1)
    export(release, "hf", tmp_path / "to")
    paths = sorted((tmp_path / "to" / "data").glob("train-*.parquet"))
    assert [path.name for path in paths] == [f"train-0000{number}.parquet" for number in range(3)]
    assert sum(pq.read_metadata(path).num_rows for path in paths) == 3


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
