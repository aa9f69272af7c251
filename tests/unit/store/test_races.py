"""Processes that publish into one dataset at the same moment."""

import multiprocessing
import uuid
from multiprocessing.synchronize import Barrier

import pytest

from sandmill.store.files import Store
from sandmill.store.release import load
from sandmill.store.verify import verify_hashes
from sandmill.store.versions import list_versions
from tests.publishing import publish_numbers

ROUNDS = 25


def _publish_rounds(root: str, number: int, start: Barrier) -> None:
    for turn in range(ROUNDS):
        start.wait(120)
        publish_numbers(Store(f"{root}/{turn}/micro"), range(number, number + 2))


def _race(root: str, *numbers: int) -> list[Store]:
    """Publish the tasks from each number on in a process of its own, in each of some datasets."""
    context = multiprocessing.get_context("spawn")
    start = context.Barrier(len(numbers))
    runners = [context.Process(target=_publish_rounds, args=(root, number, start)) for number in numbers]
    for runner in runners:
        runner.start()
    for runner in runners:
        runner.join()
    assert [runner.exitcode for runner in runners] == [0] * len(numbers)
    return [Store(f"{root}/{turn}/micro") for turn in range(ROUNDS)]


@pytest.fixture(params=["local", "s3"])
def root(request, tmp_path) -> str:
    return str(tmp_path) if request.param == "local" else f"{request.getfixturevalue('s3_root')}/{uuid.uuid4().hex}"


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_two_processes_with_different_tasks_get_a_whole_version_each(root):
    for store in _race(root, 0, 10):
        versions = list_versions(store)
        assert [version[:4] for version in versions] == ["0001", "0002"]
        releases = [load(f"{store.root}@{version}") for version in versions]
        assert [verify_hashes(release) for release in releases] == [[], []]
        assert len({release.task_ids for release in releases}) == 2


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_two_processes_with_equal_tasks_make_one_version(root):
    for store in _race(root, 0, 0):
        (version,) = list_versions(store)
        assert verify_hashes(load(f"{store.root}@{version}")) == []
