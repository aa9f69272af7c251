"""Verify a release against its manifest: every byte is read and every hash computed again.

Facts that a release holds twice must be equal, since graders and readers use different copies. The record of a task is
what was verified. Columns of the tables, `private/task.json`, `private/leaderboard.csv` and the prompt repeat parts of
it.
"""

import csv
import io
from collections import defaultdict
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from hashlib import sha256
from itertools import groupby
from typing import Any

from sandmill.errors import IntegrityError, SandmillError, StoreError, count, shorten
from sandmill.fingerprint import canonical_json, digest, digest_of_hashes
from sandmill.models.base import OnProgress
from sandmill.models.names import path_faults
from sandmill.models.package import TaskFile
from sandmill.models.release import Manifest, PartFile, TaskRecord
from sandmill.models.texts import DESCRIPTION, TEXTS, prompt_text
from sandmill.scoring import get_metric
from sandmill.store.arrow_tables import (
    FORMER_FACTS,
    Row,
    part_name,
    private_task_row,
    public_task_row,
    read_record,
)
from sandmill.store.files import AccessDenied, FileMissing, Store
from sandmill.store.limits import MAX_TASK_FILE_BYTES
from sandmill.store.parquet import TableReader
from sandmill.store.publish import content_of
from sandmill.store.release import StoredRelease

_TASK_FILE, _BOARD, _PAGE = "private/task.json", "private/leaderboard.csv", "public/description.md"
_REPEATED = (_TASK_FILE, _BOARD)  # files that repeat facts of the record
_BLOCK = 8 << 20
_SHOWN = 5  # tasks that a message names
_ORDER = ("private/tasks", "public/tasks", "public/files", "private/files")
"""Tables of a shard in the order in which they are checked: what a record says is known before the other tables."""


def parts_to_share(manifest: Manifest) -> list[PartFile]:
    """List the files that everybody may see. Reports tell seeds and bands of tasks, so they stay with private/."""
    return [part for part in manifest.parts if not part.path.startswith(("private/", "reports/"))]


def verify_hashes(
    release: StoredRelease, *, public_only: bool = False, progress: OnProgress | None = None
) -> list[str]:
    """Check every part and every file, and that tables, files and records agree. Returns problems as sentences.

    Names and sizes are checked too, since a release is untrusted. One row group is in memory at a time.

    Args:
        release: what to check.
        public_only: leave the private half and the reports out, for a copy that does not have them.
        progress: called with (done, in all). Each file counts twice, since it is hashed and then read as a table.
    """
    problems: list[str] = []
    known = {part.path for part in release.manifest.parts}
    report = progress or (lambda done, whole: None)
    wanted = parts_to_share(release.manifest) if public_only else list(release.manifest.parts)
    groups: defaultdict[str, dict[str, list[PartFile]]] = defaultdict(lambda: {name: [] for name in _ORDER})
    for number, part in enumerate(wanted):
        report(number, 2 * len(wanted))
        if faults := list(_byte_faults(release.store, f"{release.version}/{part.path}", part)):
            problems += [f"{fault}. Copy it from another copy of the release." for fault in faults]
        elif name := part_name(part.path):
            groups[name.group][name.table].append(part)
        elif part.path.startswith(("public/", "private/")) and not FORMER_FACTS.fullmatch(part.path):
            problems.append(f"{part.path}: no part of a table has such a name")
    # Readers that use file patterns would read files that the manifest does not list.
    for side in ("public",) if public_only else ("public", "private"):
        inside = (path.removeprefix(f"{release.version}/") for path in release.store.list(f"{release.version}/{side}"))
        problems += [f"{path}: not in the manifest" for path in inside if path not in known]
    check, done = _TableCheck(release), len(wanted)
    for group, tables in sorted(groups.items()):
        report(done, 2 * len(wanted))
        problems += check.shard(group, tables)
        done += sum(map(len, tables.values()))
    if len(check.seen) != release.manifest.tasks:
        problems.append(f"manifest.json: says {count(release.manifest.tasks, 'task')}; {len(check.seen)} could be read")
    elif not public_only and content_of(check.digests) != release.manifest.content:
        problems.append("manifest.json: its content hash is not that of the tasks")
    return problems


