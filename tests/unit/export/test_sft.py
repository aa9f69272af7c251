"""Chats for supervised fine-tuning: scripts in several styles, with and without facts, and improvements of drafts."""

import ast
import json
from io import BytesIO
from types import SimpleNamespace

import pyarrow.parquet as pq
import pytest

from sandmill.calibrate.scripts.demonstrations import STYLES
from sandmill.errors import RequestError
from sandmill.export.base import ExportTask
from sandmill.export.sft import count_rows, export
from sandmill.models.calibration import Rung, ScriptScore
from sandmill.models.structure import MetricName, TargetKind
from tests.factories import CALIBRATION
from tests.hinted_designs import small_rendered

TASK = (TargetKind.BINARY, MetricName.ROC_AUC)
DRAFT = "print('a draft')\n"
MANIFEST = SimpleNamespace(dataset="micro", version="0001-ab12cd34")


def task_of(split: str = "train") -> ExportTask:
    package = small_rendered(0, TASK).package
    score = ScriptScore(rung=Rung.COMPETENT, file="competent.py", approach="a model", feedback=0.71, final=0.123456)
    measured = CALIBRATION.model_copy(update={"scripts": (score,)})
    record = SimpleNamespace(
        split=split, spec=package.spec, facts=package.facts, calibration=measured, task_id=package.task_id
    )
    return ExportTask(record, package.public, {"competent.py": DRAFT.encode(), **package.private})


@pytest.fixture(scope="module")
def files() -> dict[str, bytes]:
    return dict(export([task_of(), task_of("validation")], MANIFEST))


@pytest.fixture(scope="module")
def rows(files) -> list[dict]:
    return pq.read_table(BytesIO(files["data/train.parquet"])).to_pylist()


def script_of(message: dict) -> str:
    head, _, rest = message["content"].partition("```python\n")
    assert not head
    return rest.removesuffix("\n```")


def test_every_style_has_a_script_with_all_facts_and_some_have_none(rows):
    single = [row for row in rows if row["turns"] == 1]
    assert {row["style"] for row in single if row["facts_used"] == row["facts_stated"] > 0} == set(STYLES)
    assert len({row["style"] for row in single if not row["facts_used"]}) == 3
    assert any(0 < row["facts_used"] < row["facts_stated"] for row in single)
    for row in single:
        assert [message["role"] for message in row["messages"]] == ["system", "user", "assistant"]
        ast.parse(script_of(row["messages"][-1]))


def test_scripts_read_tables_alone_and_the_prompt_holds_the_description(rows):
    description = small_rendered(0, TASK).package.public["description.md"].decode()
    for row in rows:
        assert row["messages"][1]["content"].startswith(description.rstrip())
        assert ".md" not in script_of(row["messages"][-1])


def test_a_draft_is_followed_by_its_score_and_a_script_that_reads(rows):
    (pair,) = [row for row in rows if row["turns"] == 2]
    roles = [message["role"] for message in pair["messages"]]
    assert roles == ["system", "user", "assistant", "user", "assistant"]
    assert script_of(pair["messages"][2]) == DRAFT.rstrip()
    assert "Score: 0.71" in pair["messages"][3]["content"]
    assert pair["facts_used"] == pair["facts_stated"]


def test_rows_are_of_the_split_train_and_hold_nothing_of_the_final_part(files, rows):
    assert len({row["task_id"] for row in rows}) == 1
    assert f"{len(rows)} chats of 1 tasks" in files["README.md"].decode()
    text = str(rows)
    assert "0.123456" not in text
    assert str(CALIBRATION.thresholds.gold) not in text
    assert files == dict(export([task_of()], MANIFEST))


def test_json_lines_hold_the_same_rows_and_their_numbers_are_counted(files, rows):
    assert [json.loads(line) for line in files["data/train.jsonl"].decode().splitlines()] == rows
    assert all(row["lines"] == script_of(row["messages"][-1]).count("\n") + 1 for row in rows)
    counts = count_rows([{**rows[0], "lines": 39}, {**rows[0], "lines": 40}, {**rows[0], "facts_used": 0}])
    assert counts[2:] == [
        f"| 1 | {rows[0]['style']} | {rest} | 1 |" for rest in ("all | long", "all | short", "none | short")
    ]
    assert "\n".join(count_rows(rows)) in files["README.md"].decode()


def test_the_published_script_of_a_reader_stands_for_its_style():
    task = task_of()
    task.private["reader.py"] = b"print('published')\n"
    made = [json.loads(line) for line in dict(export([task], MANIFEST))["data/train.jsonl"].decode().splitlines()]
    published = [row for row in made if script_of(row["messages"][-1]) == "print('published')"]
    assert {(row["style"], row["turns"]) for row in published} == {("reader", 1), ("reader", 2)}
    assert all(row["facts_used"] == row["facts_stated"] for row in published)


def test_without_tables_of_the_split_train_there_is_one_clear_error():
    with pytest.raises(RequestError, match="tables of the split train"):
        dict(export([task_of("validation")], MANIFEST))
