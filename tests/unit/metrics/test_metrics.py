import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sandmill.errors import RequestError
from sandmill.metrics import SUPPORTED, encoding_for, get_metric
from sandmill.metrics.support import ENCODINGS
from sandmill.models.predictive import ClassPredictive, NumberPredictive
from sandmill.models.structure import MetricName, TargetKind

CASES = [
    ("roc_auc", [0, 1, 1, 0, 1], [0.2, 0.7, 0.2, 0.1, 0.9], 5.5 / 6),
    ("accuracy", [0, 2, 1, 1], [0, 2, 2, 1], 0.75),
    ("log_loss", [1, 0], [0.8, 0.4], -(np.log(0.8) + np.log(0.6)) / 2),
    ("log_loss", [1, 0], [1.0, 1.0], -np.log(np.finfo(float).eps) / 2),
    ("log_loss", [2, 0], [[0.1, 0.2, 0.7], [0.5, 0.3, 0.2]], -(np.log(0.7) + np.log(0.5)) / 2),
    ("rmse", [1.0, 2.0, 4.0], [1.0, 0.0, 5.0], np.sqrt(5 / 3)),
]


@pytest.mark.parametrize(("name", "truth", "prediction", "score"), CASES)
def test_scores_are_those_worked_out_by_hand(name, truth, prediction, score):
    assert get_metric(name).score(np.array(truth), np.array(prediction)) == pytest.approx(score, abs=1e-12)


@pytest.mark.parametrize(("name", "truth", "prediction", "score"), CASES)
def test_a_bootstrap_that_draws_every_row_once_is_the_score(name, truth, prediction, score):
    resampled = get_metric(name).resample(np.array(truth), np.array(prediction), np.ones((2, len(truth))))
    assert resampled == pytest.approx([score, score], abs=1e-9)


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**32 - 1), st.sampled_from(sorted(ENCODINGS)))
def test_a_bootstrap_is_the_score_of_the_rows_it_drew(seed, task):
    rng = np.random.default_rng(seed)
    metric, encoding, rows = get_metric(task[1]), ENCODINGS[task], 30
    truth = rng.normal(size=rows) if task[0] is TargetKind.REGRESSION else rng.integers(0, 2, rows)
    truth[:2] = (0, 1)
    prediction = {
        "probability": rng.choice([0.1, 0.5, 0.9], rows),
        "label": rng.integers(0, 2, rows),
        "class_probabilities": rng.dirichlet(np.ones(3), rows),
        "value": rng.normal(size=rows),
    }[encoding]
    counts = rng.multinomial(rows, np.full(rows, 1 / rows), size=3).astype(float)
    counts[:, :2] += 1
    repeated = [metric.score(np.repeat(truth, c), np.repeat(prediction, c, axis=0)) for c in counts.astype(int)]
    assert metric.resample(truth, prediction, counts) == pytest.approx(repeated, abs=1e-9)


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 2**32 - 1), st.sampled_from([t for t in ENCODINGS if t[0] is not TargetKind.REGRESSION]))
def test_the_declared_decision_beats_any_perturbed_one_in_expectation(seed, task):
    rng = np.random.default_rng(seed)
    metric = get_metric(task[1])
    classes = 2 if task[0] is TargetKind.BINARY else 3
    probabilities = rng.dirichlet(np.ones(classes), 4)
    decided = metric.decide(ClassPredictive(probabilities))
    rows = np.repeat(np.arange(4), 4000)
    truth = (rng.random((len(rows), 1)) > np.cumsum(probabilities[rows], axis=1)).sum(axis=1).clip(0, classes - 1)
    other = metric.decide(ClassPredictive(rng.dirichlet(np.ones(classes), 4)))
    sign = -1 if metric.is_lower_better else 1
    assert sign * metric.score(truth, decided[rows]) >= sign * metric.score(truth, other[rows]) - 0.03


def test_the_mean_is_decided_for_squared_error():
    assert get_metric("rmse").decide(NumberPredictive(np.array([1.0, 2.0]))).tolist() == [1.0, 2.0]
    with pytest.raises(TypeError, match="posterior mean"):
        get_metric("rmse").decide(ClassPredictive(np.ones((1, 2)) / 2))
    with pytest.raises(TypeError, match="class probabilities"):
        get_metric("accuracy").decide(NumberPredictive(np.zeros(1)))


def test_a_metric_that_cannot_be_graded_is_refused_by_name():
    with pytest.raises(RequestError, match='saw "dice"; expected one of accuracy, log_loss, rmse, roc_auc'):
        get_metric(MetricName.DICE)
    with pytest.raises(RequestError, match="saw regression with roc_auc"):
        encoding_for(TargetKind.REGRESSION, MetricName.ROC_AUC)
    assert {metric for _, metric in ENCODINGS} == SUPPORTED
