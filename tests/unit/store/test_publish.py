from concurrent.futures import ThreadPoolExecutor

import polars as pl
import pytest

from sandmill.errors import StoreError
from sandmill.store.files import Store
from sandmill.store.release import load
from sandmill.store.shards import write_shard
from sandmill.store.verify import verify_hashes
from sandmill.store.versions import list_versions
from tests.factories import make_shard_plan, make_task
from tests.publishing import fill_shard, publish_numbers, publish_shards, publish_splits


def test_a_first_version_holds_every_task(store):
    manifest, is_new = publish_shards(store, [fill_shard(store, range(3)), fill_shard(store, range(3, 5))])
    assert is_new
    assert manifest.version == f"0001-{manifest.content[:8]}"
    assert (manifest.tasks, manifest.dataset, manifest.seeds) == (5, "micro", ("parcels",))
    release = load(store.root)
    assert release.manifest == manifest
    assert release.task_ids == tuple(sorted(make_task(number).record.task_id for number in range(5)))
    assert verify_hashes(release) == []


def test_publishing_twice_publishes_nothing_new(store):
    first = publish_numbers(store, range(3))
    before = store.list()
    second, is_new = publish_shards(store, [fill_shard(store, range(3))])
    assert (second, is_new) == (first, False)
    assert store.list() == before


def test_shard_size_does_not_change_the_content(store):
    whole = publish_numbers(store, range(4))
    assert publish_numbers(store, range(1), range(1, 4)) == whole


def test_new_content_is_the_next_version_and_the_old_one_stays(store):
    first = publish_numbers(store, range(2))
    kept = {path: store.read(path) for path in store.list(first.version)}
    second = publish_numbers(store, range(3))
    assert second.version.startswith("0002-")
    assert list_versions(store) == [first.version, second.version]
    assert {path: store.read(path) for path in store.list(first.version)} == kept
    assert publish_numbers(store, range(2)) == first


def test_each_split_has_files_of_its_own_and_one_without_tasks_has_none(store):
    manifest = publish_splits(store, {0: "train", 1: "held_out_domain"}, {2: "validation", 3: "train"})
    tables = [part.path.rpartition("-")[0] for part in manifest.parts if part.path.startswith(("public/", "private/"))]
    assert sorted(tables) == sorted(
        f"{table}-{split}-{number}"
        for table in ("public/tasks", "public/files", "private/tasks", "private/files")
        for split, number in (
            ("train", "00000"),
            ("held_out_domain", "00000"),
            ("train", "00001"),
            ("validation", "00001"),
        )
    )
    release = load(store.root)
    assert verify_hashes(release) == []
    for number, split in enumerate(("train", "held_out_domain", "validation", "train")):
        task = make_task(number)
        assert release.package(task.record.task_id) == task.package
        assert release.record(task.record.task_id).split == split
    for part in manifest.parts:
        if part.path.startswith("public/tasks-"):
            with store.open(f"{manifest.version}/{part.path}") as file:
                assert set(pl.read_parquet(file)["split"]) == {part.path.split("-")[1]}


def test_nothing_to_publish_is_an_error(store):
    empty = write_shard(store, make_shard_plan(store.root, range(2)), [], [], [])
    with pytest.raises(StoreError, match="nothing to publish"):
        publish_shards(store, [empty])
    assert list_versions(store) == []


def test_a_task_in_two_shards_is_an_error(store):
    again = write_shard(store, make_shard_plan(store.root, range(3, 4)), [make_task(0, slot=3)], [], [])
    with pytest.raises(StoreError, match="lie in an earlier shard too"):
        publish_shards(store, [fill_shard(store, range(2)), again])


def test_a_number_that_another_run_claimed_is_left_to_it(store):
    assert store.create("versions/0001", b"0" * 64)
    assert publish_numbers(store, range(2)).version.startswith("0002-")


def test_the_claim_of_a_killed_run_is_used_again(store):
    content = publish_numbers(Store(f"{store.root}-other"), range(2)).content
    assert store.create("versions/0001", content.encode())
    assert store.create("versions/0002", b"0" * 64)
    assert publish_numbers(store, range(2)).version == f"0001-{content[:8]}"


def test_versions_that_were_copied_here_without_their_claims_keep_their_numbers(store):
    first = publish_numbers(store, range(2))
    other = Store(f"{store.root}-mirror")
    for path in store.list(first.version):
        other.write(path, store.read(path))
    assert publish_numbers(other, range(3)).version.startswith("0002-")


def test_runs_that_publish_the_same_at_once_make_one_version(store):
    ref = fill_shard(store, range(2))
    with ThreadPoolExecutor(4) as pool:
        manifests = list(pool.map(lambda _: publish_shards(Store(store.root), [ref]), range(4)))
    assert len({manifest.version for manifest, _ in manifests}) == 1
    assert sum(is_new for _, is_new in manifests) == 1
    assert verify_hashes(load(store.root)) == []


def test_a_run_that_is_overtaken_while_it_publishes_spoils_nothing(store):
    ref, faster = fill_shard(store, range(2)), []

    def overtaken(manifest):
        report = {"costs.txt": b"the faster run's report"}
        faster.append(publish_shards(store, [ref], reports=report, card=lambda manifest: "the faster run's card"))
        return "the slower run's card"

    slower = publish_shards(store, [ref], reports={"costs.txt": b"the slower run's report"}, card=overtaken)
    assert slower == (faster[0][0], False)
    assert faster[0][1]
    assert verify_hashes(load(store.root)) == []


def test_runs_that_publish_different_things_at_once_get_different_numbers(store):
    refs = [fill_shard(store, range(number, number + 1)) for number in range(4)]
    with ThreadPoolExecutor(4) as pool:
        manifests = list(pool.map(lambda ref: publish_shards(Store(store.root), [ref])[0], refs))
    assert {manifest.version[:4] for manifest in manifests} == {"0001", "0002", "0003", "0004"}


def test_a_part_that_was_cut_short_in_its_shard_is_not_published(store):
    ref = fill_shard(store, range(2))
    (path,) = store.list(f"shards/{ref.key}/private")[:1]
    store.write(path, store.read(path)[:-1])
    with pytest.raises(StoreError, match="its shard recorded"):
        publish_shards(store, [ref])
    assert list_versions(store) == []
