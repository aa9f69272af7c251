"""Small files of a release are read whole and kept, and larger ones where most of their tasks are read."""

import pytest

from sandmill.errors import IntegrityError
from sandmill.store import part_files
from sandmill.store.files import Store
from sandmill.store.release import load
from tests.publishing import publish_numbers


@pytest.fixture
def remote(tmp_path, monkeypatch):
    """Publish seven tasks, two in each shard but the last, with parts too large to be kept."""
    monkeypatch.setattr(part_files, "SMALL_BYTES", 0)
    store = Store(str(tmp_path / "micro"))
    publish_numbers(store, range(2), range(2, 4), range(4, 6), range(6, 7))
    return load(store.root)


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
    store = Store(str(tmp_path / "micro"))
    publish_numbers(store, range(3), range(3, 6))
    return store.root


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


@pytest.mark.parametrize("change", [lambda content: content + b"x", lambda content: content[:-1]])
def test_a_small_file_of_another_size_is_refused(ref, change):
    opened = load(ref)
    part = opened.parts("public/tasks")[0]
    path = f"{opened.version}/{part.path}"
    opened.store.write(path, change(opened.store.read(path)))
    with pytest.raises(IntegrityError, match="bytes; the manifest says"):
        opened.task_ids  # noqa: B018
