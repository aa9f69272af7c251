"""Verify a release against its manifest: every byte is read and every hash computed again.

Facts that a release holds twice must be equal, since graders and readers use different copies. The record of a task is
what was verified. Columns of the tables, `private/task.json`, `private/leaderboard.csv` and the prompt repeat parts of
it.
"""

import csv
import io
from collections.abc import Iterable, Iterator, Mapping
from itertools import groupby
from typing import Any

from sandmill.errors import IntegrityError, SandmillError, count, name_some, shorten
from sandmill.fingerprint import canonical_json, digest, digest_of_hashes
from sandmill.models.base import OnProgress
from sandmill.models.names import path_faults
from sandmill.models.package import TaskFile
from sandmill.models.release import PartFile, TaskRecord
from sandmill.scoring import get_metric
from sandmill.store.arrow_tables import (
    FACTS_TABLES,
    GROUP,
    PartName,
    Row,
    facts_name,
    part_name,
    private_task_row,
    public_task_row,
    read_record,
)
from sandmill.store.limits import MAX_TASK_FILE_BYTES
from sandmill.store.parquet import TableReader
from sandmill.store.publish import content_of
from sandmill.store.release import StoredRelease
from sandmill.store.repair import byte_faults, repair_of

Hashes = dict[str, list[tuple[str, str, str]]]
"""(side, path, SHA-256) of each file, by task_id."""

Sayings = dict[str, str]
"""Digests of the facts of one task, by the place that holds them."""

PROMPT = "public/tasks: prompt"
_TASK_FILE, _BOARD = "private/task.json", "private/leaderboard.csv"
_UNREADABLE = "unreadable"
_SHOWN = 5
"""Tasks that a message names."""


def verify_hashes(
    release: StoredRelease, *, public_only: bool = False, progress: OnProgress | None = None
) -> list[str]:
    """Check every part and every file, and that tables, files and records agree.

    Names and sizes are checked too, since a release is untrusted. One row group is in memory at a time.

    Args:
        release: what to check.
        public_only: leave the private half out, for a copy that does not have it.
        progress: called with (done, in all). Each file counts twice, since it is hashed and then read as a table.

    Returns:
        Problems as sentences; empty if everything holds.
    """
    problems: list[str] = []
    digests: dict[str, str] = {}
    seen: set[str] = set()
    wanted = [part for part in release.manifest.parts if not (public_only and part.path.startswith("private/"))]
    groups: dict[str, list[tuple[PartName, PartFile]]] = {}
    sound: list[PartFile] = []
    for number, part in enumerate(wanted):
        if progress is not None:
            progress(number, 2 * len(wanted))
        if faults := list(byte_faults(release.store, f"{release.version}/{part.path}", part)):
            repair = repair_of(release.store, release.version, part, public_only=public_only)
            problems += [f"{fault}. {repair}." for fault in faults]
            continue
        sound.append(part)
        if name := part_name(part.path):
            groups.setdefault(name.group, []).append((name, part))
        elif not facts_name(part.path) and part.path.startswith(("public/", "private/")):
            problems.append(f"{part.path}: no part of a table has such a name")
    problems += _check_strays(release, public_only)
    done, facts = len(wanted), FactsCheck(sound)
    for _, parts in sorted(groups.items()):
        if progress is not None:
            progress(done, 2 * len(wanted))
        problems += _check_shard(release, parts, digests, seen, facts)
        done += len(parts)
    problems += facts.problems(release)
    if len(seen) != release.manifest.tasks:
        problems.append(f"manifest.json: says {count(release.manifest.tasks, 'task')}; {len(seen)} could be read")
    elif not public_only and content_of(digests) != release.manifest.content:
        problems.append("manifest.json: its content hash is not that of the tasks")
    return problems


