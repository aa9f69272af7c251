"""What must hold of the gates' statistics for any data."""

from itertools import combinations

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sandmill.check.dependence import area_under_curve, clustering_p_value, share_by_neighbour
from sandmill.check.gates import check_package
from tests.packages import KINDS, edit, make_package, rename_ids


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


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
def test_fresh_ids_and_a_fresh_order_keep_a_healthy_package_healthy(kind, seed):
    rng = np.random.default_rng(seed)
    names = rng.permutation(10**6)[:600]
    package = edit(make_package(kind), "train.csv", lambda frame: frame[rng.permutation(frame.height).tolist()])
    found = check_package(rename_ids(package, lambda number, *_: f"{names[number]:06x}"))
    assert [finding for finding in found if finding.gate != "description"] == []


@settings(max_examples=15, deadline=None)
@given(st.sampled_from(list(KINDS.values())), st.integers(0, 4) | st.integers(7, 30))
def test_copied_rows_are_found_from_one_in_a_hundred_on(kind, count):
    package = make_package(kind)
    train = pl.read_csv(package.public["train.csv"], infer_schema=False).drop(
        "journey_id", *package.facts.target_columns
    )

    def copy(frame):
        return frame.with_columns(pl.concat([train[:count], frame.select(train.columns)[count:]]))

    found = {finding.gate for finding in check_package(edit(package, "test.csv", copy))}
    assert ("twins" in found) == (count > 6)
