"""Schemas of the published tables, and conversion between models and rows."""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from sandmill.fingerprint import canonical_json, digest
from sandmill.models.base import Stage
from sandmill.models.release import TaskRecord, VerifiedTask
from sandmill.models.reports import Rejection, SlotReport
from sandmill.models.spec import Knobs

Row = dict[str, Any]


def _schema(*columns: tuple[str, Any]) -> Any:
    return pa.schema([pa.field(name, kind, nullable=kind == pa.float64()) for name, kind in columns])


PUBLIC_TASKS = _schema(
    ("task_id", pa.string()),
    ("split", pa.string()),
    ("prompt", pa.string()),
    ("modality", pa.string()),
    ("target", pa.string()),
    ("metric", pa.string()),
    ("rows_train", pa.int32()),
    ("rows_test", pa.int32()),
)
"""One row for each task, with public facts only. `prompt` is the description."""

PRIVATE_TASKS = _schema(
    ("task_id", pa.string()),
    ("replicate", pa.int32()),
    ("split", pa.string()),
    ("domain", pa.string()),
    ("structure", pa.string()),
    ("metric", pa.string()),
    ("motifs", pa.list_(pa.string())),
    ("wanted", pa.string()),
    ("band", pa.string()),
    ("difficulty", pa.float64()),
    ("difficulty_low", pa.float64()),
    ("difficulty_high", pa.float64()),
    ("trivial", pa.float64()),
    ("oracle", pa.float64()),
    ("gold", pa.float64()),
    ("silver", pa.float64()),
    ("bronze", pa.float64()),
    ("median", pa.float64()),
    ("reference", pa.string()),
    ("seed_id", pa.string()),
    ("digest", pa.string()),
    ("record", pa.string()),
)
"""One row for each task, with private facts. `record` is the whole TaskRecord as canonical JSON."""

FILES = _schema(("task_id", pa.string()), ("path", pa.string()), ("sha256", pa.string()), ("bytes", pa.binary()))
"""One row for each file. Public and private files have separate tables."""

REJECTIONS = _schema(
    ("slot", pa.int64()),
    ("round", pa.int32()),
    ("attempt", pa.int32()),
    ("replicate", pa.int32()),
    ("seed_id", pa.string()),
    ("stage", pa.string()),
    ("reason", pa.string()),
    ("detail", pa.string()),
    ("seconds", pa.float64()),
    ("usd", pa.float64()),
    ("transcript", pa.string()),
)
"""One row for each design or package that failed."""

ATTEMPT = pa.struct(
    [
        pa.field("attempt", pa.int32(), nullable=False),
        pa.field("variant", pa.int32(), nullable=False),
        pa.field("hardness", pa.float64(), nullable=False),
        pa.field("knobs", pa.struct([pa.field(name, pa.float64(), nullable=False) for name in Knobs.model_fields])),
        pa.field("train_rows", pa.int32()),
        pa.field("difficulty", pa.float64()),
        pa.field("panel_s", pa.float64()),
        pa.field("outcome", pa.string(), nullable=False),
    ]
)
"""One step of the search within a slot."""
SLOTS = pa.schema(
    [
        pa.field("slot", pa.int64(), nullable=False),
        pa.field("round", pa.int32(), nullable=False),
        pa.field("wanted", pa.string(), nullable=False),
        pa.field("reached", pa.string()),
        pa.field("task_ids", pa.list_(pa.string()), nullable=False),
        pa.field("attempts", pa.int32(), nullable=False),
        *(pa.field(f"seconds_{stage}", pa.float64()) for stage in Stage),
        pa.field("path", pa.list_(ATTEMPT), nullable=False),
    ]
)
"""One row for each slot: cost and outcome. `seconds_<stage>` is null if no time was spent."""


@dataclass(frozen=True)
class ReleaseTable:
    """One of the four tables of a release."""

    side: str
    """Folder: public or private."""
    name: str
    schema: Any
    rows: Callable[[VerifiedTask], list[Row]]
    rows_per_group: int | None
    """Rows of a row group; None: one group for each task."""


def public_task_row(record: TaskRecord, prompt: str) -> Row:
    """Return the public facts of a task."""
    spec, sizes = record.spec, record.spec.sizes
    return {
        "task_id": record.task_id,
        "split": record.split,
        "prompt": prompt,
        "modality": spec.structure.modality.value,
        "target": spec.target.value,
        "metric": spec.metric.value,
        "rows_train": sizes.train,
        "rows_test": sizes.feedback + sizes.final,
    }