def _check_shard(
    release: StoredRelease,
    parts: list[tuple[PartName, PartFile]],
    digests: dict[str, str],
    seen: set[str],
    facts: "FactsCheck",
) -> Iterator[str]:
    """Check the parts of one shard: the same tasks in each table, and each task's digest."""
    ids: dict[str, set[str]] = {}
    hashes: Hashes = {}
    recorded: dict[str, str] = {}
    expected: dict[str, Sayings] = {}
    found: dict[str, Sayings] = {}
    for name, part in parts:
        side, _, table = name.table.partition("/")
        try:
            with release.open_part(part) as reader:
                if table == "files":
                    yield from _check_files(side, part, reader, hashes, found)
                    continue
                there = ids.setdefault(side, set())
                for row in reader.rows():
                    task_id = row["task_id"]
                    if task_id in there:
                        yield f"task {task_id}: is more than once in {side}/tasks"
                    there.add(task_id)
                    facts.add(side, row, name.group)
                    if name.split not in (None, row["split"]):
                        yield f"task {task_id}: is of split {row['split']}, and lies in {part.path}"
                    if side == "public":
                        found.setdefault(task_id, {}).update(_said_by_row(row))
                        continue
                    recorded[task_id] = row["digest"]
                    record, problems = _record_of(row)
                    yield from (f"task {task_id}: {problem}" for problem in problems)
                    if record is not None:
                        expected[task_id] = _said_by_record(record)
        except SandmillError as error:
            yield str(error)
    everywhere = set().union(*ids.values()) | hashes.keys()
    yield from (f"task {task_id}: lies in two shards" for task_id in sorted(everywhere & seen))
    seen |= everywhere
    for side, there in ids.items():
        yield from (f"task {task_id}: not in {side}/tasks" for task_id in sorted(everywhere - there))
    has_both = {"public", "private"} <= ids.keys()
    for task_id in sorted(everywhere):
        said = found.get(task_id, {})
        if has_both and task_id in recorded and digest_of_hashes(hashes.get(task_id, [])) != recorded[task_id]:
            yield f"task {task_id}: its files are not those that were verified (digest differs)"
        else:
            wanted = expected.get(task_id, {}) if has_both else {}
            yield from (f"task {task_id}: {problem}" for problem in _differences(wanted, said))
    digests.update(recorded)


def _check_strays(release: StoredRelease, public_only: bool) -> Iterator[str]:
    """Find files that the manifest does not list. Readers that use file patterns would read them."""
    known = {part.path for part in release.manifest.parts}
    for side in ("public",) if public_only else ("public", "private"):
        for path in release.store.list(f"{release.version}/{side}"):
            inside = path.removeprefix(f"{release.version}/")
            if inside not in known:
                yield f"{inside}: not in the manifest"


def _check_files(
    side: str, part: PartFile, reader: TableReader, hashes: Hashes, found: dict[str, Sayings]
) -> Iterator[str]:
    size = 0
    for task_id, group in groupby(reader.rows(), key=lambda row: str(row["task_id"])):
        paths = []
        for row in group:
            paths.append(row["path"])
            hashes.setdefault(task_id, []).append((side, row["path"], row["sha256"]))
            found.setdefault(task_id, {}).update(_said_by_file(f"{side}/{row['path']}", row["bytes"]))
            size += len(row["bytes"])
            if digest(row["bytes"]) != row["sha256"]:
                yield f"task {task_id}: {side}/{row['path']}: the stored bytes differ from their hash"
        yield from (f"task {task_id}: {side}: {fault}" for fault in path_faults(paths))
    if part.content is not None and size != part.content:
        yield f"{part.path}: {size} bytes of files; the manifest says {part.content}"


def _said_by_record(record: TaskRecord) -> Sayings:
    """Return what other places must hold on a task.

    Raises:
        ValueError: a number is not finite.
    """
    said = _said_by_row(public_task_row(record, prompt=""))
    del said[PROMPT]
    file = {name: getattr(record, name) for name in TaskFile.model_fields}
    board = enumerate(record.calibration.board, start=1)
    return {
        **said,
        _TASK_FILE: _digest(TaskFile.model_validate(file).model_dump(mode="json")),
        _BOARD: _digest([[rank, one.final, one.solver, str(one.tier)] for rank, one in board]),
    }


def _said_by_row(row: Row) -> Sayings:
    """Return the digests of a row of public/tasks. The prompt's is of its bytes, to be compared with description.md."""
    said = {f"public/tasks: {column}": _digest(value) for column, value in row.items() if column != "prompt"}
    return {**said, PROMPT: digest(row["prompt"].encode())}


def _said_by_file(place: str, content: bytes) -> Sayings:
    """Return the digest of a file that repeats facts of the record; empty for other files."""
    readers = {_TASK_FILE: _read_task_file, _BOARD: _read_board}
    if place == "public/description.md":
        return {place: digest(content)}
    if place not in readers:
        return {}
    try:
        said = None if len(content) > MAX_TASK_FILE_BYTES else _digest(readers[place](content))
    except (ValueError, KeyError, TypeError, csv.Error):
        said = None
    return {place: said or _UNREADABLE}


