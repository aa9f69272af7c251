"""Rendered packages of every target, form of submission and split: the files say what was drawn and what is asked."""

import csv
import io
from collections.abc import Iterator
from functools import cache
from importlib import import_module
from unittest.mock import patch

import numpy as np
import polars as pl
import pytest

from sandmill.draw import Pilot, Rendered, draw_pilot, render
from sandmill.models.base import Part
from sandmill.models.columns import Date
from sandmill.models.spec import Sizes, TaskSpec
from sandmill.models.structure import MetricName, PathologyKind, SplitKind, TargetKind
from sandmill.scoring import get_metric
from sandmill.scoring.submission import parse_submission, read_answers
from sandmill.scoring.support import ANSWER_FORMS
from tests.designs import SECRET, make_spec
from tests.submission_mutants import write

ORACLE = import_module("sandmill.draw.render")
FAULTS = (
    PathologyKind.MIXED_TYPES,
    PathologyKind.DUPLICATES,
    PathologyKind.TIMESTAMPS,
    PathologyKind.HIGH_CARDINALITY,
    PathologyKind.LABEL_NOISE,
)
FEEDBACK, FINAL = 400, 800
FORMS = list(dict.fromkeys((target, encoding) for (target, _), encoding in ANSWER_FORMS.items()))
LEAST_LEAD = 0.02
"""Share of the way from the sample to a perfect score that the oracle leads by, at least."""


def cases() -> Iterator[tuple[TargetKind, MetricName, SplitKind]]:
    """Every form in every split, its metrics in turn."""
    for place, (target, encoding) in enumerate(FORMS):
        metrics = [metric for (kind, metric), form in ANSWER_FORMS.items() if (kind, form) == (target, encoding)]
        for number, split in enumerate(SplitKind):
            yield target, metrics[(place + number) % len(metrics)], split


