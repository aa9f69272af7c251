"""Every metric against values worked out by hand, against scikit-learn and scipy, and against its own bootstrap."""

import warnings
from collections.abc import Callable
from typing import TypeAlias

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from sklearn import metrics

from sandmill.errors import RequestError
from sandmill.models.structure import MetricName, TargetKind
from sandmill.scoring import encoding_for, get_metric
from sandmill.scoring.base import Array
from sandmill.scoring.catalogue import METRICS
from sandmill.scoring.forms import FORMS
from sandmill.scoring.scores import EPSILON
from sandmill.scoring.support import ANSWER_FORMS, RENDERED_FORMS, SUPPORTED_TASKS, possible_forms
from tests.metric_samples import guess, make_world, perfect

Scorer: TypeAlias = Callable[[Array, Array], float]


def library_score(name: MetricName, truth: Array, prediction: Array) -> float | None:
    """Compute the score by scikit-learn or scipy.

    Returns:
        None if no library has the metric, or if its score is not a number, for example for an absent class or for the
        correlation of a constant prediction.
    """
    scorer = SCORERS.get(name)
    if scorer is None:
        return None
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            score = float(scorer(truth, prediction))
    except ValueError:
        return None
    return score if np.isfinite(score) else None


def _call(name: str, truth: Array, prediction: Array, **settings: object) -> float:
    return float(getattr(metrics, name)(truth, prediction, **settings))


def _sklearn(name: str, **settings: object) -> Scorer:
    return lambda truth, prediction: _call(name, truth, prediction, **settings)


def _scipy(name: str) -> Scorer:
    def score(truth: Array, prediction: Array) -> float:
        return float(getattr(stats, name)(truth, prediction).statistic)

    return score


def _log_loss(truth: Array, prediction: Array) -> float:
    """Compute log loss with all classes named, since scikit-learn refuses a truth of one class otherwise."""
    return _call("log_loss", truth, prediction, labels=range(prediction.shape[1] if prediction.ndim == 2 else 2))


def _log_loss_columns(truth: Array, prediction: Array) -> float:
    return float(np.mean([_log_loss(t, p) for t, p in zip(truth.T, prediction.T, strict=True)]))


def _pairs(truth: Array, prediction: Array) -> float:
    return _call("roc_auc_score", truth.ravel(), prediction.ravel())


def _rmse(truth: Array, prediction: Array) -> float:
    """Compute RMSE over all places of all items. Scikit-learn would average over columns."""
    return _call("root_mean_squared_error", truth.ravel(), prediction.ravel())


def _label_ranking(truth: Array, prediction: Array) -> float:
    held = truth.sum(axis=1)
    return _call("label_ranking_average_precision_score", truth, prediction, sample_weight=held)


def _f1_macro(truth: Array, prediction: Array) -> float:
    """Compute macro-averaged F1 without labels that are neither true nor predicted."""
    if truth.ndim == 2:
        known = (truth + prediction).any(axis=0)
        truth, prediction = truth[:, known], prediction[:, known]
    return _call("f1_score", truth, prediction, average="macro")


def _poisson_deviance(truth: Array, prediction: Array) -> float:
    """Compute the Poisson deviance with predictions raised to the floor, since scikit-learn refuses a 0."""
    return _call("mean_poisson_deviance", truth, np.maximum(prediction, EPSILON))


def _average_precision(truth: Array, prediction: Array) -> float:
    return _call("average_precision_score", truth, prediction) if truth.any() else np.nan


def _quadratic_kappa(truth: Array, prediction: Array) -> float:
    """Compute quadratic kappa with distances of class codes, also across classes that do not occur."""
    codes = range(int(max(truth.max(), prediction.max())) + 1)
    return _call("cohen_kappa_score", truth, prediction, weights="quadratic", labels=codes)


