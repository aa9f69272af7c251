import pyarrow as pa
import pytest

from sandmill.fingerprint import canonical_json, digest, files_digest
from sandmill.models.release import PartFile
from sandmill.store import arrow_tables as tables
from sandmill.store import parquet
from sandmill.store.files import Store
from sandmill.store.release import StoredRelease, load
from sandmill.store.verify import verify_hashes
from tests.factories import make_task
from tests.publishing import publish_numbers


def _part(store: Store, prefix: str) -> str:
    release = load(store.root)
    return next(f"{release.version}/{p.path}" for p in release.manifest.parts if p.path.startswith(prefix))


def _replace(store: Store, prefix: str, content: bytes) -> None:
    """Put other content in a part's place and make the manifest agree, as a careful forger would."""
    release = load(store.root)
    parts = []
    for part in release.manifest.parts:
        if part.path.startswith(prefix):
            store.write(f"{release.version}/{part.path}", content)
            part = part.model_copy(
                update={"sha256": digest(content), "size": len(content), "rows": None, "content": None}
            )
        parts.append(part)
    manifest = release.manifest.model_copy(update={"parts": tuple(parts)})
    text = canonical_json(manifest.model_dump(mode="json"))
    store.write(f"{release.version}/manifest.json", text.encode())


def test_a_sound_release_has_no_problems(store):
    publish_numbers(store, range(2), range(2, 4))
    assert verify_hashes(load(store.root)) == []
    assert verify_hashes(load(store.root), public_only=True) == []


@pytest.mark.parametrize(
    "prefix", ["public/tasks", "public/files", "private/tasks", "private/files", "reports/", "README"]
)
def test_one_flipped_bit_in_any_part_is_found(local_store, prefix):
    publish_numbers(local_store, range(2), range(2, 4))
    path = _part(local_store, prefix)
    content = bytearray(local_store.read(path))
    content[len(content) // 2] ^= 1
    local_store.write(path, bytes(content))
    problems = verify_hashes(load(local_store.root))
    assert any(path.partition("/")[2] in problem and "SHA-256" in problem for problem in problems)


def test_a_mirror_without_private_can_be_checked_for_what_it_has(tmp_path):
    store = Store(str(tmp_path / "micro"))
    publish_numbers(store, range(2))
    for prefix in ("private/tasks", "private/files"):
        (tmp_path / "micro" / _part(store, prefix)).unlink()
    assert verify_hashes(load(store.root), public_only=True) == []
    assert any("private/tasks" in problem and "missing" in problem for problem in verify_hashes(load(store.root)))


def test_files_that_were_exchanged_together_with_their_hashes_are_found(local_store):
    publish_numbers(local_store, range(2))
    ids = sorted(make_task(number).record.task_id for number in range(2))
    rows = [row for name in ids for row in tables.file_rows(name, {"answers.csv": b"forged"})]
    _replace(local_store, "private/files", parquet.write_rows(tables.FILES, [rows]))
    problems = verify_hashes(load(local_store.root))
    assert problems == [f"task {name}: its files are not those that were verified (digest differs)" for name in ids]


def test_a_task_missing_from_one_table_is_found(local_store):
    publish_numbers(local_store, range(2))
    rows = tables.TABLES[0].rows(make_task(1))
    _replace(local_store, "public/tasks", parquet.write_rows(tables.PUBLIC_TASKS, [rows]))
    assert verify_hashes(load(local_store.root)) == [f"task {make_task(0).record.task_id}: not in public/tasks"]


def test_records_that_were_exchanged_with_their_digests_are_found_by_the_content_hash(local_store):
    publish_numbers(local_store, range(1))
    package = make_task(0).package
    forged = {**package.private, "answers.csv": b"forged"}
    record = make_task(0).record.model_copy(update={"digest": files_digest(package.public, forged)})
    task = make_task(0).model_copy(update={"record": record})
    rows = tables.TABLES[2].rows(task)
    _replace(local_store, "private/tasks", parquet.write_rows(tables.PRIVATE_TASKS, [rows]))
    _replace(
        local_store, "private/files", parquet.write_rows(tables.FILES, [tables.file_rows(package.task_id, forged)])
    )
    assert verify_hashes(load(local_store.root)) == ["manifest.json: its content hash is not that of the tasks"]


def test_a_release_from_before_the_columns_of_medals_verifies(local_store):
    publish_numbers(local_store, range(1))
    rows = tables.TABLES[2].rows(make_task(0))
    old = pa.schema([field for field in tables.PRIVATE_TASKS if not tables.is_later(field)])
    without = [{name: row[name] for name in old.names} for row in rows]
    _replace(local_store, "private/tasks", parquet.write_rows(old, [without]))
    assert verify_hashes(load(local_store.root)) == []
    forged = [{**row, "rule": "milestones"} for row in rows]
    _replace(local_store, "private/tasks", parquet.write_rows(tables.PRIVATE_TASKS, [forged]))
    (problem,) = verify_hashes(load(local_store.root))
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
