"""Small files of a release are read whole and kept, and larger ones where most of their tasks are read."""

import json
import shutil

import polars as pl
import pytest

from sandmill.errors import ReleaseNotFound, StoreError
from sandmill.fingerprint import files_digest
from sandmill.models.texts import prompt_text
from sandmill.store import part_files
from sandmill.store.files import AccessDenied, Store
from sandmill.store.release import load
from sandmill.store.verify import verify_hashes
from tests.factories import make_task
from tests.publishing import fill_shard, publish_numbers, publish_shards, published


def test_the_table_of_tasks_joins_public_and_private_facts(release):
    frame = release.tasks
    assert frame["task_id"].to_list() == list(release.task_ids)
    row = frame.row(by_predicate=pl.col("task_id") == make_task(4).record.task_id, named=True)
    assert (row["split"], row["modality"], row["target"], row["metric"]) == ("train", "tabular", "binary", "roc_auc")
    assert (row["rows_train"], row["rows_test"]) == (50, 200)
    assert (row["domain"], row["structure"], row["seed_id"]) == ("logistics", "tabular/binary/random", "parcels")
    assert (row["band"], row["wanted"], row["difficulty"]) == ("medium", "medium", 0.3)
    assert (row["trivial"], row["gold"], row["oracle"], row["replicate"]) == (0.5, 0.85, 0.9, 0)
    assert row["motifs"] == ["linear"]
    assert "record" not in frame.columns


def test_a_place_that_is_no_dataset_is_told_with_what_to_type(store):
    version = publish_numbers(store, range(1)).version
    root = store.root.rpartition("/")[0]
    Store(f"{root}/empty").write("shards/a/public/x", b"")
    for place, said in (
        (f"{root}/mirco", f"There: micro. List them with: sandmill releases {root}"),
        (f"{root}/empty", "There: micro"),
        (f"{store.root}/{version}", f"That is a version. Name it as {store.root}@{version}"),
        (root, f"{root} holds datasets: micro. Try {root}/micro"),
    ):
        with pytest.raises(ReleaseNotFound, match=said):
            load(place)


def test_columns_are_read_of_the_tasks_that_are_asked_for(release):
    asked = release.task_ids[1:4]
    rows = list(release.read_columns("private/tasks", ["task_id", "band"], asked))
    assert sorted(row["task_id"] for row in rows) == list(asked)
    assert {row["band"] for row in rows} == {"medium"}
    assert len(list(release.read_columns("private/tasks", ["task_id"]))) == len(release.task_ids)


def test_a_release_of_format_1_is_read(tmp_path):
    store = Store(str(tmp_path / "micro"))
    manifest = publish_numbers(store, range(3))
    folder = tmp_path / "micro" / manifest.version
    old = json.loads((folder / "manifest.json").read_bytes()) | {"format_version": 1}
    for part in old["parts"]:
        del part["content"]
        renamed = part["path"].replace("-train-", "-")
        (folder / part["path"]).rename(folder / renamed)
        part["path"] = renamed
    (folder / "manifest.json").write_text(json.dumps(old))
    release = load(store.root)
    assert verify_hashes(release) == []
    assert [release.package(make_task(number).record.task_id) for number in range(3)] == [
        make_task(number).package for number in range(3)
    ]
    assert len(release.pull(tmp_path / "out", split=["train"])) == 3


def test_one_task_is_read_as_it_was_written(release):
    for number in range(5):
        task = make_task(number)
        assert release.record(task.record.task_id) == task.record
        assert release.package(task.record.task_id) == task.package
        assert release.prompt(task.record.task_id) == prompt_text(task.package.public)


def test_a_prompt_holds_the_data_dictionary_and_is_compared_with_both_texts(tmp_path):
    store, task = Store(str(tmp_path / "micro")), make_task(0)
    texts = {**task.package.public, "data_dictionary.md": b"# Codes\n\n| oak | 3.5 |\n"}
    package = task.package.model_copy(update={"public": texts})
    record = task.record.model_copy(update={"digest": files_digest(package.public, package.private)})
    fill = fill_shard(store, range(1), [task.model_copy(update={"package": package, "record": record})])
    publish_shards(store, [fill])
    release = load(store.root)
    assert release.prompt(record.task_id).endswith("\n\n## Codes\n\n| oak | 3.5 |\n")
    assert verify_hashes(release) == []


def test_a_mirror_without_private_shows_only_public_facts(tmp_path):
    store = Store(str(tmp_path / "micro"))
    manifest = publish_numbers(store, range(2))
    shutil.rmtree(tmp_path / "micro" / manifest.version / "private")
    release = load(store.root)
    assert not release.has_private
    columns = "task_id metric modality target rows_train rows_test split prompt"
    assert release.tasks.columns == columns.split()
    assert release.prompt(release.task_ids[0]).startswith("# Late parcels")
    with pytest.raises(StoreError, match="private/tasks"):
        release.record(release.task_ids[0])
    with pytest.raises(AccessDenied, match="--public-only"):
        release.pull(tmp_path / "out")
    assert len(release.pull(tmp_path / "out", public_only=True)) == 2


