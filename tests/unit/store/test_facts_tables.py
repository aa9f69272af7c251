"""A release of many parts has tables with facts of all tasks, so that listing tasks opens one file."""

import io

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from sandmill.errors import IntegrityError, StoreError
from sandmill.fingerprint import canonical_json, digest
from sandmill.models.release import PartFile
from sandmill.store import publish as publishing
from sandmill.store.arrow_tables import FACTS_TABLES
from sandmill.store.files import Store
from sandmill.store.parquet import write_tables
from sandmill.store.publish import FACTS_ABOVE
from sandmill.store.release import StoredRelease, load
from sandmill.store.verify import verify_hashes
from tests.publishing import publish_numbers, publish_splits

SPLITS = ({0: "train", 1: "validation"}, {2: "train", 3: "held_out_domain"})


@pytest.fixture(autouse=True)
def few(monkeypatch):
    """Two parts are many."""
    monkeypatch.setattr(publishing, "FACTS_ABOVE", 1)


@pytest.fixture
def release(local_store) -> StoredRelease:
    publish_numbers(local_store, range(2), range(2, 4))
    return load(local_store.root)


def _without(release: StoredRelease) -> StoredRelease:
    """Return the release as it would be without tables of facts."""
    parts = tuple(part for part in release.manifest.parts if "/facts-" not in part.path)
    return StoredRelease(release.store, release.manifest.model_copy(update={"parts": parts}))


def _part(release: StoredRelease, name: str) -> PartFile:
    (part,) = release.parts(name)
    return part


def _forge(release: StoredRelease, name: str, table: pa.Table) -> StoredRelease:
    """Put other rows into a table of facts, and let the manifest agree."""
    schema = FACTS_TABLES[name]
    old, content = _part(release, name), write_tables(schema, [table.cast(schema)])
    release.store.write(f"{release.version}/{old.path}", content)
    made = old.model_copy(update={"sha256": digest(content), "size": len(content), "rows": len(table)})
    parts = tuple(made if part == old else part for part in release.manifest.parts)
    manifest = release.manifest.model_copy(update={"parts": parts})
    release.store.write(f"{release.version}/manifest.json", canonical_json(manifest.model_dump(mode="json")).encode())
    return load(release.store.root)


def _table(release: StoredRelease, name: str) -> pa.Table:
    return pq.read_table(io.BytesIO(release.store.read(f"{release.version}/{_part(release, name).path}")))


def test_what_is_read_from_tables_of_facts_is_what_the_parts_say(store):
    publish_splits(store, *SPLITS)
    release = load(store.root)
    plain = _without(release)
    assert [len(release.parts(name)) for name in ("public/facts", "private/facts")] == [1, 1]
    assert [len(plain.parts(name)) for name in ("public/facts", "private/facts")] == [0, 0]
    assert release.task_ids == plain.task_ids
    assert release.facts.equals(plain.facts)
    assert release.tasks.equals(plain.tasks)
    assert [release.group_of(task_id) for task_id in release.task_ids] == list(map(plain.group_of, plain.task_ids))
    for wanted in ({"split": "train"}, {"split": ["train", "validation"], "metric": "roc_auc"}, {"difficulty": (0, 1)}):
        assert release.select(**wanted) == plain.select(**wanted)
    assert verify_hashes(release) == []
    assert verify_hashes(release, public_only=True) == []


def test_listing_and_selecting_open_one_file_of_each_half(tmp_path, monkeypatch):
    store = Store(str(tmp_path / "micro"))
    publish_splits(store, *SPLITS)
    opened: list[str] = []
    plain = Store.read_start

    def note(self, path, most):
        opened.append(path.partition("/")[2].partition("-")[0])
        return plain(self, path, most)

    monkeypatch.setattr(Store, "read_start", note)
    release = load(store.root)
    assert len(release.task_ids) == 4
    assert opened == ["public/facts"]
    opened.clear()
    assert len(load(store.root).select(split="train", band="medium")) == 2
    assert set(opened) == {"public/facts", "private/facts", "private/tasks"}
    assert opened.count("private/tasks") == 1, "of which four bytes tell whether the half is readable"


def test_a_release_of_few_parts_has_none(tmp_path, monkeypatch):
    monkeypatch.setattr(publishing, "FACTS_ABOVE", FACTS_ABOVE)
    store = Store(str(tmp_path / "micro"))
    publish_splits(store, *SPLITS)
    assert not [part for part in load(store.root).manifest.parts if "facts" in part.path]


def test_the_public_table_has_no_private_column(release):
    private = set(_table(release, "private/facts").column_names) - set(_table(release, "public/facts").column_names)
    assert {"band", "difficulty", "gold", "oracle", "reference", "seed_id", "structure", "domain"} <= private
    assert "record" not in private


@pytest.mark.parametrize(
    ("name", "column", "value"),
    [("public/facts", "metric", "rmse"), ("public/facts", "parts", "train-00000"), ("private/facts", "band", "easy")],
)
def test_a_table_that_says_otherwise_than_the_parts_is_found(release, name, column, value):
    table, last = _table(release, name), release.task_ids[-1]
    values = table[column].to_pylist()
    assert values[-1] != value
    values[-1] = value
    place = table.column_names.index(column)
    forged = _forge(release, name, table.set_column(place, table.schema.field(column), [values]))
    assert verify_hashes(forged) == [f"{name}: 1 task not as in {name.replace('facts', 'tasks')}: {last}"]


def test_tasks_too_few_too_many_and_twice_are_found(release):
    table, ids = _table(release, "public/facts"), release.task_ids
    forged = _forge(release, "public/facts", table.slice(1))
    assert verify_hashes(forged) == [f"public/facts: 1 task of public/tasks missing: {ids[0]}"]
    strange = table.slice(0, 1).set_column(0, table.schema.field(0), [["zz-strange"]])
    forged = _forge(forged, "public/facts", pa.concat_tables([table, strange]))
    assert verify_hashes(forged) == ["public/facts: 1 task not in public/tasks: zz-strange"]
    forged = _forge(forged, "public/facts", pa.concat_tables([table, table.slice(0, 1)]))
    assert verify_hashes(forged) == [f"public/facts: task {ids[0]} is there more than once"]
    with pytest.raises(IntegrityError, match="more than once"):
        forged.task_ids  # noqa: B018


def test_a_task_in_parts_that_do_not_hold_it_is_not_found(release):
    table = _table(release, "public/facts")
    place = table.column_names.index("parts")
    forged = _forge(release, "public/facts", table.set_column(place, table.schema.field(place), [["nowhere"] * 4]))
    with pytest.raises(StoreError, match="has no row of task"):
        forged.record(forged.task_ids[0])


def test_a_missing_table_is_named(release):
    path = _part(release, "public/facts").path
    release.store.remove(f"{release.version}/{path}")
    with pytest.raises(StoreError, match="missing, and the manifest lists it"):
        load(release.store.root).task_ids  # noqa: B018
    (problem,) = verify_hashes(load(release.store.root))
    assert problem.startswith(f"{path}: missing. ")
