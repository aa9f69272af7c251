"""A task with a file for each of 600 items is stored, pulled and verified like one with four files."""

from sandmill.fingerprint import files_digest
from sandmill.store.release import load
from sandmill.store.verify import verify_hashes
from tests.factories import make_task
from tests.publishing import fill_shard, publish_shards


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
