"""What must hold of the gates' statistics for any data."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sandmill.check.dependence import (
    area_under_curve,
    clustering_p_value,
    correlate_ranks,
    share_by_level,
    share_by_neighbour,
)

FLOATS = st.lists(st.integers(-1000, 1000).map(float), min_size=5, max_size=60)


def count_runs(marks):
    return int(marks[0]) + int(np.sum(marks[1:] & ~marks[:-1]))


@pytest.mark.parametrize(("rows", "marked"), [(6, 2), (7, 3), (9, 4)])
def test_the_runs_test_is_exact(rows, marked):
    orders = [np.isin(np.arange(rows), places) for places in combinations(range(rows), marked)]
    runs = [count_runs(order) for order in orders]
    for order, saw in zip(orders, runs, strict=True):
        below, above = np.mean([r <= saw for r in runs]), np.mean([r >= saw for r in runs])
        assert clustering_p_value(order) == pytest.approx(min(1, 2 * min(below, above)))


@given(FLOATS, st.randoms(use_true_random=False))
def test_rank_correlation_ignores_how_a_column_is_scaled_and_knows_its_direction(values, random):
    other = list(values)
    random.shuffle(other)
    left, right = np.array(values), np.array(other)
    rho, p = correlate_ranks(left, right)
    assert -1 - 1e-9 <= rho <= 1 + 1e-9
    assert 0 <= p <= 1
    assert correlate_ranks(np.exp(left / 500), right)[0] == pytest.approx(rho)
    assert correlate_ranks(-left, right)[0] == pytest.approx(-rho)


@given(FLOATS)
def test_a_column_tells_itself_wholly(values):
    column = np.array(values)
    if len(set(values)) > 1:
        assert correlate_ranks(column, column)[0] == pytest.approx(1)
        assert area_under_curve(column, column > column.min()) == 1
        levels = np.unique(column, return_inverse=True)[1]
        assert share_by_level(levels, column, is_class=False) == pytest.approx(1)
        assert share_by_level(levels, levels.astype(float), is_class=True) == pytest.approx(1)
        assert share_by_neighbour(column, levels.astype(float), is_class=True) == pytest.approx(1)


@given(st.integers(0, 10_000))
def test_noise_tells_nothing(seed):
    rng = np.random.default_rng(seed)
    column, target = rng.normal(size=2000), rng.integers(0, 3, 2000).astype(float)
    assert abs(share_by_neighbour(column, target, is_class=True)) < 0.2
    assert abs(share_by_neighbour(column, rng.normal(size=2000), is_class=False)) < 0.2
    assert area_under_curve(column, target > 0) < 0.6
