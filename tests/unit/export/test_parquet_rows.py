"""Parquet rows for verl, rLLM and SkyRL: the columns that their readers expect, and nothing private."""

import io
import json
import re

import pandas as pd
import pyarrow.parquet as pq
import pytest

from sandmill.export import rows as formats
from sandmill.models.release import SPLITS
from tests.export_tasks import LOWER, MANIFEST, make_exported, secret_texts

NAMES = {
    "verl": ("train", "val", "test_held_out_domain", "test_held_out_motif"),
    "rllm": ("train", "test", "test_held_out_domain", "test_held_out_motif"),
    "skyrl": ("train", "validation", "test_held_out_domain", "test_held_out_motif"),
}
COLUMNS = {
    "verl": ["data_source", "prompt", "ability", "reward_model", "extra_info"],
    "rllm": ["prompt", "extra_info"],
    "skyrl": ["data_source", "prompt", "env_class", "reward_spec", "extra_info"],
}
TASKS = [make_exported(LOWER, seed, split) for seed, split in enumerate([*SPLITS, "train", "train"])]


def export(name: str, tasks=TASKS) -> dict[str, bytes]:
    return dict(getattr(formats, name)([one.task for one in tasks], MANIFEST))


def rows(content: bytes) -> list[dict]:
    """Read a file as rLLM does: pandas, then records."""
    return pd.read_parquet(io.BytesIO(content)).to_dict("records")


@pytest.mark.parametrize("name", NAMES)
def test_each_split_is_one_file_with_the_columns_of_the_reader(name):
    files = export(name)
    assert list(files) == [f"{file}.parquet" for file in NAMES[name]]
    assert [len(rows(content)) for content in files.values()] == [3, 1, 1, 1]
    for content in files.values():
        schema = pq.read_schema(io.BytesIO(content))
        assert schema.names == COLUMNS[name]
        assert str(schema.field("prompt").type) == "list<element: struct<role: string, content: string>>"


@pytest.mark.parametrize("name", NAMES)
def test_the_prompt_is_one_user_message_with_the_description_and_the_way_to_answer(name):
    by_id = {one.task.task_id: one.task for one in TASKS}
    for content in export(name).values():
        for row in rows(content):
            (message,) = row["prompt"]
            task = by_id[row["extra_info"].get("task_id") or row["extra_info"]["competition_id"]]
            assert message["role"] == "user"
            assert task.description.strip() in message["content"]
            assert "python solution.py public submission.csv" in message["content"]
            assert "```python" in message["content"]


@pytest.mark.parametrize(("name", "column"), [("verl", "reward_model"), ("skyrl", "reward_spec")])
def test_the_ground_truth_is_the_id_and_the_digest_of_the_task(name, column):
    found = rows(export(name)["train.parquet"])
    records = sorted((one.task.record for one in TASKS if one.task.record.split == "train"), key=lambda r: r.task_id)
    assert [json.loads(row[column]["ground_truth"]) for row in found] == [
        {"task_id": record.task_id, "digest": record.digest} for record in records
    ]
    assert [row["extra_info"]["index"] for row in found] == [0, 1, 2]
    assert {row["data_source"] for row in found} == {"sandmill/micro"}
    assert {row["extra_info"]["version"] for row in found} == {"0001-0123abcd"}
    assert {row["extra_info"]["split"] for row in found} == {"train"}


def test_rllm_rows_have_the_fields_of_sandmle_and_its_line_with_the_id():
    for row in rows(export("rllm")["train.parquet"]):
        info = row["extra_info"]
        assert set(info) == {"competition_id", "question", "digest"}
        assert row["prompt"][0]["content"] == info["question"]
        assert re.search(r"Competition ID:\s*(\S+)", info["question"])[1] == info["competition_id"]


@pytest.mark.parametrize("name", NAMES)
def test_rows_hold_nothing_of_the_private_half_and_no_path_of_this_machine(name):
    for content in export(name).values():
        text = json.dumps(pq.read_table(io.BytesIO(content)).to_pylist()).encode()
        assert not [secret for one in TASKS for secret in secret_texts(one) if secret in text]
        assert not re.search(rb"(?<![\w.)])/(home|tmp|work|root|usr)/", text)
