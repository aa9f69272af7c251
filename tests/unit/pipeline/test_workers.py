"""Workers outlive faults: a dead, hanging or raising item costs itself and nothing else."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from sandmill.errors import InvalidSubmission, ItemRejected, Problem
from sandmill.pipeline.workers import WorkerFault, WorkerLost, WorkerPool, WorkerTimeout
from tests.processes import is_alive, wait_until
from tests.unit.pipeline import jobs


@pytest.fixture(scope="module")
def pool() -> Iterator[WorkerPool]:
    with WorkerPool(2) as pool:
        yield pool


def gone_soon(pids: list[int]) -> bool:
    return wait_until(lambda: not any(map(is_alive, pids)), pause_s=0.02)


def test_every_item_comes_back_once_under_its_index(pool: WorkerPool):
    found = dict(pool.map(jobs.square, range(40), timeout_s=60))
    assert found == {number: number**2 for number in range(40)}
    assert list(pool.map(jobs.square, [], timeout_s=60)) == []


def test_errors_of_an_item_are_its_result(pool: WorkerPool):
    problem = InvalidSubmission("submission.csv", [Problem("line 1", "a", "b")])
    errors = [ValueError("no"), ItemRejected("calibrate", "flat_board", "why"), problem]
    found = dict(pool.map(jobs.throw, errors, timeout_s=60))
    assert [(type(found[index]), str(found[index])) for index in range(3)] == [(type(e), str(e)) for e in errors]
    assert found[1].reason == "flat_board"


def test_a_killed_worker_loses_only_its_item(pool: WorkerPool):
    found = dict(pool.map(jobs.die_if_negative, [1, -1, 2, -2, 3, 4], timeout_s=60))
    assert [found[index] for index in (0, 2, 4, 5)] == [1, 2, 3, 4]
    assert all(isinstance(found[index], WorkerLost) for index in (1, 3))
    assert "SIGKILL" in str(found[1])
    assert len(dict(pool.map(jobs.square, range(10), timeout_s=60))) == 10


def test_a_hanging_item_is_cut_off_with_all_that_it_started(pool: WorkerPool, tmp_path: Path):
    note = tmp_path / "pids"
    assert len(dict(pool.map(jobs.square, range(8), timeout_s=60))) == 8  # workers that have loaded what they need
    found = dict(pool.map(jobs.hang_if_path, [str(note), "", ""], timeout_s=4))
    assert isinstance(found[0], WorkerTimeout)
    assert [found[1], found[2]] == ["done", "done"]
    assert gone_soon([int(pid) for pid in note.read_text().split()])


@pytest.mark.parametrize("job", [jobs.give_unpicklable, jobs.throw_unpicklable, jobs.throw_unreadable])
def test_what_cannot_be_sent_back_is_a_fault_of_the_item(pool: WorkerPool, job):
    ((_, fault),) = pool.map(job, [None], timeout_s=60)
    assert isinstance(fault, WorkerFault)


def test_what_cannot_be_sent_out_is_a_fault_of_the_item(pool: WorkerPool):
    found = dict(pool.map(jobs.square, [lambda: None, 3], timeout_s=60))
    assert isinstance(found[0], WorkerFault)
    assert found[1] == 9


def test_a_worker_computes_on_one_thread_and_ignores_ctrl_c(pool: WorkerPool):
    ((_, seen),) = pool.map(jobs.describe, [None], timeout_s=60)
    assert seen == {"omp": "1", "openblas": "1", "blas_threads": [1], "sigint_ignored": True}


def test_closing_ends_the_processes_even_busy_ones(tmp_path: Path):
    note = tmp_path / "pids"
    with WorkerPool(1) as pool, ThreadPoolExecutor(1) as thread:
        waiting = thread.submit(lambda: dict(pool.map(jobs.hang_if_path, [str(note), ""], timeout_s=600)))
        while not note.exists() or len(note.read_text().split()) < 2:
            time.sleep(0.02)
        pool.close()
        outcomes = waiting.result(timeout=60)
    assert all(isinstance(outcome, WorkerLost) for outcome in outcomes.values())
    assert gone_soon([int(pid) for pid in note.read_text().split()])


_PARENT = """
from sandmill.pipeline.workers import WorkerPool
from tests.unit.pipeline import jobs
list(WorkerPool(2).map(jobs.say_pid_and_sleep, range(2), timeout_s=600))
"""


def test_busy_workers_die_with_a_parent_that_is_killed():
    paths = os.pathsep.join(path for path in sys.path if path)
    with subprocess.Popen(
        [sys.executable, "-c", _PARENT], stdout=subprocess.PIPE, text=True, env={**os.environ, "PYTHONPATH": paths}
    ) as parent:
        assert parent.stdout is not None
        pids = [int(parent.stdout.readline()) for _ in range(2)]
        assert all(is_alive(pid) for pid in pids)
        parent.send_signal(signal.SIGKILL)
        parent.wait()
    assert gone_soon(pids)


def test_the_most_urgent_item_is_next_and_of_equals_the_oldest():
    with WorkerPool(1) as pool, pool.batch(60) as batch:
        names = {batch.submit(jobs.nap, 0.5): "first"}
        for name, urgency in (("late", 0), ("urgent", 2), ("urgent too", 2), ("soon", 1)):
            names[batch.submit(jobs.echo, name, urgency)] = name
        assert [names[number] for number, _ in batch.ended()] == ["first", "urgent", "urgent too", "soon", "late"]


def test_the_batch_that_was_opened_first_goes_first_whatever_is_urgent():
    with WorkerPool(1) as pool, pool.batch(60) as older, pool.batch(60) as younger:
        older.submit(jobs.nap, 0.5)
        younger.submit(jobs.stamp, None, 9)
        older.submit(jobs.stamp, None)
        (_, later), (_, earlier) = next(younger.ended()), list(older.ended())[-1]
        assert earlier < later


def test_items_may_be_added_while_others_are_waited_for(pool: WorkerPool):
    found = []
    with pool.batch(60) as batch:
        batch.submit(jobs.square, 2)
        for _, result in batch.ended():
            found.append(result)
            if result < 200:
                batch.submit(jobs.square, result)
    assert found == [4, 16, 256]


def test_an_item_for_a_closed_pool_is_lost():
    pool = WorkerPool(1)
    pool.close()
    ((_, lost),) = pool.map(jobs.square, [1], timeout_s=60)
    assert isinstance(lost, WorkerLost)
