import pytest

from sandmill.errors import StoreError
from sandmill.store.shards import (
    FinishedSlot,
    ShardReports,
    drop_slots,
    find_shard,
    keep_slot,
    kept_slots,
    read_shard_records,
    read_shard_reports,
    write_shard,
)
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


def test_of_two_workers_that_make_a_shard_the_first_one_counts(store):
    plan = make_shard_plan(store.root, range(2))
    first = write_shard(store, plan, [make_task(0)], [], [])
    second = write_shard(store, plan, [make_task(1)], [make_rejection(0)], [])
    assert second == first
    assert [record.lineage.slot for record in read_shard_records(store, second)] == [0]
    assert read_shard_reports(store, second) == ShardReports([], [], [])


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


def finished_slot(number: int) -> FinishedSlot:
    task, rejection = make_task(number), make_rejection(number)
    return FinishedSlot(
        tasks=(task,),
        rejections=(rejection,),
        report=make_slot_report(task),
        suites=({"table": "tasks", "rows": 1, "success": True},),
    )


def test_a_finished_slot_comes_back_as_it_was_until_its_shard_is_finished(store):
    plan, other = make_shard_plan(store.root, range(3)), make_shard_plan(store.root, range(3, 6))
    slots = {number: finished_slot(number) for number in (0, 2)}
    for slot in slots.values():
        keep_slot(store, plan, slot)
    assert kept_slots(store, plan) == slots
    assert kept_slots(store, other) == {}
    assert find_shard(store, plan) is None
    drop_slots(store, plan)
    assert kept_slots(store, plan) == {}


def test_a_slot_with_other_bytes_than_its_record_names_does_not_count(store):
    plan = make_shard_plan(store.root, range(2))
    task = make_task(0)
    package = task.package.model_copy(update={"public": {**task.package.public, "train.csv": b"other"}})
    keep_slot(
        store, plan, finished_slot(0).model_copy(update={"tasks": (task.model_copy(update={"package": package}),)})
    )
    keep_slot(store, plan, finished_slot(1))
    assert list(kept_slots(store, plan)) == [1]
