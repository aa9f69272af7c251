"""Proof that a release is what its manifest says: every byte is read and every hash made again."""

import io
from collections.abc import Iterator
from itertools import groupby

from sandmill.errors import SandmillError
from sandmill.fingerprint import digest, digest_of_hashes
from sandmill.models.release import PartFile
from sandmill.store.faults import AccessDenied, FileMissing
from sandmill.store.parquet import count_rows, iterate_rows
from sandmill.store.publish import content_of
from sandmill.store.release import Release
from sandmill.store.tables import TABLES, read_record

Hashes = dict[str, list[tuple[str, str, str]]]
"""(side, path, SHA-256) of each file, by task_id."""


def verify_hashes(release: Release, *, public_only: bool = False) -> list[str]:
    """Check every part, every file, and that public and private halves describe the same tasks.

    One part is in memory at a time.

    Args:
        release: what to check.
        public_only: leave the private half out, for a copy that does not have it.

    Returns:
        Problems as sentences; empty if everything holds.
    """
    problems: list[str] = []
    digests: dict[str, str] = {}
    tables = {_table(part) for part in release.manifest.parts if not _is_left_out(part, public_only)}
    for part in release.manifest.parts:
        if not _table(part) and not _is_left_out(part, public_only):
            problems += _check_part(release, part)[1]
    numbers = sorted({_number(part) for part in release.manifest.parts if _table(part)})
    for number in numbers:
        held = [p for p in release.manifest.parts if _table(p) in tables - {""} and _number(p) == number]
        problems += _check_shard(release, held, digests)
    if not public_only:
        problems += _check_content(release, digests)
    return problems


def _check_shard(release: Release, parts: list[PartFile], digests: dict[str, str]) -> Iterator[str]:
    """Check the parts that came from one shard: the same tasks in each table, and each task's digest."""
    ids: dict[str, set[str]] = {}
    hashes: Hashes = {}
    recorded: dict[str, str] = {}
    for part in parts:
        content, problems = _check_part(release, part)
        yield from problems
        if content is None or problems:
            continue
        side, name = _table(part).split("/")
        try:
            if name == "files":
                yield from _check_files(side, content, hashes)
            else:
                rows = list(iterate_rows(io.BytesIO(content), ["task_id"] if side == "public" else None))
                ids[side] = {row["task_id"] for row in rows}
                recorded |= {row["task_id"]: row["digest"] for row in rows if side == "private"}
                yield from (problem for row in rows if side == "private" for problem in _check_record(row))
        except (OSError, ValueError) as error:
            yield f"{part.path}: cannot be read as a table: {error}"
    everywhere = set().union(*ids.values()) | hashes.keys()
    for side, there in ids.items():
        yield from (f"task {task_id}: not in {side}/tasks" for task_id in sorted(everywhere - there))
    if {"public", "private"} <= ids.keys():
        for task_id, expected in sorted(recorded.items()):
            if digest_of_hashes(hashes.get(task_id, [])) != expected:
                yield f"task {task_id}: its files are not those that were verified (digest differs)"
    digests.update(recorded)


def _check_part(release: Release, part: PartFile) -> tuple[bytes | None, list[str]]:
    try:
        content = release.store.read(f"{release.version}/{part.path}")
    except FileMissing:
        return None, [f"{part.path}: missing"]
    except AccessDenied:
        return None, [f"{part.path}: access denied, so not checked"]
    if len(content) != part.size:
        return content, [f"{part.path}: {len(content)} bytes; the manifest says {part.size}"]
    if digest(content) != part.sha256:
        return content, [f"{part.path}: its SHA-256 differs from the manifest's"]
    if part.rows is not None and count_rows(content) != part.rows:
        return content, [f"{part.path}: {count_rows(content)} rows; the manifest says {part.rows}"]
    return content, []


def _check_files(side: str, content: bytes, hashes: Hashes) -> Iterator[str]:
    for task_id, rows in groupby(iterate_rows(io.BytesIO(content)), key=lambda row: str(row["task_id"])):
        for row in rows:
            hashes.setdefault(task_id, []).append((side, row["path"], row["sha256"]))
            if digest(row["bytes"]) != row["sha256"]:
                yield f"task {task_id}: {side}/{row['path']}: the stored bytes differ from their hash"


def _check_record(row: dict[str, object]) -> Iterator[str]:
    try:
        record = read_record(row)
    except (ValueError, SandmillError) as error:
        yield f"task {row['task_id']}: its record cannot be read: {error}"
        return
    if (record.task_id, record.digest) != (row["task_id"], row["digest"]):
        yield f"task {row['task_id']}: its record is of task {record.task_id} with another digest"


def _check_content(release: Release, digests: dict[str, str]) -> Iterator[str]:
    manifest = release.manifest
    if len(digests) != manifest.tasks:
        yield f"manifest.json: says {manifest.tasks} tasks; {len(digests)} could be read"
    elif content_of(digests) != manifest.content:
        yield "manifest.json: its content hash is not that of the tasks"


def _table(part: PartFile) -> str:
    """Name the table that a part belongs to; empty for reports and README.md."""
    return next((f"{t.side}/{t.name}" for t in TABLES if part.path.startswith(f"{t.side}/{t.name}-")), "")


def _number(part: PartFile) -> str:
    return part.path.rpartition("/")[2].split("-")[1] if _table(part) else ""


def _is_left_out(part: PartFile, public_only: bool) -> bool:
    return public_only and part.path.startswith("private/")
