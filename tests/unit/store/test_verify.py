"""What `verify` finds in a version: damaged, missing and forged parts; and whether the repair works."""

import re

import pyarrow as pa
import pytest

from sandmill.errors import SandmillError
from sandmill.fingerprint import digest, files_digest
from sandmill.models.release import PartFile
from sandmill.store import arrow_tables as tables
from sandmill.store import parquet
from sandmill.store.release import StoredRelease, load
from sandmill.store.verify import verify_hashes
from tests.factories import make_task
from tests.hostile import HostileRelease
from tests.publishing import publish_numbers


def _flip(store, path):
    content = bytearray(store.read(path))
    content[len(content) // 3] ^= 1
    store.write(path, bytes(content))


DAMAGES = {
    "flipped": _flip,
    "cut": lambda store, path: store.write(path, store.read(path)[:-7]),
    "gone": lambda store, path: store.remove(path),
}


def _part(release, prefix):
    return f"{release.version}/{next(part.path for part in release.manifest.parts if part.path.startswith(prefix))}"


@pytest.mark.parametrize("damage", DAMAGES)
@pytest.mark.parametrize(
    "prefix", ["public/tasks", "public/files", "private/tasks", "private/files", "reports/", "README"]
)
def test_verify_names_a_damaged_part_and_is_content_with_a_copy_of_it(store, damage, prefix):
    publish_numbers(store, range(2), range(2, 4))
    path = _part(load(store.root), prefix)
    whole = store.read(path)
    DAMAGES[damage](store, path)
    found = [one for one in verify_hashes(load(store.root)) if one.startswith(path.partition("/")[2])]
    assert any("SHA-256" in one for one in found) or (damage != "flipped" and found)
    store.write(path, whole)
    assert verify_hashes(load(store.root)) == []


@pytest.mark.parametrize("damage", DAMAGES)
@pytest.mark.parametrize("table", ["public/tasks", "public/files"])
def test_a_pull_names_the_part_or_the_task_and_writes_nothing_damaged(store, damage, table, tmp_path):
    publish_numbers(store, range(2))
    path = _part(load(store.root), table)
    DAMAGES[damage](store, path)
    with pytest.raises(SandmillError) as raised:
        load(store.root).pull(tmp_path / "tasks")
    said = str(raised.value)
    assert path.partition("/")[2] in said or re.search(r"task \w+: public/", said)
    packages = {make_task(number).package.task_id: make_task(number).package for number in range(2)}
    for folder in tmp_path.glob("tasks/*"):
        assert {one.name: one.read_bytes() for one in (folder / "public").iterdir()} == packages[folder.name].public


def test_a_missing_or_cut_part_says_who_knows_the_repair(local_store):
    publish_numbers(local_store, range(2))
    release = load(local_store.root)
    path = _part(release, "private/files")
    local_store.write(path, local_store.read(path)[:-1])
    with pytest.raises(SandmillError, match=rf"bytes; the manifest says .*`sandmill verify {release.ref}` lists"):
        release.files("private", release.task_ids[0])
    local_store.remove(path)
    with pytest.raises(SandmillError, match=r"missing, and the manifest lists it\. `sandmill verify"):
        load(local_store.root).files("private", release.task_ids[0])


@pytest.fixture
def forged(tmp_path) -> HostileRelease:
    """Two tasks, whose parts a careful forger replaces, so that the manifest agrees."""
    return HostileRelease(tmp_path, tasks=2)


def _problems(release: HostileRelease, **options: bool) -> list[str]:
    return verify_hashes(load(release.ref), **options)


def test_a_mirror_without_private_can_be_checked_for_what_it_has(forged):
    for path in forged.folder.glob("private/*"):
        path.unlink()
    assert _problems(forged, public_only=True) == []
    assert any("private/tasks" in problem and "missing" in problem for problem in _problems(forged))


def test_files_that_were_exchanged_together_with_their_hashes_are_found(forged):
    ids = sorted(make_task(number).record.task_id for number in range(2))
    forged.put_rows(
        "private/files", [row for name in ids for row in tables.file_rows(name, {"answers.csv": b"forged"})]
    )
    assert _problems(forged) == [
        f"task {name}: its files are not those that were verified (digest differs)" for name in ids
    ]


def test_bytes_that_are_not_those_of_their_hash_are_found(forged):
    forged.change("private/files", lambda row: row | {"bytes": b"id,y\n"} if row["path"] == "answers.csv" else row)
    assert [problem.partition(": ")[2] for problem in _problems(forged)] == [
        "private/answers.csv: the stored bytes differ from their hash"
    ] * 2


def test_a_task_missing_from_one_table_is_found(forged):
    forged.put_rows("public/tasks", tables.TABLES[0].rows(make_task(1)))
    assert _problems(forged) == [f"task {make_task(0).record.task_id}: not in public/tasks"]


def test_records_that_were_exchanged_with_their_digests_are_found_by_the_content_hash(tmp_path):
    forged, package = HostileRelease(tmp_path), make_task(0).package
    private = {**package.private, "answers.csv": b"forged"}
    record = make_task(0).record.model_copy(update={"digest": files_digest(package.public, private)})
    forged.put_rows("private/tasks", tables.TABLES[2].rows(make_task(0).model_copy(update={"record": record})))
    forged.put_rows("private/files", tables.file_rows(package.task_id, private))
    assert _problems(forged) == ["manifest.json: its content hash is not that of the tasks"]


def test_a_release_from_before_the_columns_of_medals_verifies(tmp_path):
    release, rows = HostileRelease(tmp_path), tables.TABLES[2].rows(make_task(0))
    old = pa.schema([field for field in tables.PRIVATE_TASKS if not tables.is_later(field)])
    without = [{name: row[name] for name in old.names} for row in rows]
    release.put("private/tasks", parquet.write_rows(old, [without]), len(rows))
    assert _problems(release) == []
    release.put_rows("private/tasks", [{**row, "rule": "milestones"} for row in rows])
    (problem,) = _problems(release)
    assert problem.endswith("private/tasks: rule is not that of its record")


def test_tables_of_facts_of_older_versions_are_hashed_and_nothing_else(local_store):
    publish_numbers(local_store, range(2))
    release = load(local_store.root)
    content = b"a table that nobody reads"
    part = PartFile(path="public/facts-0123abcd.parquet", sha256=digest(content), size=len(content))
    local_store.write(f"{release.version}/{part.path}", content)
    manifest = release.manifest.model_copy(update={"parts": (*release.manifest.parts, part)})
    known = StoredRelease(local_store, manifest)
    assert verify_hashes(known) == []
    assert known.task_ids == release.task_ids
    local_store.write(f"{release.version}/{part.path}", content[::-1])
    assert verify_hashes(known) == [
        f"{part.path}: its SHA-256 differs from the manifest's. Copy it from another copy of the release."
    ]
