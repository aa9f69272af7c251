"""Finished shards are the cache of a build: a finished one is never made again, a half-made one is never seen.

While a shard is made, each of its finished slots is kept in a file of its own, so that a killed build loses only the
slots that it was working on.
"""

import heapq
import io
import json
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import product
from operator import itemgetter
from typing import Any

from pydantic import ConfigDict, ValidationError

from sandmill.errors import StoreError
from sandmill.fingerprint import canonical_json, digest, files_digest, fingerprint
from sandmill.models.base import Frozen
from sandmill.models.names import path_faults
from sandmill.models.plan import ShardPlan, ShardRef, Slot
from sandmill.models.release import FORMAT_VERSION, SPLITS, PartFile, TaskRecord, VerifiedTask
from sandmill.models.reports import Rejection, SlotReport
from sandmill.store import arrow_tables as tables
from sandmill.store.arrow_tables import Row
from sandmill.store.files import FileMissing, Store
from sandmill.store.parquet import TableReader, grouped, write_rows

TRACEBACKS = "private/tracebacks"
"""Report with the tracebacks of internal errors. They may name paths and data, so no release gets them."""
_RENEWED_AFTER_S = 86_400  # A build that reuses a shard older than this, in seconds, renews the shard's date
_TRACED = {"slot", "round", "attempt", "replicate", "traceback"}


class FinishedShard(Frozen):
    """shard.json. It is written last, so its presence means that every part is there."""

    format_version: int = FORMAT_VERSION
    key: str
    round: int
    filled: tuple[int, ...]
    digests: dict[str, str]
    parts: dict[str, PartFile]
    """By table and split, such as `public/tasks-train`; none without rows. Paths relative to the dataset."""
    reports: dict[str, PartFile]
    """By name. A release gets the Parquet files among them; `private/tracebacks` is there if a traceback is."""

    def ref(self, dataset: str, slots: Iterable[Slot] = ()) -> ShardRef:
        """Make the reference to this shard, whose plan has these slots."""
        numbers = tuple(slot.number for slot in slots)
        return ShardRef(dataset=dataset, key=self.key, round=self.round, filled=self.filled, slots=numbers)


class FinishedSlot(Frozen):
    """Everything that a slot adds to its shard. It is kept until the shard is finished."""

    model_config = ConfigDict(ser_json_bytes="base64")

    tasks: tuple[VerifiedTask, ...]
    """The task and its replicates; none if the slot stayed empty in this round."""
    rejections: tuple[Rejection, ...]
    report: SlotReport
    suites: tuple[dict[str, Any], ...] = ()
    """Results of the expectation suites, added up over the packages of the slot."""

    @property
    def is_whole(self) -> bool:
        """Whether every task has the files that its record names."""
        return all(task.record.digest == files_digest(task.package.public, task.package.private) for task in self.tasks)


@dataclass(frozen=True)
class ShardReports:
    """What became of the slots of one shard."""

    rejections: list[Rejection]
    slots: list[SlotReport]
    suites: list[dict[str, Any]]


def find_shard(store: Store, plan: ShardPlan) -> ShardRef | None:
    """Return the shard if an earlier run finished it.

    An old index is written again with the same bytes, so that its age is the time of its last use. Garbage collection
    goes by that age, and leaves the shard to this run.
    """
    path = _index_path(plan.key)
    if not store.exists(path):
        return None
    found = read_shard(store, plan.key).ref(plan.dataset, plan.slots)
    if all(file.modified < time.time() - _RENEWED_AFTER_S for file in store.details(f"shards/{plan.key}")):
        store.write(path, store.read(path))
    return found


def keep_slot(store: Store, plan: ShardPlan, slot: FinishedSlot) -> None:
    """Keep a finished slot of a shard that is being made."""
    path = f"{_slots_folder(plan.key)}/{slot.report.slot:06d}.json"
    store.write(path, slot.model_dump_json().encode(), owner_only=True)