def _byte_faults(store: Store, path: str, part: PartFile) -> Iterator[str]:
    """Read a file, a block in memory at a time, and yield how its size or hash differ from those of its part."""
    found, size = sha256(), 0
    try:
        with store.open(path) as file:
            while size <= part.size and (block := file.read(_BLOCK)):
                found.update(block)
                size += len(block)
    except FileMissing:
        yield f"{part.path}: missing"
    except AccessDenied:
        yield f"{part.path}: access denied, so not checked"
    except StoreError as error:
        yield str(error)
    else:
        if size != part.size:
            yield f"{part.path}: {'more than ' if size > part.size else ''}{size} bytes; the manifest says {part.size}"
        elif found.hexdigest() != part.sha256:
            yield f"{part.path}: its SHA-256 differs from the manifest's"


@dataclass
class _Shard:
    """What the tables of one shard have said so far, by task id."""

    ids: defaultdict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    """Ids by side."""
    hashes: defaultdict[str, list[tuple[str, str, str]]] = field(default_factory=lambda: defaultdict(list))
    """Side, path and SHA-256 of each file."""
    recorded: dict[str, str] = field(default_factory=dict)
    """Digest of all files."""
    expected: defaultdict[str, dict[str, str]] = field(default_factory=lambda: defaultdict(dict))
    """Digests of what other places must hold, by place."""
    found: defaultdict[str, dict[str, bool]] = field(default_factory=lambda: defaultdict(dict))
    """Whether the places that were found hold it."""

    def compare(self, task_id: str, place: str, said: str) -> None:
        """Compare the digest of what a place says with what it must say, if that is known."""
        if place in self.expected[task_id]:
            found = self.found[task_id]
            found[place] = found.get(place, True) and said == self.expected[task_id][place]

    def differences(self, task_id: str) -> Iterator[str]:
        """Yield the places that differ or are missing. A row that is missing is told by table."""
        for place in self.expected[task_id]:
            holds = self.found[task_id].get(place)
            if place == _PAGE and not holds:
                yield f"public/tasks: prompt is not that of {_PAGE}"
            elif holds is False:
                yield f"{place} is not that of its record"
            elif holds is None and place in _REPEATED:
                yield f"{place} is missing"


@dataclass
class _TableCheck:
    """Compares the tables of a release with each other, one shard at a time."""

    release: StoredRelease
    digests: dict[str, str] = field(default_factory=dict)
    seen: set[str] = field(default_factory=set)

    def shard(self, group: str, tables: Mapping[str, list[PartFile]]) -> Iterator[str]:
        """Check the parts of one shard: the same tasks in each table, each task's digest, and what repeats a record."""
        shard = _Shard()
        for part in (part for name in _ORDER for part in tables[name]):
            check = self._files if "/files-" in part.path else self._tasks
            try:
                with self.release.open_part(part) as reader:
                    yield from check(shard, part, reader, group)
            except SandmillError as error:
                yield str(error)
        everywhere = shard.hashes.keys() | set().union(*shard.ids.values())
        yield from (f"task {task_id}: lies in two shards" for task_id in sorted(everywhere & self.seen))
        self.seen |= everywhere
        for side, there in shard.ids.items():
            yield from (f"task {task_id}: not in {side}/tasks" for task_id in sorted(everywhere - there))
        for task_id in sorted(everywhere):
            is_known = task_id in shard.recorded and "public" in shard.ids
            if is_known and digest_of_hashes(shard.hashes[task_id]) != shard.recorded[task_id]:
                yield f"task {task_id}: its files are not those that were verified (digest differs)"
                continue
            yield from (f"task {task_id}: {said}" for said in shard.differences(task_id))
        self.digests.update(shard.recorded)

    def _tasks(self, shard: _Shard, part: PartFile, reader: TableReader, group: str) -> Iterator[str]:
        side, split = part.path.partition("/")[0], group.rpartition("-")[0]
        for row in reader.rows():
            task_id = row["task_id"]
            if task_id in shard.ids[side]:
                yield f"task {task_id}: is more than once in {side}/tasks"
            shard.ids[side].add(task_id)
            if split not in ("", row["split"]):
                yield f"task {task_id}: is of split {row['split']}, and lies in {part.path}"
            if side == "public":
                for column in row:
                    shard.compare(task_id, f"public/tasks: {column}", _digest(row[column]))
                shard.expected[task_id][_PAGE] = digest(row["prompt"].encode())
                continue
            shard.recorded[task_id] = row["digest"]
            record, problems = _record_of(row)
            yield from (f"task {task_id}: {problem}" for problem in problems)
            if record is not None:
                shard.expected[task_id].update(_said_by_record(record))

    def _files(self, shard: _Shard, part: PartFile, reader: TableReader, group: str) -> Iterator[str]:
        side, size = part.path.partition("/")[0], 0
        for task_id, rows in groupby(reader.rows(), key=lambda row: str(row["task_id"])):
            paths: list[str] = []
            texts: dict[str, bytes] = {}
            for row in rows:
                path, content = row["path"], row["bytes"]
                place = f"{side}/{path}"
                paths.append(path)
                size += len(content)
                shard.hashes[task_id].append((side, path, row["sha256"]))
                if digest(content) != row["sha256"]:
                    yield f"task {task_id}: {place}: the stored bytes differ from their hash"
                if side == "public" and path in TEXTS:
                    texts[path] = content
                elif place in _REPEATED:
                    shard.compare(task_id, place, _digest(_read_file(place, content)))
            if DESCRIPTION in texts:
                with suppress(UnicodeDecodeError):
                    shard.compare(task_id, _PAGE, digest(prompt_text(texts).encode()))
            yield from (f"task {task_id}: {side}: {fault}" for fault in path_faults(paths))
        if part.content is not None and size != part.content:
            yield f"{part.path}: {size} bytes of files; the manifest says {part.content}"