def test_an_unknown_task_is_told_with_the_tasks_there_are(release):
    with pytest.raises(ReleaseNotFound, match=r"saw 'nope'; expected a task of this release") as caught:
        release.record("nope")
    assert release.task_ids[0] in str(caught.value)
    assert f"sandmill show {release.ref}" in str(caught.value)


def test_a_version_is_named_by_number_or_in_full_and_the_latest_is_the_default(store):
    first = publish_numbers(store, range(1)).version
    second = publish_numbers(store, range(2)).version
    assert load(store.root).version == second
    for wanted in ("1", "0001", first):
        assert load(f"{store.root}@{wanted}").version == first
    assert load(f"{store.root}/@2").version == second
    assert load(load(store.root).ref).version == second


def test_a_missing_version_is_told_with_those_there_are(store):
    version = publish_numbers(store, range(1)).version
    for wanted in ("2", "0001-00000000", "latest", "", "9" * 5000, "٠١"):
        with pytest.raises(ReleaseNotFound, match=f"expected one of {version}") as caught:
            load(f"{store.root}@{wanted}")
        assert f"Latest: {store.root}@{version}" in str(caught.value)
        assert caught.value.exit_code == 2


def test_a_version_without_a_manifest_is_not_there(store):
    manifest = publish_numbers(store, range(1))
    Store(store.root).write("0002-0123abcd/public/tasks-00000-00000000.parquet", b"half")
    assert load(store.root).version == manifest.version
    with pytest.raises(ReleaseNotFound):
        load(f"{store.root}@2")


def test_a_task_of_600_nested_files_comes_back_as_it_was(local_store, tmp_path):
    task = make_task(0)
    items = {f"train/{number:04x}/geometry.xyz": f"{number}\n".encode() for number in range(600)}
    package = task.package.model_copy(update={"public": {**task.package.public, **items}})
    record = task.record.model_copy(update={"digest": files_digest(package.public, package.private)})
    changed = task.model_copy(update={"package": package, "record": record})
    publish_shards(local_store, [fill_shard(local_store, range(2), [changed, make_task(1)])])
    release = load(local_store.root)
    assert verify_hashes(release) == []
    assert release.files("public", package.task_id) == package.public
    (folder,) = release.pull(tmp_path / "tasks", [package.task_id])
    assert (folder / "public" / "train" / "0257" / "geometry.xyz").read_bytes() == b"599\n"
    assert release.pull(tmp_path / "tasks", [package.task_id]) == [folder]


@pytest.fixture
def remote(tmp_path, monkeypatch):
    """Publish seven tasks, two in each shard but the last, with parts too large to be kept."""
    monkeypatch.setattr(part_files, "SMALL_BYTES", 0)
    return published(tmp_path / "micro", range(2), range(2, 4), range(4, 6), range(6, 7))


@pytest.mark.parametrize("whole_bytes", [part_files.WHOLE_BYTES, 0])
def test_a_pull_reads_each_table_of_files_whole_by_one_request(remote, tmp_path, monkeypatch, whole_bytes):
    monkeypatch.setattr(part_files, "WHOLE_BYTES", whole_bytes)
    read = []
    plain = Store.read_start
    monkeypatch.setattr(Store, "read_start", lambda store, path, most: read.append(path) or plain(store, path, most))
    folders = remote.pull(tmp_path / "pulled")
    asked = [path.partition("/")[2] for path in read if "/files-" in path]
    parts = [part.path for side in ("public", "private") for part in remote.parts(f"{side}/files")]
    assert len(parts) == 8
    assert sorted(asked) == (sorted(parts) if whole_bytes else [])
    for folder in folders:
        for side in ("public", "private"):
            found = {str(path.relative_to(folder / side)): path.read_bytes() for path in (folder / side).iterdir()}
            assert found == remote.files(side, folder.name)


def test_one_task_of_many_is_not_fetched_with_its_whole_table(remote, tmp_path, monkeypatch):
    monkeypatch.setattr(Store, "read_start", lambda store, path, most: pytest.fail(path) if most > 4 else b"PAR1")
    assert len(remote.pull(tmp_path / "pulled", [remote.task_ids[0]])) == 1


@pytest.fixture
def ref(tmp_path):
    return published(tmp_path / "micro", range(3), range(3, 6)).store.root


@pytest.fixture
def requests(monkeypatch):
    made: list[str] = []
    for name in ("read_start", "open"):
        plain = getattr(Store, name)

        def note(store, path, *others, plain=plain, name=name):
            made.append(f"{name} {path}")
            return plain(store, path, *others)

        monkeypatch.setattr(Store, name, note)
    return made


def test_prompts_of_all_tasks_take_one_request_a_file(ref, requests):
    opened = load(ref)
    assert len({opened.prompt(task_id) for task_id in opened.task_ids}) == 6
    names = [f"read_start {opened.version}/{part.path}" for part in opened.parts("public/tasks")]
    assert sorted(requests) == sorted(names)
    assert len(requests) == 2


def test_large_files_are_read_in_pieces(ref, requests, monkeypatch):
    monkeypatch.setattr(part_files, "SMALL_BYTES", 0)
    opened = load(ref)
    opened.prompt(opened.task_ids[0])
    assert {request.split()[0] for request in requests} == {"open"}