def kept_slots(store: Store, plan: ShardPlan) -> dict[int, FinishedSlot]:
    """Return the slots of a shard that an earlier run finished, by number. A damaged file counts as not finished."""
    found = {}
    for path in store.list(_slots_folder(plan.key)):
        with suppress(ValidationError, FileMissing):
            slot = FinishedSlot.model_validate_json(store.read(path))
            if slot.is_whole:
                found[slot.report.slot] = slot
    return found


def drop_slots(store: Store, plan: ShardPlan) -> None:
    """Remove the files of single slots. A finished shard does not need them."""
    for path in store.list(_slots_folder(plan.key)):
        store.remove(path)


def write_shard(
    store: Store,
    plan: ShardPlan,
    tasks: Sequence[VerifiedTask],
    rejections: Sequence[Rejection],
    slots: Sequence[SlotReport],
    suites: Sequence[Mapping[str, Any]] = (),
) -> ShardRef:
    """Store a shard's tasks and reports. The shard exists once shard.json is there.

    Parts are named by their content, so two processes that make the same shard at once do not disturb each other. If
    another one finished it first, it holds that process's tasks.

    Raises:
        StoreError: a task id occurs twice, or a task lies in no slot of the plan.
    """
    problems, planned = _task_problems(tasks), {slot.number for slot in plan.slots}
    filled = {task.record.lineage.slot: task.record.task_id for task in tasks}
    problems += [
        f"task {task_id} says slot {slot}, which is not in this shard"
        for slot, task_id in filled.items()
        if slot not in planned
    ]
    if problems:
        raise StoreError(f"shard {plan.key}: not written: " + "; ".join(problems))
    numbers = tuple(slot.number for slot in plan.slots if slot.number in filled)
    made = _write_shard(store, plan.key, plan.round, numbers, tasks, rejections, slots, suites)
    return made.ref(plan.dataset, plan.slots)


def keep_tasks(store: Store, version: str, tasks: Sequence[VerifiedTask]) -> ShardRef:
    """Store tasks of an earlier version as a shard, so that the next version can take them over.

    Equal tasks give an equal shard. It fills no slot, since slots are those of a plan.

    Raises:
        StoreError: a task id occurs twice, or a path may not become a file.
    """
    if problems := _task_problems(tasks):
        raise StoreError(f"tasks of {version}: not kept: " + "; ".join(problems))
    key = f"kept-{fingerprint([[task.record.task_id, task.record.digest] for task in tasks])[:16]}"
    if store.exists(_index_path(key)):
        return read_shard(store, key).ref(store.root)
    return _write_shard(store, key, 0, (), tasks, (), (), ()).ref(store.root)


def _write_shard(
    store: Store,
    key: str,
    round_number: int,
    filled: tuple[int, ...],
    tasks: Sequence[VerifiedTask],
    rejections: Sequence[Rejection],
    slots: Sequence[SlotReport],
    suites: Sequence[Mapping[str, Any]],
) -> FinishedShard:
    def write(name: str, suffix: str, content: bytes) -> PartFile:
        sha256 = digest(content)
        path = f"shards/{key}/{name}-{sha256[:8]}.{suffix}"
        store.write(path, content, owner_only=name.startswith("private/"))
        return PartFile(path=path, sha256=sha256, size=len(content))

    def write_table(name: str, schema: Any, groups: Sequence[Sequence[Row]]) -> PartFile:
        content = write_rows(schema, groups)
        TableReader(io.BytesIO(content), name, schema if "task_id" in schema.names else None).check_sizes()
        size = sum(len(row["bytes"]) for group in groups for row in group) if "bytes" in schema.names else None
        return write(name, "parquet", content).model_copy(update={"rows": sum(map(len, groups)), "content": size})

    def write_json(name: str, rows: Sequence[Row]) -> PartFile:
        return write(name, "json", canonical_json(rows).encode())

    ordered = sorted(tasks, key=lambda task: task.record.task_id)
    parts = {}
    for table, split in product(tables.TABLES, SPLITS):
        rows = [row for task in ordered if task.record.split == split for row in table.rows(task)]
        if rows:
            name = f"{table.name}-{split}"
            parts[name] = write_table(name, table.schema, grouped(table, rows))
    reports = {
        "reports/rejections": write_table("reports/rejections", tables.REJECTIONS, [tables.rejection_rows(rejections)]),
        "reports/slots": write_table("reports/slots", tables.SLOTS, [tables.slot_rows(slots)]),
        "reports/suites": write_json("reports/suites", [dict(row) for row in suites]),
    }
    if traces := [one.model_dump(mode="json", include=_TRACED) for one in rejections if one.traceback]:
        reports[TRACEBACKS] = write_json(TRACEBACKS, traces)
    digests = {task.record.task_id: task.record.digest for task in ordered}
    shard = FinishedShard(key=key, round=round_number, filled=filled, digests=digests, parts=parts, reports=reports)
    if store.create(_index_path(key), canonical_json(shard.model_dump(mode="json")).encode()):
        return shard
    return read_shard(store, key)


