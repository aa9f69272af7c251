import pytest

from sandmill.errors import StoreError
from sandmill.store.shards import ShardReports, find_shard, read_shard_records, read_shard_reports, write_shard
from tests.factories import make_rejection, make_shard_plan, make_slot_report, make_task


def test_a_shard_is_found_once_it_is_finished(store):
    plan = make_shard_plan(store.root, range(3))
    assert find_shard(store, plan) is None
    tasks = [make_task(0), make_task(2)]
    ref = write_shard(store, plan, tasks, [make_rejection(1)], [make_slot_report(task) for task in tasks])
    assert ref.filled == (0, 2)
    assert find_shard(store, plan) == ref


def test_a_shard_gives_back_its_records_and_reports(store):
    plan = make_shard_plan(store.root, range(3))
    tasks = [make_task(number) for number in range(3)]
    slots = [make_slot_report(task) for task in tasks]
    ref = write_shard(store, plan, tasks[::-1], [make_rejection(1)], slots[::-1])
    assert sorted(read_shard_records(store, ref), key=lambda r: r.lineage.slot) == [task.record for task in tasks]
    assert read_shard_reports(store, ref) == ShardReports([make_rejection(1)], slots, [])


def test_a_shard_without_tasks_is_a_finished_shard(store):
    plan = make_shard_plan(store.root, range(2))
    ref = write_shard(store, plan, [], [make_rejection(0), make_rejection(1)], [])
    assert ref.filled == ()
    assert list(read_shard_records(store, ref)) == []
    assert read_shard_reports(store, ref) == ShardReports([make_rejection(0), make_rejection(1)], [], [])
    assert find_shard(store, plan) is not None


def test_a_half_written_shard_is_not_found(store):
    plan = make_shard_plan(store.root, range(3))
    write_shard(store, plan, [make_task(0)], [], [])
    other = make_shard_plan(store.root, range(5, 7))
    for path in store.list(f"shards/{plan.key}/public"):
        store.copy(path, path.replace(plan.key, other.key))
    assert find_shard(store, other) is None


def test_of_two_workers_that_make_a_shard_the_first_one_counts(store):
    plan = make_shard_plan(store.root, range(2))
    first = write_shard(store, plan, [make_task(0)], [], [])
    second = write_shard(store, plan, [make_task(1)], [make_rejection(0)], [])
    assert second == first
    assert [record.lineage.slot for record in read_shard_records(store, second)] == [0]
    assert read_shard_reports(store, second) == ShardReports([], [], [])


def test_replicates_share_a_slot(store):
    plan = make_shard_plan(store.root, range(1))
    ref = write_shard(store, plan, [make_task(0, replicate=r) for r in range(3)], [], [])
    assert ref.filled == (0,)
    assert sorted(record.replicate for record in read_shard_records(store, ref)) == [0, 1, 2]


def test_a_shard_refuses_tasks_that_are_not_its_own(store):
    plan = make_shard_plan(store.root, range(2))
    with pytest.raises(StoreError, match=r"occurs twice.*slot 9, which is not in this shard"):
        write_shard(store, plan, [make_task(0), make_task(0), make_task(9)], [], [])
    assert find_shard(store, plan) is None


def test_a_damaged_shard_says_what_to_do(store):
    plan = make_shard_plan(store.root, range(2))
    store.write(f"shards/{plan.key}/shard.json", b"{")
    with pytest.raises(StoreError, match="Remove this folder"):
        find_shard(store, plan)
