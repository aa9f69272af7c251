"""A warm run has few page faults in its first fit, and the caches of libraries are filled before it."""

import platform
import socket
import time

import pytest

from sandmill.sandbox.guest import preload

FIT = """
import resource
import numpy as np
from sklearn.linear_model import LogisticRegression
before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
import pandas as pd
table = pd.read_csv("public/train.csv")
features = np.arange(300.0).reshape(150, 2) % 7
LogisticRegression().fit(pd.DataFrame(features, columns=["a", "b"]), features[:, 0] > 3)
table.to_csv("table.csv", index=False)
print(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before)
"""
ASKED = """
from narwhals.plugins import _discover_entrypoints
from pandas.io.common import _get_binary_io_classes
print(_discover_entrypoints.cache_info().currsize, _get_binary_io_classes.cache_info().currsize)
"""
HELD = [(4096 * n, 4096, True) for n in range(200)]


def faults(box, public):
    """Return the smallest number of page faults of a fit in several runs, each prepared in advance."""
    found = []
    for _ in range(5):
        time.sleep(0.5)
        found.append(int(box.run(FIT, public=public).stdout))
    return min(found)


def can_populate():
    major, minor = platform.release().split(".")[:2]
    return (int(major), int(minor)) >= (5, 14)


@pytest.mark.parametrize("name", ["warm", "warm without root"])
@pytest.mark.skipif(not can_populate(), reason="memory can be touched ahead from Linux 5.14 on")
def test_a_run_has_touched_what_a_fit_touches(name, open_box, agent_env, public):
    """Without a rehearsal this fit costs 2,800 faults, with one 80."""
    assert faults(open_box(name), public) < 800


def test_libraries_were_asked_once_before_the_run(warm, public):
    assert warm.run(ASKED, public=public).stdout == "1 1\n"


@pytest.fixture
def touched(monkeypatch):
    spans = []
    monkeypatch.setattr(preload.kernel, "populate", lambda *span: spans.append(span))
    return spans


def test_a_job_does_not_wait_for_it(touched):
    near, far = socket.socketpair()
    with near, far:
        far.send(b"run")
        preload.touch_ahead(HELD, near)
    assert touched == []
