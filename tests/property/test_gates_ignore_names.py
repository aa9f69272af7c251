"""Gates judge a package by its content, whatever its rows are called and in whatever order they stand."""

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sandmill.check.gates import check_package
from tests.packages import KINDS, edit, make_package, rename_ids


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
