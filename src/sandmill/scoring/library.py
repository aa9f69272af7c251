"""Scores by scikit-learn and scipy, for all metrics that they define as we do.

The published score comes from the library. Bootstraps are our own code, vectorised over samples; a test checks that
both agree.
"""

from collections.abc import Callable
from typing import TypeAlias

import numpy as np

from sandmill.models.structure import MetricName
from sandmill.scoring.averages import RATE_FLOOR
from sandmill.scoring.base import Array

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
    import warnings

    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            score = float(scorer(truth, prediction))
    except ValueError:
        return None
    return score if np.isfinite(score) else None


def load_libraries() -> None:
    """Import the libraries now. Otherwise the first score of a process waits about a second for them."""
    from scipy import stats
    from sklearn import metrics

    assert stats
    assert metrics


def _call(name: str, truth: Array, prediction: Array, **settings: object) -> float:
    """Call a function of sklearn.metrics. The library is imported on first use, since that is slow."""
    from sklearn import metrics

    return float(getattr(metrics, name)(truth, prediction, **settings))


def _sklearn(name: str, **settings: object) -> Scorer:
    return lambda truth, prediction: _call(name, truth, prediction, **settings)


def _scipy(name: str) -> Scorer:
    def score(truth: Array, prediction: Array) -> float:
        from scipy import stats

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
    return _call("mean_poisson_deviance", truth, np.maximum(prediction, RATE_FLOOR))


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
