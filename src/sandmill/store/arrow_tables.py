"""Schemas of the published tables, and conversion between models and rows."""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import pyarrow as pa
from pydantic import ValidationError

from sandmill.errors import IntegrityError
from sandmill.fingerprint import canonical_json, digest
from sandmill.models.base import Stage
from sandmill.models.names import DURATIONS_FILE
from sandmill.models.release import PartFile, TaskRecord, VerifiedTask
from sandmill.models.reports import Rejection, ScriptSeconds, SlotReport
from sandmill.models.spec import Knobs
from sandmill.models.texts import prompt_text
from sandmill.store.limits import MAX_RECORD_BYTES
from sandmill.store.versions import first_fault

Row = dict[str, Any]

LATER = b"later"
"""Key in the metadata of a nullable field that older releases lack."""


def _fields(kind: Any, *names: str, nullable: bool = False) -> list[Any]:
    return [pa.field(name, kind, nullable=nullable) for name in names]


_LATER_COLUMNS = {
    "rule": pa.string(),
    "medal_hardness": pa.float64(),
    "medal_hardness_low": pa.float64(),
    "medal_hardness_high": pa.float64(),
    "medal_band": pa.string(),
    "reading_level": pa.string(),
    "reading_gain": pa.float64(),
}
"""Columns about medals and about what is stated. Older releases lack them."""

PUBLIC_TASKS = pa.schema(
    [
        *_fields(pa.string(), "task_id", "split", "prompt", "modality", "target", "metric"),
        *_fields(pa.int32(), "rows_train", "rows_test"),
    ]
)
"""One row for each task, with public facts only. `prompt` is the description."""

PRIVATE_TASKS = pa.schema(
    [
        *_fields(pa.string(), "task_id"),
        *_fields(pa.int32(), "replicate"),
        *_fields(pa.string(), "split", "domain", "structure", "metric"),
        *_fields(pa.list_(pa.string()), "motifs"),
        *_fields(pa.string(), "wanted", "band"),
        *_fields(pa.float64(), "difficulty", "difficulty_low", "difficulty_high", nullable=True),
        *_fields(pa.float64(), "trivial", "oracle", "gold", "silver", "bronze", "median", nullable=True),
        *_fields(pa.string(), "reference", "seed_id", "digest", "record"),
        *(pa.field(name, kind, metadata={LATER: b""}) for name, kind in _LATER_COLUMNS.items()),
    ]
)
"""One row for each task, with private facts. `record` is the whole TaskRecord as canonical JSON."""

FILES = pa.schema([*_fields(pa.string(), "task_id", "path", "sha256"), *_fields(pa.binary(), "bytes")])
"""One row for each file. Public and private files have separate tables."""

REJECTIONS = pa.schema(
    [
        *_fields(pa.int64(), "slot"),
        *_fields(pa.int32(), "round", "attempt", "replicate"),
        *_fields(pa.string(), "seed_id", "stage", "reason", "detail"),
        *_fields(pa.float64(), "seconds", "usd", nullable=True),
        *_fields(pa.string(), "transcript"),
    ]
)
"""One row for each design or package that failed."""

ATTEMPT = pa.struct(
    [
        *_fields(pa.int32(), "attempt", "variant"),
        *_fields(pa.float64(), "hardness"),
        pa.field("knobs", pa.struct(_fields(pa.float64(), *Knobs.model_fields))),
        *_fields(pa.int32(), "train_rows", nullable=True),
        *_fields(pa.float64(), "difficulty", "panel_s", nullable=True),
        *_fields(pa.string(), "outcome"),
    ]
)
"""One step of the search within a slot."""
_SECONDS = [
    *_fields(pa.string(), "task_id"),
    *_fields(pa.float64(), *(name for name in ScriptSeconds.model_fields if name != "task_id"), nullable=True),
]
SLOTS = pa.schema(
    [
        *_fields(pa.int64(), "slot"),
        *_fields(pa.int32(), "round"),
        *_fields(pa.string(), "wanted"),
        *_fields(pa.string(), "reached", nullable=True),
        *_fields(pa.list_(pa.string()), "task_ids"),
        *_fields(pa.int32(), "attempts"),
        *_fields(pa.float64(), *(f"seconds_{stage}" for stage in Stage), nullable=True),
        *_fields(pa.list_(ATTEMPT), "path"),
        pa.field("script_seconds", pa.list_(pa.struct(_SECONDS)), metadata={LATER: b""}),
    ]
)
"""One row for each slot: cost and outcome. `seconds_<stage>` is null if no time was spent."""

DURATIONS = pa.schema(_SECONDS)
"""One row for each task, beside `public/`: processor seconds of the panel's solvers."""


def is_later(field: Any) -> bool:
    """Whether older releases lack a column."""
    return bool(field.metadata) and LATER in field.metadata


@dataclass(frozen=True)
class ReleaseTable:
    """One of the four tables of a release."""

    name: str
    schema: Any
    rows: Callable[[VerifiedTask], list[Row]]
    rows_per_group: int | None
    """Rows of a row group; None: one group for each task."""


def public_task_row(record: TaskRecord, prompt: str) -> Row:
    """Return the public facts of a task."""
    spec = record.spec
    return {
        "task_id": record.task_id,
        "split": record.split,
        "prompt": prompt,
        "modality": spec.structure.modality.value,
        "target": spec.target.value,
        "metric": spec.metric.value,
        "rows_train": spec.sizes.train,
        "rows_test": spec.test_items,
    }


