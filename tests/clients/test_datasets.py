"""`datasets` loads the folder with its splits, whole and as a stream, and the files are those of the release."""

import hashlib

import pytest

from sandmill.export.export import export
from sandmill.models.texts import files_of_runs
from sandmill.store.files import Store
from sandmill.store.release import load
from tests.publishing import publish_splits


@pytest.fixture(scope="module")
def chats(tmp_path_factory):
    folder = tmp_path_factory.mktemp("chats")
    store = Store(str(folder / "micro"))
    publish_splits(store, {0: "train", 1: "validation", 2: "train"})
    export(load(store.root), "sft", folder / "sft")
    return folder / "sft"


def test_datasets_loads_the_folder(run_client, exported, small_release):
    seen = run_client("datasets", "check_datasets.py", exported("hf"))
    release = load(small_release)
    assert seen["configs"] == ["tasks"]
    assert sum(seen["splits"].values()) == len(release.task_ids) == 2
    assert {"task_id", "prompt", "metric", "files"} <= set(seen["columns"])
    assert seen["files"] == {
        task_id: {
            path: hashlib.sha256(content).hexdigest()
            for path, content in files_of_runs(release.files("public", task_id)).items()
        }
        for task_id in release.task_ids
    }
    assert seen["streamed"] in release.task_ids


def test_datasets_loads_chats_as_parquet_and_as_json_lines(run_client, chats):
    seen = run_client("datasets", "check_chats.py", chats)
    assert seen["parquet"] == seen["jsonl"] == len((chats / "data" / "train.jsonl").read_text().splitlines()) > 0
    assert {"messages", "task_id", "turns", "style", "facts_used", "facts_stated", "lines"} == set(seen["columns"])
    assert {"system", "user", "assistant"} == set(seen["roles"])