def read_shard(store: Store, key: str) -> FinishedShard:
    """Read the index of a finished shard."""
    content = store.read(_index_path(key))
    try:
        return FinishedShard.model_validate_json(content)
    except ValueError as error:
        where = store.where(f"shards/{key}")
        raise StoreError(f"{where}: shard.json is damaged. Remove this folder; the next run makes it again.") from error


def read_shard_reports(store: Store, ref: ShardRef) -> ShardReports:
    """Read every report table of a shard, each once. Tracebacks are put back into their rejections."""
    reports = read_shard(store, ref.key).reports
    traces = json.loads(store.read(reports[TRACEBACKS].path)) if TRACEBACKS in reports else []
    tracebacks = {_attempt_of(trace): trace["traceback"] for trace in traces}
    return ShardReports(
        rejections=[
            Rejection.model_validate({**row, "traceback": tracebacks.get(_attempt_of(row), "")})
            for row in _iterate(store, reports["reports/rejections"])
        ],
        slots=[tables.read_slot(row) for row in _iterate(store, reports["reports/slots"])],
        suites=json.loads(store.read(reports["reports/suites"].path)),
    )


def read_shard_records(store: Store, ref: ShardRef) -> Iterator[TaskRecord]:
    """Read the records of a shard's tasks in the order of their ids."""
    parts = read_shard(store, ref.key).parts
    wanted = [part for name, part in parts.items() if name.startswith("private/tasks-")]
    rows = [_iterate(store, part, ("task_id", "digest", "record")) for part in wanted]
    for row in heapq.merge(*rows, key=itemgetter("task_id")):
        yield tables.read_record(row)


def _slots_folder(key: str) -> str:
    return f"shards/{key}/slots"


def _index_path(key: str) -> str:
    return f"shards/{key}/shard.json"


def _iterate(store: Store, part: PartFile, columns: Sequence[str] | None = None) -> Iterator[Row]:
    return TableReader(io.BytesIO(store.read(part.path)), store.where(part.path)).rows(columns)


def _attempt_of(row: Row) -> tuple[int, ...]:
    return row["slot"], row["round"], row["attempt"], row["replicate"]


def _task_problems(tasks: Sequence[VerifiedTask]) -> list[str]:
    counts = Counter(task.record.task_id for task in tasks)
    problems = [f"task {task_id} occurs twice" for task_id in sorted(counts) if counts[task_id] > 1]
    for task in tasks:
        if task.package.task_id != task.record.task_id:
            problems.append(f"package {task.package.task_id} comes with the record of {task.record.task_id}")
        for side in (task.package.public, task.package.private):
            problems += [f"task {task.record.task_id}: {fault}" for fault in path_faults(side)]
    return problems