_N = MetricName
SCORERS: dict[MetricName, Scorer] = {
    _N.ROC_AUC: _sklearn("roc_auc_score"),
    _N.ROC_AUC_COLUMNS: _sklearn("roc_auc_score", average="macro"),
    _N.ROC_AUC_PAIRS: _pairs,
    _N.AVERAGE_PRECISION: _average_precision,
    _N.ACCURACY: _sklearn("accuracy_score"),
    _N.TOP1_ERROR: _sklearn("zero_one_loss"),
    _N.BALANCED_ACCURACY: _sklearn("balanced_accuracy_score"),
    _N.LOG_LOSS: _log_loss,
    _N.LOG_LOSS_COLUMNS: _log_loss_columns,
    _N.BRIER: _sklearn("brier_score_loss"),
    _N.LWLRAP: _label_ranking,
    _N.F1: _sklearn("f1_score", zero_division=0),
    _N.F1_MACRO: _f1_macro,
    _N.F1_MICRO: _sklearn("f1_score", average="micro", zero_division=0),
    _N.F1_SAMPLES: _sklearn("f1_score", average="samples", zero_division=0),
    _N.MCC: _sklearn("matthews_corrcoef"),
    _N.QWK: _quadratic_kappa,
    _N.COHEN_KAPPA: _sklearn("cohen_kappa_score"),
    _N.HAMMING_LOSS: _sklearn("hamming_loss"),
    _N.EXACT_MATCH: _sklearn("accuracy_score"),
    _N.RMSE: _rmse,
    _N.RMSE_COLUMNS: _sklearn("root_mean_squared_error"),
    _N.RMSLE: _sklearn("root_mean_squared_log_error"),
    _N.RMSLE_COLUMNS: _sklearn("root_mean_squared_log_error"),
    _N.MAE: _sklearn("mean_absolute_error"),
    _N.MAE_COLUMNS: _sklearn("mean_absolute_error"),
    _N.MEDAE: _sklearn("median_absolute_error"),
    _N.MAPE: _sklearn("mean_absolute_percentage_error"),
    _N.R2: _sklearn("r2_score"),
    _N.PEARSON: _scipy("pearsonr"),
    _N.SPEARMAN: _scipy("spearmanr"),
    _N.POISSON_DEVIANCE: _poisson_deviance,
}
"""Functions of libraries by metric. All other metrics are our own."""

EPS = np.finfo(float).eps
CASES = [
    ("roc_auc_pairs", [[0, 1], [1, 0]], [[0.2, 0.9], [0.3, 0.2]], 4 / 4),
    ("gini", [0, 1, 1, 0, 1], [0.2, 0.7, 0.2, 0.1, 0.9], 2 * 5.5 / 6 - 1),
    ("accuracy_text", [["a", "b"], ["a", None]], [["a", "B"], ["a", None]], 2 / 3),
    ("log_loss", [1, 0], [1.0, 1.0], -np.log(EPS) / 2),
    ("lwlrap", [[1, 0, 1], [0, 0, 0]], [[0.9, 0.8, 0.1], [0.1, 0.2, 0.3]], (1 + 2 / 3) / 2),
    ("f1", [0, 0], [0, 0], 0.0),
    ("f1_samples", [[1, 0], [1, 1], [0, 0]], [[1, 1], [0, 1], [0, 0]], (2 / 3 + 2 / 3 + 0) / 3),
    ("mcc", [1, 1, 0, 0], [1, 1, 1, 1], 0.0),
    ("qwk", [0, 3, 3, 0], [3, 0, 0, 3], -1.0),
    ("dice", [[1, 1, 0], [0, 0, 0], [0, 0, 0]], [[0, 1, 1], [0, 0, 0], [1, 0, 0]], (0.5 + 1 + 0) / 3),
    ("iou_thresholds", [[1, 1, 1, 0], [0, 0, 0, 0], [0, 0, 0, 0]], [[1, 1, 1, 1], [0, 0, 0, 0], [1, 0, 0, 0]], 1.5 / 3),
    ("map_at_k", [2, 0, 1], [[1, 2], [0, 1], [2, -1]], (0.5 + 1 + 0) / 3),
    ("map_at_k", [[1, 1, 0]], [[0, 0, 1]], (1 + 2 / 3) / 2),
    ("rmse", [[1.0, 2.0], [4.0, 4.0]], [[1.0, 0.0], [5.0, 4.0]], np.sqrt(5 / 4)),
    ("smape", [2.0, 0.0, 0.0], [1.0, 0.0, 5.0], (200 / 3 + 0 + 200) / 3),
    ("pearson", [1.0, 2.0, 3.0], [0.1, 0.1, 0.1], 0.0),
    ("spearman_columns", [[1.0, 1.0], [2.0, 2.0]], [[1.0, 7.0], [2.0, 7.0]], 0.5),
]


@pytest.mark.parametrize(("name", "truth", "prediction", "score"), CASES)
def test_scores_are_those_worked_out_by_hand(name, truth, prediction, score):
    assert get_metric(name).score(np.array(truth), np.array(prediction)) == pytest.approx(score, abs=1e-12)


def test_every_metric_that_no_library_has_has_a_score_worked_out_by_hand():
    assert {name for name, *_ in CASES} | set(SCORERS) == set(METRICS)


@pytest.mark.parametrize("pair", sorted(ANSWER_FORMS))
def test_our_scores_are_those_of_the_usual_libraries(pair):
    metric, compared = get_metric(pair[1]), 0
    for seed in range(5):
        rng = np.random.default_rng(seed)
        truth, prediction = make_world(pair, rng, 60).truth, guess(pair, rng, 60)
        expected = library_score(pair[1], truth, prediction)
        if expected is not None:
            assert metric.score(truth, prediction) == pytest.approx(expected, abs=1e-9)
            compared += 1
    assert compared == (5 if pair[1] in SCORERS else 0)