def public_task_rows(task: VerifiedTask) -> list[Row]:
    """Return the rows of a task in public/tasks."""
    return [public_task_row(task.record, task.package.public["description.md"].decode())]


def private_task_row(record: TaskRecord) -> Row:
    """Return all facts of a task, the most used ones in separate columns."""
    spec, measured = record.spec, record.calibration
    return {
        "task_id": record.task_id,
        "replicate": record.replicate,
        "split": record.split,
        "domain": spec.domain,
        "structure": spec.structure_label,
        "metric": spec.metric.value,
        "motifs": list(spec.mechanism.motif_names),
        "wanted": record.wanted.value,
        "band": measured.difficulty.band.value,
        "difficulty": measured.difficulty.value,
        "difficulty_low": measured.difficulty.low,
        "difficulty_high": measured.difficulty.high,
        "trivial": measured.trivial,
        "oracle": measured.oracle,
        **measured.thresholds.model_dump(),
        "reference": measured.reference,
        "seed_id": record.lineage.seed_id,
        "digest": record.digest,
        "record": canonical_json(record.model_dump(mode="json")),
    }


def private_task_rows(task: VerifiedTask) -> list[Row]:
    """Return the rows of a task in private/tasks."""
    return [private_task_row(task.record)]


def file_rows(task_id: str, files: Mapping[str, bytes]) -> list[Row]:
    """Return a row for each file, sorted by path, with its hash."""
    return [
        {"task_id": task_id, "path": path, "sha256": digest(content), "bytes": content}
        for path, content in sorted(files.items())
    ]


def read_record(row: Row) -> TaskRecord:
    """Rebuild the record from a row of private/tasks."""
    return TaskRecord.model_validate_json(row["record"])


def rejection_rows(rejections: Iterable[Rejection]) -> list[Row]:
    """Return rejections as rows, sorted by slot, round, attempt and replicate."""
    ordered = sorted(rejections, key=lambda r: (r.slot, r.round, r.attempt, r.replicate))
    return [rejection.model_dump(mode="json", exclude={"traceback"}) for rejection in ordered]


def read_rejection(row: Row) -> Rejection:
    """Rebuild a rejection from its row."""
    return Rejection.model_validate(row)


def slot_rows(slots: Iterable[SlotReport]) -> list[Row]:
    """Return slots as rows, with one column for the seconds of each stage."""
    return [
        {
            **slot.model_dump(mode="json", exclude={"seconds"}),
            **{f"seconds_{stage}": slot.seconds.get(stage) for stage in Stage},
        }
        for slot in sorted(slots, key=lambda s: (s.slot, s.round))
    ]


def read_slot(row: Row) -> SlotReport:
    """Rebuild a slot's report from its row."""
    seconds = {stage: row[f"seconds_{stage}"] for stage in Stage if row[f"seconds_{stage}"] is not None}
    plain = {key: value for key, value in row.items() if not key.startswith("seconds_")}
    return SlotReport.model_validate({**plain, "seconds": seconds})


TABLES = (
    ReleaseTable("public", "tasks", PUBLIC_TASKS, public_task_rows, rows_per_group=32),
    ReleaseTable("public", "files", FILES, lambda task: file_rows(task.record.task_id, task.package.public), None),
    ReleaseTable("private", "tasks", PRIVATE_TASKS, private_task_rows, rows_per_group=32),
    ReleaseTable("private", "files", FILES, lambda task: file_rows(task.record.task_id, task.package.private), None),
)
"""The tables of a release, in the order in which they are written."""

_PART_NAME = re.compile(r"((?:public|private)/(?:tasks|files))-(?:([a-z_]+)-)?(\d{5,})-[0-9a-f]{8}\.parquet")


@dataclass(frozen=True)
class PartName:
    """The facts in the path of a table's part."""

    table: str
    """Such as `public/tasks`."""
    split: str | None
    """None in releases of format 1, whose parts hold several splits."""
    number: str
    """Number of its shard."""

    @property
    def group(self) -> str:
        """Key that the parts of the four tables share if they hold the same tasks."""
        return f"{self.split}-{self.number}" if self.split else self.number


def part_name(path: str) -> PartName | None:
    """Read the path of a part; None for reports and for README.md."""
    match = _PART_NAME.fullmatch(path)
    return PartName(match[1], match[2], match[3]) if match else None


def schema_of(table: str) -> Any:
    """Return the schema of a table, such as `public/tasks`; None for reports."""
    return next((known.schema for known in TABLES if f"{known.side}/{known.name}" == table), None)