def _differences(expected: Mapping[str, str], found: Mapping[str, str]) -> Iterator[str]:
    """Yield the places that differ from the record, and the prompt if it differs from description.md."""
    for place, said in expected.items():
        if place not in found:
            if place in (_TASK_FILE, _BOARD):
                yield f"{place} is missing"
        elif found[place] != said:
            yield f"{place} is not that of its record"
    if PROMPT in found and found[PROMPT] != found.get("public/description.md"):
        yield f"{PROMPT} is not that of public/description.md"


def _record_of(row: Row) -> tuple[TaskRecord | None, list[str]]:
    """Read and check the record in a row of private/tasks.

    Returns:
        The record, None if it cannot be read, and the problems.
    """
    try:
        record = read_record(row)
        expected = private_task_row(record)
    except IntegrityError as error:
        return None, [str(error)]
    except (ValueError, SandmillError) as error:
        return None, [f"its record cannot be read: {shorten(str(error), 200)}"]
    # An older version may have written the same record with fewer fields.
    by_ranks = {"rule"} if row["rule"] is None and record.calibration.rule == "ranks" else set()
    skipped = {"record"} | by_ranks
    wrong = [name for name in expected if name not in skipped and row[name] != expected[name]]
    problems = [f"private/tasks: {name} is not that of its record" for name in wrong]
    return record, problems + list(_contradictions(record))


def _contradictions(record: TaskRecord) -> Iterator[str]:
    spec, facts = record.spec, record.facts
    if (spec.metric, spec.target) != (facts.metric, facts.target):
        yield f"its design has {spec.metric} of {spec.target}; its facts has {facts.metric} of {facts.target}"
    is_lower_better = get_metric(facts.metric).is_lower_better
    if record.calibration.is_lower_better != is_lower_better:
        yield f"its calibration says that {'higher' if is_lower_better else 'lower'} {facts.metric} is better"


def _read_task_file(content: bytes) -> Any:
    return TaskFile.model_validate_json(content).model_dump(mode="json")


def _read_board(content: bytes) -> Any:
    lines = csv.DictReader(io.StringIO(content.decode()), strict=True)
    return [[int(line["rank"]), float(line["score"]), line["solver"], line["tier"]] for line in lines]


def _digest(value: Any) -> str:
    return digest(canonical_json(value).encode())


class FactsCheck:
    """Checks, while a release is verified, that its tables of facts say the same as its tables of tasks."""

    def __init__(self, parts: Iterable[PartFile]) -> None:
        """Remember the tables of facts that can be read, by name; other parts are left out."""
        self._parts: dict[str, list[PartFile]] = {}
        for part in parts:
            if name := facts_name(part.path):
                self._parts.setdefault(name, []).append(part)
        self._expected: dict[str, dict[str, str]] = {name: {} for name in self._parts}
        """Digest of the facts of each task, by table and task."""

    def add(self, side: str, row: Row, group: str) -> None:
        """Remember a row of the table of tasks of one half, which lies in the parts of `group`."""
        if (name := f"{side}/facts") in self._expected:
            self._expected[name][row["task_id"]] = _facts_digest(name, {**row, GROUP: group})

    def problems(self, release: StoredRelease) -> Iterator[str]:
        """Yield what the tables of facts say otherwise; nothing if the version has none."""
        for name, parts in self._parts.items():
            found: dict[str, str] = {}
            try:
                for part in parts:
                    with release.open_part(part) as reader:
                        for row in reader.rows():
                            if row["task_id"] in found:
                                yield f"{name}: task {row['task_id']} is there more than once"
                            found[row["task_id"]] = _facts_digest(name, row)
            except SandmillError as error:
                yield str(error)
            else:
                yield from _compare_facts(name, self._expected[name], found)


def _compare_facts(name: str, expected: Mapping[str, str], found: Mapping[str, str]) -> Iterator[str]:
    table = name.replace("facts", "tasks")
    for tasks, what in (
        (expected.keys() - found.keys(), f"of {table} missing"),
        (found.keys() - expected.keys(), f"not in {table}"),
        ({task for task in expected.keys() & found.keys() if expected[task] != found[task]}, f"not as in {table}"),
    ):
        if tasks:
            yield f"{name}: {count(len(tasks), 'task')} {what}: {name_some(sorted(tasks), _SHOWN)}"


def _facts_digest(name: str, row: Row) -> str:
    return digest(canonical_json([row[column] for column in FACTS_TABLES[name].names]).encode())
