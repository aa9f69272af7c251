"""What `throughput` times must exist under the names by which the Prefect tasks call it."""

import pytest

from benchmarks.throughput import LIBRARY_CALLS, resolved


@pytest.mark.parametrize("name", LIBRARY_CALLS)
def test_each_timed_library_call_exists(name):
    assert callable(resolved(name))