def _said_by_record(record: TaskRecord) -> dict[str, str]:
    """Return the digests of what other places must hold on a task, by place."""
    row = public_task_row(record, prompt="")
    file = TaskFile.model_validate({name: getattr(record, name) for name in TaskFile.model_fields})
    board = enumerate(record.calibration.board, start=1)
    said = {f"public/tasks: {column}": value for column, value in row.items() if column != "prompt"}
    said |= {_TASK_FILE: file.model_dump(mode="json")}
    said |= {_BOARD: [[rank, one.final, one.solver, str(one.tier)] for rank, one in board]}
    return {place: _digest(value) for place, value in said.items()}


def _record_of(row: Row) -> tuple[TaskRecord | None, list[str]]:
    """Read and check the record in a row of private/tasks. Returns it, if it can be read, and the problems."""
    try:
        record = read_record(row)
        expected = private_task_row(record)
    except IntegrityError as error:
        return None, [str(error)]
    except (ValueError, SandmillError) as error:
        return None, [f"its record cannot be read: {shorten(str(error), 200)}"]
    spec, facts, measured = record.spec, record.facts, record.calibration
    # An older version may have written the same record with fewer fields.
    unwritten = {"rule"} if row["rule"] is None and measured.rule == "ranks" else set()
    unwritten |= {"reading_level", "reading_gain"} if row["reading_level"] is None else set()
    wrong = [name for name in expected if name not in {"record", *unwritten} and row[name] != expected[name]]
    problems = [f"private/tasks: {name} is not that of its record" for name in wrong]
    if (spec.metric, spec.target) != (facts.metric, facts.target):
        seen = f"its facts has {facts.metric} of {facts.target}"
        problems.append(f"its design has {spec.metric} of {spec.target}; {seen}")
    is_lower_better = get_metric(facts.metric).is_lower_better
    if measured.is_lower_better != is_lower_better:
        problems.append(
            f"its calibration says that {'higher' if is_lower_better else 'lower'} {facts.metric} is better"
        )
    return record, problems


def _read_file(place: str, content: bytes) -> Any:
    """Return the facts of a file that repeats facts of the record; None if it cannot be read."""
    try:
        if len(content) > MAX_TASK_FILE_BYTES:
            return None
        if place == _TASK_FILE:
            return TaskFile.model_validate_json(content).model_dump(mode="json")
        lines = csv.DictReader(io.StringIO(content.decode()), strict=True)
        return [[int(line["rank"]), float(line["score"]), line["solver"], line["tier"]] for line in lines]
    except (ValueError, KeyError, TypeError, csv.Error):
        return None


def _digest(value: Any) -> str:
    return digest(canonical_json(value).encode())
