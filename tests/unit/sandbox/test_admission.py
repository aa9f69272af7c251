"""Concurrent runs wait for descriptors of their parent, and are spread over its processors."""

import os
import resource
import threading
from contextlib import ExitStack

import pytest

from sandmill.sandbox.sandbox import RUN_DESCRIPTORS, Admission, Cancelled, most_runs


@pytest.fixture
def few(monkeypatch):
    """Room for two runs."""
    monkeypatch.setattr(resource, "getrlimit", lambda _: (3 * RUN_DESCRIPTORS, 1 << 20))
    return Admission()


def test_there_are_as_many_runs_as_descriptors_for_them(monkeypatch):
    for soft, runs in ((1024, 48), (20, 1), (resource.RLIM_INFINITY, 1 << 16)):
        monkeypatch.setattr(resource, "getrlimit", lambda _, soft=soft: (soft, resource.RLIM_INFINITY))
        assert most_runs() == runs


def test_a_run_too_many_waits_until_one_ends(few):
    assert most_runs() == 2
    begun = threading.Event()

    def run() -> None:
        with few.admit(None):
            begun.set()

    with few.admit(None):
        with few.admit(None):
            waiting = threading.Thread(target=run)
            waiting.start()
            assert not begun.wait(0.3)
        assert begun.wait(10)
        waiting.join()


def test_a_run_that_waits_can_be_cancelled(few):
    cancel = threading.Event()
    with few.admit(None), few.admit(None):
        threading.Timer(0.2, cancel.set).start()
        with pytest.raises(Cancelled), few.admit(None, cancel):
            pass
    with few.admit(None), few.admit(None):
        pass


def test_a_forked_copy_does_not_wait_for_runs_of_its_parent():
    from sandmill.sandbox.sandbox import ADMISSION

    with ExitStack() as stack:
        for _ in range(3):
            stack.enter_context(ADMISSION.admit(None))
        pid = os.fork()
        if not pid:
            os._exit(ADMISSION._running)
        _, status = os.waitpid(pid, 0)
    assert os.waitstatus_to_exitcode(status) == 0


def test_runs_spread_over_the_processors(monkeypatch):
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {1, 3, 4, 6})
    admission = Admission()
    with admission.admit(2) as first, admission.admit(2) as second:
        assert sorted(first + second) == [1, 3, 4, 6]
        with admission.admit(1) as third, admission.admit(1) as fourth:
            assert third != fourth
    with admission.admit(4) as all_of_them, admission.admit(None) as any_of_them:
        assert all_of_them == any_of_them == ()


def test_processors_of_a_run_that_ended_are_taken_again(monkeypatch):
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0, 1})
    admission = Admission()
    with admission.admit(1) as first:
        with admission.admit(1) as second:
            pass
        with admission.admit(1) as third:
            assert third == second != first