CASES = list(cases())
FAST = [case for place, case in enumerate(CASES) if (place // len(SplitKind) + place) % len(SplitKind) == 1][::2]
"""One split of every other form."""


@cache
def rendered_of(target, metric, split):
    spec = make_spec(target, metric, 4, split=split, pathologies=FAULTS)
    small = spec.model_copy(update={"sizes": Sizes(train=spec.sizes.train, feedback=FEEDBACK, final=FINAL)})
    with patch.object(ORACLE, "TUNING_ROWS", 5000):
        return render(small, SECRET)


@pytest.fixture(
    params=[pytest.param(case, marks=[] if case in FAST else pytest.mark.slow, id="-".join(case)) for case in CASES]
)
def rendered(request):
    return rendered_of(*request.param)


def frame(rendered, name):
    return pl.read_csv(io.BytesIO(rendered.package.public[name]), infer_schema=False)


def rows(content):
    return list(csv.DictReader(io.StringIO(content.decode())))


def test_the_answers_read_back_are_the_truth_that_was_drawn(rendered):
    answers = read_answers(rendered.package.private["answers.csv"], rendered.package.facts)
    assert answers.ids == rendered.answers.ids
    np.testing.assert_array_equal(answers.truth, rendered.answers.truth)
    np.testing.assert_array_equal(answers.is_final, rendered.answers.is_final)
    assert answers.truth.dtype == rendered.answers.truth.dtype


def test_the_sample_is_a_valid_submission_and_knows_nothing(rendered):
    package = rendered.package
    prediction = parse_submission(package.public["sample_submission.csv"], package.facts, rendered.answers.ids)
    assert len(prediction) == len(rendered.answers.ids)
    assert len(np.unique(prediction, axis=0)) == 1
    header = package.public["sample_submission.csv"].decode().splitlines()[0]
    assert header == ",".join(["id", *package.facts.submission_columns])


def test_the_oracle_is_a_valid_submission_and_clearly_better_than_the_sample(rendered):
    package, truth = rendered.package, rendered.answers.truth
    facts, metric = package.facts, get_metric(package.facts.metric)
    sample = parse_submission(package.public["sample_submission.csv"], facts, rendered.answers.ids)
    read = parse_submission(write(facts, rendered.answers.ids, rendered.oracle), facts, rendered.answers.ids)
    np.testing.assert_allclose(read, rendered.oracle, rtol=1e-12)
    worse, better = (metric.score(truth, prediction) for prediction in (sample, rendered.oracle))
    if metric.is_lower_better:
        assert better < worse * (1 - LEAST_LEAD)
    else:
        assert better > worse + LEAST_LEAD


def test_sizes_parts_and_columns_are_those_of_the_design(rendered):
    package = rendered.package
    train, test = frame(rendered, "train.csv"), frame(rendered, "test.csv")
    names = [column.name for column in package.spec.mechanism.columns]
    assert train.columns == ["id", *names, *package.facts.target_columns]
    assert test.columns == ["id", *names]
    assert len(train) == package.spec.sizes.train
    assert len(test) == FEEDBACK + FINAL
    is_final = rendered.answers.is_final
    assert is_final.sum() == FINAL
    assert 0.2 < (is_final[1:] != is_final[:-1]).mean() < 0.7, "rows of both parts are mixed"
    assert train["id"].n_unique() + test["id"].n_unique() == len(train) + len(test)
    assert not set(train["id"]) & set(test["id"])


def test_only_declared_cells_are_empty(rendered):
    gaps = rendered.package.spec.mechanism.missing()
    gapped = {gap.column for gap in gaps if gap.sentinel is None}
    test = frame(rendered, "test.csv")
    told = [gap for gap in gaps if gap.sentinel is not None]
    assert all((test[gap.column].cast(pl.Float64, strict=False) == gap.sentinel).any() for gap in told)
    assert {name for name in test.columns if test[name].null_count()} == gapped
    train = frame(rendered, "train.csv")
    label_lists = set(rendered.package.facts.target_columns if rendered.package.facts.encoding == "label_list" else ())
    assert {name for name in train.columns if train[name].null_count()} <= gapped | label_lists


def test_train_and_test_are_apart_as_the_split_says(rendered):
    spec = rendered.package.spec
    train, test = frame(rendered, "train.csv"), frame(rendered, "test.csv")
    unit = spec.mechanism.unit_column()
    assert (unit is not None) == (spec.split is SplitKind.GROUPED)
    if unit is not None:
        parts = [
            set(test[unit].filter(pl.Series(of))) for of in (rendered.answers.is_final, ~rendered.answers.is_final)
        ]
        assert not set(train[unit]) & (parts[0] | parts[1])
        assert not parts[0] & parts[1]
        assert test[unit].n_unique() > 50
        for column in spec.mechanism.columns:
            if column.unit:
                assert test.group_by(unit).agg(pl.col(column.name).n_unique())[column.name].max() == 1
    (day,) = [column.name for column in spec.mechanism.columns if isinstance(column.distribution, Date)]
    assert (min(test[day]) > max(train[day])) == (spec.split is SplitKind.TEMPORAL)


def test_a_copy_is_written_as_its_original_is(rendered):
    """Also where some numbers have their unit behind them."""
    spec, target = rendered.package.spec, list(rendered.package.facts.target_columns)
    train = frame(rendered, "train.csv").select(*(column.name for column in spec.mechanism.columns), *target)
    bare = train.with_columns(
        pl.col(fault.column).str.strip_suffix(f" {fault.suffix}") for fault in spec.mechanism.mixed_types()
    )
    assert bare.n_unique() == train.n_unique() < len(train)


PILOT_FAULTS = (
    PathologyKind.MIXED_TYPES,
    PathologyKind.DUPLICATES,
    PathologyKind.TIMESTAMPS,
    PathologyKind.LABEL_NOISE,
)
SMALL, LARGE = Sizes(train=120, feedback=150, final=400), Sizes(train=120, feedback=250, final=900)
ROWS = 300
PILOT_CASES = (
    (TargetKind.BINARY, MetricName.ROC_AUC, SplitKind.GROUPED),
    (TargetKind.MULTICLASS, MetricName.BALANCED_ACCURACY, SplitKind.STRATIFIED),
    (TargetKind.MULTILABEL, MetricName.F1_MICRO, SplitKind.RANDOM),
    (TargetKind.MULTI_TARGET, MetricName.RMSE_COLUMNS, SplitKind.TEMPORAL),
)


def sized(case, sizes) -> TaskSpec:
    target, metric, split = case
    return make_spec(target, metric, 4, split=split, pathologies=PILOT_FAULTS).model_copy(update={"sizes": sizes})


@cache
def pilot_of(case, sizes=LARGE, replicate=0, rows=ROWS) -> Pilot:
    return draw_pilot(sized(case, sizes), SECRET, replicate, rows)


@cache
def rendered_at(case, sizes, replicate=0) -> Rendered:
    return render(sized(case, sizes), SECRET, replicate)


def cells(content: bytes) -> pl.DataFrame:
    return pl.read_csv(io.BytesIO(content), infer_schema=False).drop("id")


@pytest.fixture(
    params=[
        pytest.param(case, marks=[] if case == PILOT_CASES[0] else pytest.mark.slow, id="-".join(case))
        for case in PILOT_CASES
    ]
)
def case(request):
    return request.param


def test_training_rows_are_those_of_the_package_byte_for_byte(case):
    assert pilot_of(case).files["train.csv"] == rendered_at(case, SMALL).package.public["train.csv"]
    assert pilot_of(case, replicate=1).files["train.csv"] == rendered_at(case, SMALL, 1).package.public["train.csv"]
    assert pilot_of(case).files["train.csv"] != pilot_of(case, replicate=1).files["train.csv"]


def test_the_oracle_of_the_pilot_is_tuned_on_the_rows_of_the_package_s(case):
    pilot, rendered = pilot_of(case), rendered_at(case, SMALL)
    with patch.object(ORACLE, "TUNING_ROWS", 2000):
        assert len(pilot.oracle) == ROWS
        np.testing.assert_array_equal(pilot.drawn.rule.predict(rendered.test_draw.observed), rendered.oracle)


def test_rows_of_the_package_are_known_as_numbers_in_the_order_of_its_files(case):
    rendered = rendered_at(case, SMALL)
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
    package = rendered_at(case, LARGE).package
    features = cells(package.public["test.csv"]).columns
    for name in ("train.csv", "test.csv"):
        assert not pilot & set(cells(package.public[name]).select(features).iter_rows())


@pytest.mark.parametrize("part", [Part.FEEDBACK, Part.FINAL])
def test_a_part_of_a_larger_test_holds_the_rows_of_a_smaller_one(case, part):
    def rows(sizes):
        rendered = rendered_at(case, sizes)
        return set(cells(rendered.package.public["test.csv"]).filter(rendered.answers.part(part)).iter_rows())

    assert rows(SMALL) < rows(LARGE)
