"""Small files of a release are read by one request each, and kept."""

import pytest

from sandmill.errors import IntegrityError
from sandmill.store import part_files as module
from sandmill.store.files import Store
from sandmill.store.release import load
from tests.publishing import publish_numbers


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
    monkeypatch.setattr(module, "SMALL_BYTES", 0)
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
