"""ROC AUC, accuracy and log loss. scikit-learn scores; the bootstraps are vectorised over samples."""

import numpy as np

from sandmill.metrics.base import Array, Floats
from sandmill.models.predictive import ClassPredictive, Predictive


def roc_auc(truth: Array, prediction: Array) -> float:
    """Chance that a random positive is ranked above a random negative, ties counted half."""
    from sklearn.metrics import roc_auc_score

    return float(roc_auc_score(truth, prediction))


def resample_roc_auc(truth: Array, prediction: Array, counts: Floats) -> Floats:
    """ROC AUC of each bootstrap sample by weighted ranks: one sort for all samples. NaN where a class is absent."""
    order = np.argsort(prediction, kind="stable")
    ranked = prediction[order]
    starts = np.flatnonzero(np.r_[True, ranked[1:] != ranked[:-1]])
    positive = np.add.reduceat(counts[:, order] * (truth[order] == 1), starts, axis=1)
    negative = np.add.reduceat(counts[:, order] * (truth[order] == 0), starts, axis=1)
    below = np.cumsum(negative, axis=1) - 0.5 * negative
    pairs = positive.sum(axis=1) * negative.sum(axis=1)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray((positive * below).sum(axis=1) / pairs, dtype=np.float64)


def accuracy(truth: Array, prediction: Array) -> float:
    """Share of rows whose class is named."""
    from sklearn.metrics import accuracy_score

    return float(accuracy_score(truth, prediction))


def resample_accuracy(truth: Array, prediction: Array, counts: Floats) -> Floats:
    """Accuracy of each bootstrap sample."""
    return np.asarray(counts @ (truth == prediction) / counts.sum(axis=1), dtype=np.float64)


def log_loss(truth: Array, prediction: Array) -> float:
    """Mean negative log-probability of the true class, clipped at machine epsilon as scikit-learn does."""
    from sklearn.metrics import log_loss as sklearn_log_loss

    wide = _wide(prediction)
    return float(sklearn_log_loss(truth, wide, labels=list(range(wide.shape[1]))))


def resample_log_loss(truth: Array, prediction: Array, counts: Floats) -> Floats:
    """Log loss of each bootstrap sample."""
    wide = _wide(prediction)
    epsilon = np.finfo(wide.dtype).eps
    picked = np.clip(wide[np.arange(len(truth)), truth.astype(np.intp)], epsilon, 1 - epsilon)
    return np.asarray(counts @ -np.log(picked) / counts.sum(axis=1), dtype=np.float64)


def decide_positive_probability(predictive: Predictive) -> Array:
    """P(positive): the best ranking and the best probability are both the posterior itself."""
    return _classes(predictive)[:, 1]


def decide_log_loss(predictive: Predictive) -> Array:
    """The posterior itself minimises expected log loss: one column for two classes, else one for each class."""
    probabilities = _classes(predictive)
    return probabilities[:, 1] if probabilities.shape[1] == 2 else probabilities


def decide_label(predictive: Predictive) -> Array:
    """The most probable class maximises expected accuracy; the first of equals."""
    return np.asarray(_classes(predictive).argmax(axis=1), dtype=np.int64)


def _classes(predictive: Predictive) -> Floats:
    if not isinstance(predictive, ClassPredictive):
        raise TypeError(f"a class metric needs class probabilities, not {type(predictive).__name__}")
    return predictive.probabilities


def _wide(prediction: Array) -> Floats:
    prediction = np.asarray(prediction, dtype=np.float64)
    return np.column_stack([1 - prediction, prediction]) if prediction.ndim == 1 else prediction
