import io

import numpy as np
import polars as pl
import pyarrow as pa
import pytest

from sandmill.errors import IntegrityError, RequestError
from sandmill.models.hints import Hint, Sentinel
from sandmill.models.reports import Rejection
from sandmill.store import arrow_tables as tables
from sandmill.store.parquet import TableReader, grouped, write_rows
from sandmill.store.release import select_ids
from tests.factories import make_rejection, make_slot_report, make_task


class _CountingFile(io.BytesIO):
    count = 0

    def read(self, size: int | None = -1) -> bytes:
        got = super().read(size)
        self.count += len(got)
        return got


def _table(name: str) -> tables.ReleaseTable:
    return next(table for table in tables.TABLES if table.name == name)


def _write(name: str, count: int) -> bytes:
    table = _table(name)
    tasks = sorted((make_task(number) for number in range(count)), key=lambda task: task.record.task_id)
    return write_rows(table.schema, grouped(table, [row for task in tasks for row in table.rows(task)]))


def test_reports_come_back_from_their_rows():
    rejection, slot = make_rejection(4), make_slot_report(make_task(4))
    empty = slot.model_copy(update={"path": (), "reached": None, "task_ids": ()})
    for schema, rows, read, original in (
        (tables.REJECTIONS, tables.rejection_rows([rejection]), Rejection.model_validate, rejection),
        (tables.SLOTS, tables.slot_rows([slot]), tables.read_slot, slot),
        (tables.SLOTS, tables.slot_rows([empty]), tables.read_slot, empty),
    ):
        (row,) = TableReader(io.BytesIO(write_rows(schema, [rows])), "reports").rows()
        assert read(row) == original


def test_the_public_tables_say_nothing_of_rule_thresholds_or_answers():
    task = make_task(1)
    seen = repr([_table("public/tasks").rows(task), _table("public/files").rows(task)])
    for private in ("medium", "0.85", "linear", "logistic", "part", task.record.digest, task.record.spec.fingerprint):
        assert private not in seen
    assert set(tables.PUBLIC_TASKS.names) == {
        *("task_id", "split", "prompt", "modality", "target", "metric", "rows_train", "rows_test")
    }


def test_one_tasks_files_are_read_without_the_rest():
    names = [f"task{number:02d}" for number in range(20)]
    noise = {name: np.random.Generator(np.random.PCG64(index)).bytes(100_000) for index, name in enumerate(names)}
    table = _table("public/files")
    rows = [row for name in names for row in tables.file_rows(name, {"train.csv": noise[name]})]
    file = _CountingFile(write_rows(table.schema, grouped(table, rows)))
    assert [row["bytes"] for row in TableReader(file, "public/files", table.schema).rows_of_task("task07")] == [
        noise["task07"]
    ]
    assert file.count < 200_000 < 2_000_000 < len(file.getvalue())


def test_a_table_from_before_a_column_was_added_has_it_empty():
    table = _table("private/tasks")
    rows = [row for number in range(3) for row in table.rows(make_task(number))]
    old = pa.schema([field for field in table.schema if not tables.is_later(field)])
    content = write_rows(old, [[{name: row[name] for name in old.names} for row in rows]])
    reader = TableReader(io.BytesIO(content), "private/tasks", table.schema)
    (group,) = reader.groups(["task_id", "medal_hardness", "difficulty"])
    assert group.column_names == ["task_id", "medal_hardness", "difficulty"]
    assert group["medal_hardness"].null_count == len(rows)
    assert [row["record"] for row in TableReader(io.BytesIO(content), "old", table.schema).rows()] == [
        row["record"] for row in rows
    ]


def test_a_table_without_a_column_of_the_first_releases_is_refused():
    table = _table("private/tasks")
    short = pa.schema([field for field in table.schema if field.name != "difficulty"])
    with pytest.raises(IntegrityError, match="no column difficulty"):
        TableReader(io.BytesIO(write_rows(short, [])), "private/tasks", table.schema)


def test_reading_is_two_columns_and_a_level_that_can_be_asked_for():
    record = make_task(1).record
    assert tables.private_task_row(record)["reading_level"] == "none"
    hints = [
        Hint(fact=Sentinel(column="a", value=-9.0), text="t", level=level, matters=level != "contested")
        for level in ("prose", "plain", "contested")
    ]
    row = tables.private_task_row(record.model_copy(update={"spec": record.spec.model_copy(update={"hints": hints})}))
    assert (row["reading_level"], row["reading_gain"]) == ("prose", None)
    facts = pl.DataFrame({"task_id": ["a", "b", "c"], "reading_level": ["prose", "none", None]})
    assert select_ids(facts, "r", {"reading_level": ["prose", "none"]}) == ("a", "b")
    with pytest.raises(RequestError, match=r"--reading-level: saw 'spread'; expected one of none, prose"):
        select_ids(facts, "r", {"reading_level": ["spread"]})


def test_a_range_of_difficulty_selects_tasks():
    facts = pl.DataFrame({"task_id": ["a", "b", "c"], "difficulty": [0.6, 0.9, None]})
    assert select_ids(facts, "r", {}, {"difficulty": (0.5, 0.7)}) == ("a",)
    assert select_ids(facts, "r", {}, {"difficulty": (0.0, 1.0)}) == ("a", "b")
    with pytest.raises(RequestError, match=r"--difficulty: saw 0.7 to 0.5"):
        select_ids(facts, "r", {}, {"difficulty": (0.7, 0.5)})
    with pytest.raises(RequestError, match="private half"):
        select_ids(facts.drop("difficulty"), "r", {}, {"difficulty": (0.5, 0.7)})
