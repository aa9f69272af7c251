"""A pilot is the design's own training rows and test rows that are never published."""

import io
from functools import cache
from importlib import import_module
from unittest.mock import patch

import numpy as np
import polars as pl
import pytest

from sandmill.draw import Pilot, Rendered, draw_pilot, render
from sandmill.models.base import Part
from sandmill.models.spec import Sizes, TaskSpec
from sandmill.models.structure import MetricName, PathologyKind, SplitKind, TargetKind
from tests.designs import SECRET, make_spec

ORACLE = import_module("sandmill.draw.render")
FAULTS = (PathologyKind.MIXED_TYPES, PathologyKind.DUPLICATES, PathologyKind.TIMESTAMPS, PathologyKind.LABEL_NOISE)
SMALL, LARGE = Sizes(train=120, feedback=150, final=400), Sizes(train=120, feedback=250, final=900)
ROWS = 300
CASES = (
    (TargetKind.BINARY, MetricName.ROC_AUC, SplitKind.GROUPED),
    (TargetKind.MULTICLASS, MetricName.BALANCED_ACCURACY, SplitKind.STRATIFIED),
    (TargetKind.MULTILABEL, MetricName.F1_MICRO, SplitKind.RANDOM),
    (TargetKind.MULTI_TARGET, MetricName.RMSE_COLUMNS, SplitKind.TEMPORAL),
)


def sized(case, sizes) -> TaskSpec:
    target, metric, split = case
    return make_spec(target, metric, 4, split=split, pathologies=FAULTS).model_copy(update={"sizes": sizes})


@cache
def pilot_of(case, sizes=LARGE, replicate=0, rows=ROWS) -> Pilot:
    return draw_pilot(sized(case, sizes), SECRET, replicate, rows)


@cache
def rendered_of(case, sizes, replicate=0) -> Rendered:
    return render(sized(case, sizes), SECRET, replicate)


def cells(content: bytes) -> pl.DataFrame:
    return pl.read_csv(io.BytesIO(content), infer_schema=False).drop("id")


@pytest.fixture(
    params=[pytest.param(case, marks=[] if case == CASES[0] else pytest.mark.slow, id="-".join(case)) for case in CASES]
)
def case(request):
    return request.param


def test_training_rows_are_those_of_the_package_byte_for_byte(case):
    assert pilot_of(case).files["train.csv"] == rendered_of(case, SMALL).package.public["train.csv"]
    assert pilot_of(case, replicate=1).files["train.csv"] == rendered_of(case, SMALL, 1).package.public["train.csv"]
    assert pilot_of(case).files["train.csv"] != pilot_of(case, replicate=1).files["train.csv"]


def test_the_oracle_of_the_pilot_is_tuned_on_the_rows_of_the_package_s(case):
    pilot, rendered = pilot_of(case), rendered_of(case, SMALL)
    with patch.object(ORACLE, "TUNING_ROWS", 2000):
        assert len(pilot.oracle) == ROWS
        np.testing.assert_array_equal(pilot.drawn.rule.predict(rendered.test_draw.observed), rendered.oracle)


def test_rows_of_the_package_are_known_as_numbers_in_the_order_of_its_files(case):
    rendered = rendered_of(case, SMALL)
    for name, draw in (("train.csv", rendered.train_draw), ("test.csv", rendered.test_draw)):
        frame = cells(rendered.package.public[name])
        mechanism = rendered.package.spec.mechanism
        sentinels = {gap.column: gap.sentinel for gap in mechanism.missing() if gap.sentinel is not None}
        for column in {column.name for column in mechanism.columns} & set(frame.columns):
            empty, written = frame[column].is_null(), sentinels.get(column)
            gaps = empty if written is None else frame[column].cast(pl.Float64) == written
            np.testing.assert_array_equal(gaps.to_numpy(), np.isnan(draw.observed[column]), column)
            assert written is None or not empty.any()
        assert len(draw.target) == len(frame)
    target = rendered.test_draw.target
    np.testing.assert_array_equal(target.astype(rendered.answers.truth.dtype), rendered.answers.truth)


def test_pilot_rows_are_in_no_package(case):
    pilot = set(cells(pilot_of(case).files["test.csv"]).iter_rows())
    assert len(pilot) == ROWS
    package = rendered_of(case, LARGE).package
    features = cells(package.public["test.csv"]).columns
    for name in ("train.csv", "test.csv"):
        assert not pilot & set(cells(package.public[name]).select(features).iter_rows())


@pytest.mark.parametrize("part", [Part.FEEDBACK, Part.FINAL])
def test_a_part_of_a_larger_test_holds_the_rows_of_a_smaller_one(case, part):
    def rows(sizes):
        rendered = rendered_of(case, sizes)
        return set(cells(rendered.package.public["test.csv"]).filter(rendered.answers.part(part)).iter_rows())

    assert rows(SMALL) < rows(LARGE)
