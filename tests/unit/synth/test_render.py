import io

import numpy as np
import polars as pl
import pytest

from sandmill.metrics import get_metric
from sandmill.metrics.submission import parse_submission, read_answers
from sandmill.models.mechanism import Categorical
from sandmill.models.structure import TargetKind
from tests.designs import TASKS, make_rendered


@pytest.fixture(params=TASKS, ids=lambda task: f"{task[0]}-{task[1]}")
def rendered(request):
    return make_rendered(*request.param)


def frame(rendered, name):
    return pl.read_csv(io.BytesIO(rendered.package.public[name]), infer_schema_length=None)


def test_the_answers_read_back_are_the_truth_that_was_drawn(rendered):
    answers = read_answers(rendered.package.private["answers.csv"], rendered.package.brief)
    assert answers.ids == rendered.answers.ids
    np.testing.assert_array_equal(answers.truth, rendered.answers.truth)
    np.testing.assert_array_equal(answers.is_final, rendered.answers.is_final)


def test_the_sample_is_a_valid_submission(rendered):
    package = rendered.package
    prediction = parse_submission(package.public["sample_submission.csv"], package.brief, rendered.answers.ids)
    assert len(prediction) == len(rendered.answers.ids)
    assert len(np.unique(prediction, axis=0)) == 1


def test_the_oracle_beats_every_constant_by_far(rendered):
    metric = get_metric(rendered.package.brief.metric)
    truth = rendered.answers.truth
    constants = {
        "probability": [np.full(len(truth), truth.mean())],
        "label": [np.full(len(truth), code) for code in range(len(rendered.package.brief.classes))],
        "class_probabilities": [np.tile(np.bincount(truth.astype(int)) / len(truth), (len(truth), 1))]
        if rendered.package.brief.target is not TargetKind.REGRESSION
        else [],
        "value": [np.full(len(truth), truth.mean())],
    }[rendered.package.brief.encoding]
    sign = -1 if metric.is_lower_better else 1
    best = max(sign * metric.score(truth, constant) for constant in constants)
    assert sign * metric.score(truth, rendered.oracle) > best + 0.05


def test_sizes_parts_and_columns_are_those_of_the_design(rendered):
    package = rendered.package
    train, test = frame(rendered, "train.csv"), frame(rendered, "test.csv")
    names = [column.name for column in package.spec.mechanism.columns]
    assert train.columns == ["id", *names, package.brief.target_column]
    assert test.columns == ["id", *names]
    assert len(train) == package.spec.sizes.train
    assert len(test) == package.spec.sizes.feedback + package.spec.sizes.final
    assert rendered.answers.is_final.sum() == package.spec.sizes.final
    assert train["id"].n_unique() + test["id"].n_unique() == len(train) + len(test)


def test_only_declared_cells_are_empty(rendered):
    gapped = {gap.column for gap in rendered.package.spec.mechanism.missing()}
    test = frame(rendered, "test.csv")
    assert {name for name in test.columns if test[name].null_count()} == gapped


def test_numbers_have_the_declared_decimals_and_categories_the_declared_levels(rendered):
    test = frame(rendered, "test.csv")
    for column in rendered.package.spec.mechanism.columns:
        cells = test[column.name].drop_nulls()
        if isinstance(column.distribution, Categorical):
            assert set(cells) <= set(column.distribution.levels)
        else:
            scaled = cells.cast(pl.Float64).to_numpy() * 10**column.decimals
            np.testing.assert_allclose(scaled, np.round(scaled), atol=1e-4 * max(1, np.abs(scaled).max() * 1e-9))


def test_the_description_reads_like_a_competition_page(rendered):
    package = rendered.package
    text = package.public["description.md"].decode()
    sections = [line for line in text.splitlines() if line.startswith("#")]
    assert sections == [f"# {package.spec.story.title}", *(f"## {s}" for s in SECTIONS)]
    assert get_metric(package.brief.metric).title in text
    sample = package.public["sample_submission.csv"].decode().splitlines()[:4]
    assert "```csv\n" + "\n".join(sample) + "\n```" in text


SECTIONS = ("Overview", "Files", "Columns", "Evaluation", "Submission")
