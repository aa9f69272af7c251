from benchmarks.repeated_release import repeat_release
from sandmill.store.release import load
from sandmill.store.verify import verify_hashes
from tests.publishing import publish_numbers


def test_a_repeated_release_is_a_release_of_other_ids_that_verifies(local_store):
    publish_numbers(local_store, range(2))
    target = f"{local_store.root}-many"
    manifest = repeat_release(local_store.root, target, 60)
    release, original = load(target), load(local_store.root)
    assert verify_hashes(release) == []
    assert len(set(release.task_ids) - set(original.task_ids)) == manifest.tasks == 60
    assert len(release.select(split="validation")) == 6
    assert len({release.prompt(task_id) for task_id in release.task_ids}) == 60
    assert repeat_release(local_store.root, target, 60) == manifest


def test_files_with_a_line_for_each_item_may_be_cut(local_store):
    publish_numbers(local_store, range(1))
    repeat_release(local_store.root, f"{local_store.root}-cut", 3, rows=1)
    release = load(f"{local_store.root}-cut")
    package = release.package(release.task_ids[0])
    assert package.public["test.csv"].count(b"\n") == package.private["answers.csv"].count(b"\n") == 2
    assert package.public["train.csv"].count(b"\n") == 3
    assert verify_hashes(release) == []
