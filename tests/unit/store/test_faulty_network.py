"""Publishing, pulling and verifying over a network that throttles, cuts and delays: all of it happens, or none."""

import itertools
import uuid

import pytest

from sandmill.errors import StoreError
from sandmill.store.bucket import ATTEMPTS, BODY_ATTEMPTS
from sandmill.store.files import Store
from sandmill.store.release import load
from sandmill.store.verify import verify_hashes
from sandmill.store.versions import list_versions
from tests.factories import make_task
from tests.faulty_s3 import Fault, always, burst, dies_after, faulty, quick_waits, random_faults
from tests.publishing import fill_shard, publish_numbers, publish_shards

__all__ = ["faulty", "quick_waits"]

pytestmark = pytest.mark.usefixtures("quick_waits")

HARMFUL = [fault for fault in Fault if fault not in (Fault.NONE, Fault.DELAY)]


@pytest.fixture
def dataset(s3_root: str) -> Store:
    return Store(f"{s3_root}/{uuid.uuid4().hex}/micro")


def _use(store, folder):
    """Publish, verify and pull two tasks."""
    assert publish_numbers(store, range(2)).version.startswith("0001-")
    release = load(store.root)
    assert verify_hashes(release) == []
    pulled = release.pull(folder)
    for path, number in zip(sorted(pulled), sorted(range(2), key=lambda n: make_task(n).package.task_id), strict=True):
        package = make_task(number).package
        assert {one.name: one.read_bytes() for one in (path / "public").iterdir()} == package.public
        assert {one.name: one.read_bytes() for one in (path / "private").iterdir()} == package.private


@pytest.mark.slow
@pytest.mark.parametrize("fault", HARMFUL)
def test_two_faults_in_a_row_at_each_request_are_borne(dataset, faulty, tmp_path, fault):
    faulty.forget(burst(fault, 2))
    _use(dataset, tmp_path / "tasks")
    assert faulty.faults[fault] > 20


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(6))
def test_any_mix_of_faults_is_borne(dataset, faulty, tmp_path, seed):
    faulty.forget(random_faults(seed, chance=0.5))
    _use(dataset, tmp_path / "tasks")


def test_a_server_that_stays_busy_is_asked_a_few_times_and_named(dataset, faulty):
    publish_numbers(dataset, range(1))
    faulty.forget(always(Fault.SLOW_DOWN))
    with pytest.raises(StoreError) as raised:
        load(dataset.root)
    assert str(raised.value) == (
        f"{dataset.root}: the server refused {ATTEMPTS} attempts (SlowDown). Run the same command again later; what is "
        "finished is kept. If this happens often, use fewer --workers."
    )
    assert len(faulty.requests) == ATTEMPTS


@pytest.mark.slow
@pytest.mark.parametrize("fault", [Fault.CUT_BEFORE, Fault.CUT_BODY])
def test_a_connection_that_is_always_cut_is_tried_a_few_times_and_named(dataset, faulty, fault):
    release = load(f"{dataset.root}@{publish_numbers(dataset, range(1)).version}")
    part = f"{release.version}/{release.parts('public/files')[0].path}"
    faulty.forget(always(fault))
    with pytest.raises(StoreError, match=r"no complete answer from the server .* Check the network") as raised:
        release.files("public", release.task_ids[0])
    assert "public/" in str(raised.value)
    assert str(raised.value).count("\n") == 0
    # Some client libraries send a request again at once if a kept connection turns out to be closed.
    assert len(faulty.requests) <= 2 * (ATTEMPTS if fault is Fault.CUT_BEFORE else BODY_ATTEMPTS)
    faulty.forget()
    assert dataset.read(part)


def test_a_server_that_ignores_conditions_is_refused_before_anything_is_published(dataset, faulty):
    refs = [fill_shard(dataset, range(1))]
    faulty.dropped = frozenset({"if-none-match"})
    with pytest.raises(StoreError, match=r"this server ignores conditional writes \(If-None-Match\)"):
        publish_shards(dataset, refs)
    assert list_versions(dataset) == []
    assert [name for name in dataset.folders() if name.startswith("0001")] == []
    faulty.dropped = frozenset()
    assert publish_shards(dataset, refs)[1]


def test_a_lost_answer_does_not_make_a_new_version_an_old_one(dataset, faulty):
    refs = [fill_shard(dataset, range(1))]
    faulty.forget(
        lambda method, path, number: Fault.CUT_AFTER if path.endswith("manifest.json") and number < 2 else Fault.NONE
    )
    manifest, is_new = publish_shards(dataset, refs)
    assert faulty.faults[Fault.CUT_AFTER] >= 2
    assert is_new
    assert load(dataset.root).manifest == manifest


def _try(act):
    try:
        return act(), ""
    except StoreError as error:
        return None, str(error)


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_a_network_that_dies_at_any_request_of_a_publication_leaves_it_unseen_or_whole(dataset, faulty):
    older = publish_numbers(dataset, range(1))
    refs = [fill_shard(dataset, range(2)), fill_shard(dataset, range(2, 3))]
    for last in itertools.count(step=4):
        faulty.forget(dies_after(faulty, last))
        newer, said = _try(lambda: publish_shards(dataset, refs)[0])
        faulty.forget()
        if newer:
            break
        assert "no complete answer" in said
        assert list_versions(dataset)[:1] == [older.version]
        assert all(verify_hashes(load(f"{dataset.root}@{version}")) == [] for version in list_versions(dataset))
    assert last > 40
    assert list_versions(dataset) == [older.version, newer.version]
    assert newer.version == f"0002-{newer.content[:8]}"
    assert verify_hashes(load(dataset.root)) == []
