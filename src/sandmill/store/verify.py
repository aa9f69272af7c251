"""Verify a release against its manifest: every byte is read and every hash computed again."""

from collections.abc import Iterator
from itertools import groupby

from sandmill.errors import SandmillError, count
from sandmill.fingerprint import digest, digest_of_hashes
from sandmill.models.base import OnProgress
from sandmill.models.names import path_faults
from sandmill.models.release import PartFile
from sandmill.store.agreement import (
    Sayings,
    differences,
    record_of,
    said_by_file,
    said_by_record,
    said_by_row,
)
from sandmill.store.arrow_tables import PartName, facts_name, part_name
from sandmill.store.damage import byte_faults
from sandmill.store.facts_tables import FactsCheck
from sandmill.store.parquet import TableReader
from sandmill.store.publish import content_of
from sandmill.store.release import StoredRelease
from sandmill.store.repair import repair_of

Hashes = dict[str, list[tuple[str, str, str]]]
"""(side, path, SHA-256) of each file, by task_id."""


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
    facts: FactsCheck,
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
                        found.setdefault(task_id, {}).update(said_by_row(row))
                        continue
                    recorded[task_id] = row["digest"]
                    record, problems = record_of(row)
                    yield from (f"task {task_id}: {problem}" for problem in problems)
                    if record is not None:
                        expected[task_id] = said_by_record(record)
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
            yield from (f"task {task_id}: {problem}" for problem in differences(wanted, said))
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
            found.setdefault(task_id, {}).update(said_by_file(f"{side}/{row['path']}", row["bytes"]))
            size += len(row["bytes"])
            if digest(row["bytes"]) != row["sha256"]:
                yield f"task {task_id}: {side}/{row['path']}: the stored bytes differ from their hash"
        yield from (f"task {task_id}: {side}: {fault}" for fault in path_faults(paths))
    if part.content is not None and size != part.content:
        yield f"{part.path}: {size} bytes of files; the manifest says {part.content}"
