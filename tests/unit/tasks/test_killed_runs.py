"""A process is gone only if that is certain: a run that lives elsewhere must never be marked."""

import os
import subprocess
import sys
from dataclasses import replace

import pytest

from tasks.killed_runs import ProcessIdentity

HERE = ProcessIdentity.of(os.getpid())


@pytest.fixture
def ended() -> ProcessIdentity:
    """A process of this machine that was killed."""
    with subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"]) as process:
        identity = ProcessIdentity.of(process.pid)
        process.kill()
        process.wait()
    assert identity is not None
    return identity


def test_a_living_process_is_not_gone():
    assert HERE is not None
    assert not HERE.is_gone


def test_a_killed_process_is_gone(ended):
    assert ended.is_gone


def test_a_process_id_that_is_used_again_is_another_process():
    assert replace(HERE, started=HERE.started - 1).is_gone


def test_a_process_before_the_reboot_is_gone():
    machine = HERE.machine or pytest.skip("this machine has no /etc/machine-id")
    assert replace(HERE, machine=machine, boot="an earlier one").is_gone


@pytest.mark.parametrize(
    "elsewhere",
    [{"host": "another"}, {"machine": "another"}, {"namespace": "pid:[1]"}, {"machine": "", "boot": "another"}],
    ids=str,
)
def test_a_process_that_cannot_be_seen_from_here_is_never_gone(ended, elsewhere):
    assert not replace(ended, **elsewhere).is_gone


def test_labels_give_the_identity_back():
    assert ProcessIdentity.from_labels({**HERE.labels, "prefect.flow.id": "x"}) == HERE
    assert ProcessIdentity.from_labels({"prefect.flow.id": "x"}) is None
