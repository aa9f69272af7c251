"""The rows that a design is measured on are the rows that are published, and a few that never are."""

import io
from functools import cache
from importlib import import_module
from unittest.mock import patch

import numpy as np
import polars as pl
import pytest

from sandmill.models.base import Part
from sandmill.models.spec import Sizes, TaskSpec
from sandmill.models.structure import MetricName, PathologyKind, SplitKind, TargetKind
from sandmill.synth import Pool, Rendered, draw_pool, render
from sandmill.synth.pool import PILOT
from tests.designs import SECRET, make_spec

POOL, RENDER = import_module("sandmill.synth.pool"), import_module("sandmill.synth.render")
FAULTS = (PathologyKind.MIXED_TYPES, PathologyKind.DUPLICATES, PathologyKind.TIMESTAMPS, PathologyKind.LABEL_NOISE)
SMALL, LARGE = Sizes(train=120, feedback=150, final=400), Sizes(train=120, feedback=250, final=900)
PILOT_ROWS = 300
CASES = (
    (TargetKind.BINARY, MetricName.ROC_AUC, SplitKind.GROUPED),
    (TargetKind.MULTICLASS, MetricName.BALANCED_ACCURACY, SplitKind.STRATIFIED),
    (TargetKind.MULTILABEL, MetricName.F1_MICRO, SplitKind.RANDOM),
    (TargetKind.MULTI_TARGET, MetricName.RMSE_COLUMNS, SplitKind.TEMPORAL),
)
GROUPED = CASES[0]


def sized(case, sizes) -> TaskSpec:
    target, metric, split = case
    return make_spec(target, metric, 4, split=split, pathologies=FAULTS).model_copy(update={"sizes": sizes})


@cache
def pool_of(case, sizes=LARGE, replicate=0) -> Pool:
    with patch.object(POOL, "PILOT_ROWS", PILOT_ROWS), patch.object(RENDER, "TUNING_ROWS", 2000):
        return draw_pool(sized(case, sizes), SECRET, replicate)


@cache
def rendered_of(case, sizes, replicate=0) -> Rendered:
    with patch.object(RENDER, "TUNING_ROWS", 2000):
        rendered = render(sized(case, sizes), SECRET, replicate)
        rendered.oracle  # noqa: B018  worked out while the patch holds
        return rendered


def cells(content: bytes) -> pl.DataFrame:
    return pl.read_csv(io.BytesIO(content), infer_schema=False).drop("id")


@pytest.fixture(params=CASES, ids=lambda case: "-".join(case))
def case(request):
    return request.param


def test_training_rows_are_those_of_the_package_byte_for_byte(case):
    assert pool_of(case).train == rendered_of(case, SMALL).package.public["train.csv"]
    assert pool_of(case, replicate=1).train == rendered_of(case, SMALL, 1).package.public["train.csv"]


@pytest.mark.parametrize("sizes", [SMALL, LARGE], ids=["small", "as far as it goes"])
def test_published_rows_are_those_of_the_rendered_test_in_order(case, sizes):
    pool, rendered = pool_of(case), rendered_of(case, sizes)
    rows, is_final = pool.published(sizes)
    assert cells(pool.test)[rows].equals(cells(rendered.package.public["test.csv"]))
    np.testing.assert_array_equal(pool.truth[rows], rendered.answers.truth)
    assert pool.truth.dtype == rendered.answers.truth.dtype
    np.testing.assert_array_equal(is_final, rendered.answers.is_final)


def test_the_oracle_of_published_rows_is_that_of_the_package(case):
    pool, rendered = pool_of(case), rendered_of(case, SMALL)
    np.testing.assert_allclose(pool.oracle[pool.published(SMALL)[0]], rendered.oracle, rtol=1e-9)


def test_numbers_of_published_rows_are_those_of_the_package(case):
    pool, rendered = pool_of(case), rendered_of(case, SMALL)
    drawn = pool.test_draw.take(pool.published(SMALL)[0])
    assert set(drawn.observed) == set(rendered.observed)
    for name, numbers in rendered.observed.items():
        np.testing.assert_array_equal(drawn.observed[name], numbers)


def test_training_numbers_are_in_the_order_of_the_file():
    case = CASES[3]
    target = cells(pool_of(case).train).select(pool_of(case).brief.target_columns).cast(pl.Float64)
    np.testing.assert_allclose(pool_of(case).train_draw.target, target.to_numpy())


def test_a_larger_test_begins_with_the_rows_of_a_smaller_one(case):
    small, large = (rendered_of(case, sizes).package for sizes in (SMALL, LARGE))
    assert small.public["train.csv"] == large.public["train.csv"]
    pools = pool_of(case, SMALL), pool_of(case, LARGE)
    for part, rows in ((Part.FEEDBACK, SMALL.feedback), (Part.FINAL, SMALL.final)):
        less, more = (cells(pool.test)[pool.first(part, rows)] for pool in pools)
        assert less.equals(more)
        drawn = [pool.truth[pool.first(part, rows)] for pool in pools]
        np.testing.assert_array_equal(*drawn)


def test_each_part_of_a_smaller_test_is_the_beginning_of_that_part(case):
    pool = pool_of(case)
    rows, is_final = pool.published(SMALL)
    for part, wanted in ((Part.FEEDBACK, ~is_final), (Part.FINAL, is_final)):
        place = pool.first(part, int(wanted.sum()))
        assert sorted(rows[wanted]) == list(range(place.start, place.stop))


def test_pilot_rows_are_in_no_package(case):
    pool = pool_of(case)
    pilot = set(cells(pool.test)[pool.rows[PILOT]].iter_rows())
    assert len(pilot) == PILOT_ROWS
    package = rendered_of(case, LARGE).package
    features = cells(package.public["test.csv"]).columns
    for name in ("train.csv", "test.csv"):
        assert not pilot & set(cells(package.public[name]).select(features).iter_rows())


def test_units_of_the_pilot_are_in_no_package():
    pool = pool_of(GROUPED)
    unit = pool.spec.mechanism.unit_column()
    pilot = set(cells(pool.test)[pool.rows[PILOT]][unit])
    published = rendered_of(GROUPED, LARGE).package.public
    assert not pilot & {name for file in ("train.csv", "test.csv") for name in cells(published[file])[unit]}


def test_ids_of_the_pool_tell_nothing_of_published_ones(case):
    pool = pl.read_csv(io.BytesIO(pool_of(case).test), infer_schema=False)["id"]
    public = rendered_of(case, LARGE).package.public
    ids = {row for name in ("train.csv", "test.csv") for row in pl.read_csv(io.BytesIO(public[name]))["id"]}
    assert pool.n_unique() == len(pool)
    assert not set(pool) & ids


def test_rows_are_named_by_the_design_without_the_size_of_its_test():
    spec = sized(GROUPED, SMALL)
    assert sized(GROUPED, LARGE).rows_key == spec.rows_key
    assert sized(GROUPED, LARGE).fingerprint != spec.fingerprint
    assert sized(GROUPED, SMALL.model_copy(update={"train": 121})).rows_key != spec.rows_key
    assert sized(CASES[1], SMALL).rows_key != spec.rows_key