@settings(max_examples=80, deadline=None)
@given(st.integers(0, 2**32 - 1), st.sampled_from(sorted(ANSWER_FORMS)))
def test_a_bootstrap_is_the_score_of_the_rows_it_drew(seed, pair):
    rng, rows = np.random.default_rng(seed), 30
    metric = get_metric(pair[1])
    truth, prediction = make_world(pair, rng, rows).truth, guess(pair, rng, rows)
    counts = rng.multinomial(rows, np.full(rows, 1 / rows), size=3)
    repeated = [metric.score(np.repeat(truth, c, axis=0), np.repeat(prediction, c, axis=0)) for c in counts]
    assert metric.resample(truth, prediction, counts.astype(float)) == pytest.approx(repeated, abs=1e-9, nan_ok=True)


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**32 - 1), st.sampled_from(sorted(ANSWER_FORMS)))
def test_row_order_does_not_matter_and_nothing_beats_the_truth(seed, pair):
    rng, rows = np.random.default_rng(seed), 40
    metric = get_metric(pair[1])
    truth, prediction = make_world(pair, rng, rows).truth, guess(pair, rng, rows)
    shuffled = rng.permutation(rows)
    score = metric.score(truth, prediction)
    assert metric.score(truth[shuffled], prediction[shuffled]) == pytest.approx(score, abs=1e-9, nan_ok=True)
    best = metric.score(truth, perfect(pair, truth))
    sign = -1 if metric.is_lower_better else 1
    if np.isfinite(score):
        assert sign * best >= sign * score - 1e-9


RANKINGS = ["roc_auc", "roc_auc_pairs", "roc_auc_columns", "average_precision", "gini"]


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**32 - 1), st.sampled_from([*RANKINGS, "lwlrap", "spearman", "spearman_columns"]))
def test_a_ranking_metric_sees_only_the_order(seed, name):
    pair = next(pair for pair in sorted(ANSWER_FORMS) if pair[1] == name)
    rng, metric = np.random.default_rng(seed), get_metric(name)
    truth, prediction = make_world(pair, rng, 40).truth, guess(pair, rng, 40)
    score = metric.score(truth, prediction)
    assert metric.score(truth, np.exp(3 * prediction) / 1e6) == pytest.approx(score, abs=1e-9, nan_ok=True)
    assert metric.score(truth, prediction - 0.2 * (prediction > 0.6)) == pytest.approx(score, abs=1e-9, nan_ok=True)


def test_a_ranking_without_one_of_the_classes_is_not_a_number():
    assert np.isnan(get_metric("roc_auc").score(np.array([1, 1]), np.array([0.1, 0.2])))
    assert np.isnan(get_metric("average_precision").score(np.array([0, 0]), np.array([0.1, 0.2])))


def test_a_metric_that_cannot_be_graded_is_refused_by_name():
    with pytest.raises(
        RequestError,
        match='saw "pinball"; expected one of accuracy, accuracy_text, average_precision, balanced_accuracy',
    ):
        get_metric(MetricName.PINBALL)
    with pytest.raises(
        RequestError, match="saw multi_target with roc_auc; expected a metric for this target: rmse_col"
    ):
        encoding_for(TargetKind.MULTI_TARGET, MetricName.ROC_AUC)
    with pytest.raises(RequestError, match="saw mask with mae; expected a metric for this target: rmse"):
        encoding_for(TargetKind.MASK, MetricName.MAE)


def test_every_metric_serves_a_target_and_every_pair_has_a_form():
    forms = ANSWER_FORMS | RENDERED_FORMS
    assert {metric for _, metric in forms} == set(METRICS)
    assert {form for pair in forms for form in possible_forms(*pair)} == set(FORMS)
    assert len(METRICS) >= 24
    assert {(kind, metric) for kind, metrics in SUPPORTED_TASKS.items() for metric in metrics} == set(ANSWER_FORMS)


@pytest.mark.parametrize("scale", [1e-300, 1e-160, 1e160, 1e300, 1e306])
def test_the_scale_of_a_prediction_changes_no_correlation(scale):
    rng = np.random.default_rng(0)
    truth = rng.normal(size=40)
    prediction = truth + rng.normal(size=40)
    metric = get_metric(MetricName.PEARSON)
    expected = metric.score(truth, prediction)
    with np.errstate(all="ignore"):
        assert metric.score(truth, prediction * scale) == pytest.approx(expected, abs=1e-12)