def private_task_row(record: TaskRecord) -> Row:
    """Return all facts of a task, the most used ones in separate columns."""
    spec, measured = record.spec, record.calibration
    hard, medals = measured.difficulty, measured.medal_hardness or {}
    return {
        "task_id": record.task_id,
        "replicate": record.replicate,
        "split": record.split,
        "domain": spec.domain,
        "structure": spec.structure_label,
        "metric": spec.metric.value,
        "motifs": list(spec.mechanism.motif_names),
        "wanted": record.wanted.value,
        "band": hard.band.value,
        "difficulty": hard.value,
        "difficulty_low": hard.low,
        "difficulty_high": hard.high,
        "trivial": measured.trivial,
        "oracle": measured.oracle,
        **measured.thresholds.model_dump(),
        "reference": measured.reference,
        "seed_id": record.lineage.seed_id,
        "digest": record.digest,
        "record": canonical_json(record.model_dump(mode="json")),
        "rule": measured.rule,
        "medal_hardness": medals.get("value"),
        "medal_hardness_low": medals.get("low"),
        "medal_hardness_high": medals.get("high"),
        "medal_band": medals.get("band"),
        "reading_level": spec.reading_level,
        "reading_gain": measured.reading_gain,
    }


def file_rows(task_id: str, files: Mapping[str, bytes]) -> list[Row]:
    """Return a row for each file, sorted by path, with its hash."""
    return [
        {"task_id": task_id, "path": path, "sha256": digest(content), "bytes": content}
        for path, content in sorted(files.items())
    ]


def read_record(row: Row) -> TaskRecord:
    """Rebuild the record from a row of private/tasks, which may be untrusted.

    Raises:
        IntegrityError: it is too large, cannot be read, or belongs to another row.
    """
    if len(row["record"]) > MAX_RECORD_BYTES:
        raise IntegrityError(f"its record has {len(row['record'])} characters; the most is {MAX_RECORD_BYTES}")
    try:
        record = TaskRecord.model_validate_json(row["record"])
    except ValidationError as error:
        raise IntegrityError(f"its record cannot be read: {first_fault(error)}") from None
    if (record.task_id, record.digest) != (row["task_id"], row["digest"]):
        raise IntegrityError(f"its record is of task {record.task_id} with another digest")
    return record


def rejection_rows(rejections: Iterable[Rejection]) -> list[Row]:
    """Return rejections as rows, sorted by slot, round, attempt and replicate."""
    ordered = sorted(rejections, key=lambda r: (r.slot, r.round, r.attempt, r.replicate))
    return [rejection.model_dump(mode="json", exclude={"traceback"}) for rejection in ordered]


def slot_rows(slots: Iterable[SlotReport]) -> list[Row]:
    """Return slots as rows, with one column for the seconds of each stage."""
    ordered = sorted(slots, key=lambda slot: (slot.slot, slot.round))
    seconds = ({f"seconds_{stage}": slot.seconds.get(stage) for stage in Stage} for slot in ordered)
    return [
        slot.model_dump(mode="json", exclude={"seconds"}) | spent for slot, spent in zip(ordered, seconds, strict=True)
    ]


def read_slot(row: Row) -> SlotReport:
    """Rebuild a slot's report from its row."""
    seconds = {stage: row[f"seconds_{stage}"] for stage in Stage if row[f"seconds_{stage}"] is not None}
    plain = {key: value for key, value in row.items() if not key.startswith("seconds_") and value is not None}
    return SlotReport.model_validate({**plain, "seconds": seconds})


TABLES = (
    ReleaseTable(
        "public/tasks",
        PUBLIC_TASKS,
        lambda task: [public_task_row(task.record, prompt_text(task.package.public))],
        rows_per_group=32,
    ),
    ReleaseTable("public/files", FILES, lambda task: file_rows(task.record.task_id, task.package.public), None),
    ReleaseTable("private/tasks", PRIVATE_TASKS, lambda task: [private_task_row(task.record)], rows_per_group=32),
    ReleaseTable("private/files", FILES, lambda task: file_rows(task.record.task_id, task.package.private), None),
)
"""The tables of a release, in the order in which they are written."""

_PART_NAME = re.compile(r"((?:public|private)/(?:tasks|files))-(?:([a-z_]+)-)?(\d{5,})-[0-9a-f]{8}\.parquet")


class PartName(NamedTuple):
    """The facts in the path of a table's part."""

    table: str
    split: str | None
    """None in releases of format 1, whose parts hold several splits."""
    number: str

    @property
    def group(self) -> str:
        """Key that the parts of the four tables share if they hold the same tasks."""
        return f"{self.split}-{self.number}" if self.split else self.number


def part_name(path: str) -> PartName | None:
    """Read the path of a part; None for reports and for README.md."""
    match = _PART_NAME.fullmatch(path)
    return PartName(*match.groups()) if match else None


FORMER_FACTS = re.compile(r"(?:public|private)/facts-[0-9a-f]{8}\.parquet")
"""Tables that older code wrote for large versions: the rows of all tasks a second time, without prompts and records."""


def schema_of_part(path: str) -> Any:
    """Return the schema of a part of a table of tasks, files, facts or durations; None for reports."""
    if path == DURATIONS_FILE:
        return DURATIONS
    name = part_name(path)
    return next((known.schema for known in TABLES if name and known.name == name.table), None)


def group_of(part: PartFile) -> str:
    """Return the split and shard number in the name of a part, such as `train-00012`; empty for other files."""
    name = part_name(part.path)
    return name.group if name else ""
