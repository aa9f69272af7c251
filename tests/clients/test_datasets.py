"""`datasets` loads the folder with its splits, whole and as a stream, and the files are those of the release."""

import hashlib

from sandmill.store.release import load


def test_datasets_loads_the_folder(run_client, exported, small_release):
    seen = run_client("datasets", "check_datasets.py", exported("hf"))
    release = load(small_release)
    assert seen["configs"] == ["tasks"]
    assert sum(seen["splits"].values()) == len(release.task_ids) == 2
    assert {"task_id", "prompt", "metric", "files"} <= set(seen["columns"])
    assert seen["files"] == {
        task_id: {
            path: hashlib.sha256(content).hexdigest() for path, content in release.files("public", task_id).items()
        }
        for task_id in release.task_ids
    }
    assert seen["streamed"] in release.task_ids


def test_datasets_loads_chats_as_parquet_and_as_json_lines(run_client, exported):
    folder = exported("sft")
    seen = run_client("datasets", "check_chats.py", folder)
    assert seen["parquet"] == seen["jsonl"] == len((folder / "data" / "train.jsonl").read_text().splitlines())
    assert {"messages", "task_id", "turns", "style", "facts_used", "facts_stated", "lines"} == set(seen["columns"])
