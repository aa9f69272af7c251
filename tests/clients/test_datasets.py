"""`datasets` loads a version with its splits, whole and as a stream, and the files are those of the release."""

import hashlib
from pathlib import Path

import pytest

from sandmill.export.export import export
from sandmill.store.release import load
from tests.publishing import published


@pytest.fixture(scope="module")
def chats(tmp_path_factory):
    folder = tmp_path_factory.mktemp("chats")
    export(published(folder / "micro", {0: "train", 1: "validation", 2: "train"}), "sft", folder / "sft")
    return folder / "sft"


def test_datasets_loads_a_version(run_client, small_release):
    release = load(small_release)
    seen = run_client("datasets", "check_datasets.py", Path(release.store.root) / release.version)
    assert set(seen["configs"]) == {"tasks", "files"}
    assert sum(seen["splits"].values()) == len(release.task_ids) == 2
    assert {"task_id", "prompt", "metric", "rows_train"} <= set(seen["columns"])
    assert seen["files"] == {
        task_id: {
            path: hashlib.sha256(content).hexdigest() for path, content in release.files("public", task_id).items()
        }
        for task_id in release.task_ids
    }
    assert seen["streamed"] in release.task_ids


def test_datasets_loads_chats_as_parquet_and_as_json_lines(run_client, chats):
    seen = run_client("datasets", "check_chats.py", chats)
    assert seen["parquet"] == seen["jsonl"] == len((chats / "data" / "train.jsonl").read_text().splitlines()) > 0
    assert {"messages", "task_id", "turns", "style", "facts_used", "facts_stated", "lines"} == set(seen["columns"])
    assert {"system", "user", "assistant"} == set(seen["roles"])
