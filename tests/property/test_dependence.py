"""What must hold of the gates' statistics for any data."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sandmill.check.dependence import (
    area_under_curve,
    clustering_p_value,
    share_by_neighbour,
)


def count_runs(marks):
    return int(marks[0]) + int(np.sum(marks[1:] & ~marks[:-1]))


@pytest.mark.parametrize(("rows", "marked"), [(6, 2), (7, 3), (9, 4)])
def test_the_runs_test_is_exact(rows, marked):
    orders = [np.isin(np.arange(rows), places) for places in combinations(range(rows), marked)]
    runs = [count_runs(order) for order in orders]
    for order, saw in zip(orders, runs, strict=True):
        below, above = np.mean([r <= saw for r in runs]), np.mean([r >= saw for r in runs])
        assert clustering_p_value(order) == pytest.approx(min(1, 2 * min(below, above)))


@given(st.integers(0, 10_000))
def test_noise_tells_nothing(seed):
    rng = np.random.default_rng(seed)
    column, target = rng.normal(size=2000), rng.integers(0, 3, 2000).astype(float)
    assert abs(share_by_neighbour(column, target, is_class=True)) < 0.2
    assert abs(share_by_neighbour(column, rng.normal(size=2000), is_class=False)) < 0.2
    assert area_under_curve(column, target > 0) < 0.6
