"""Metrics: each is a function of truth and prediction, with one row for each test item."""

from typing import Any

import numpy as np

from sandmill.export.grader_parts.kinds import Array, Score

EPSILON = np.finfo(float).eps


def divided(numerator: Any, denominator: Any) -> Any:
    """Divide, with 0 where the denominator is 0."""
    return np.divide(numerator, denominator, out=np.zeros(np.shape(denominator)), where=np.asarray(denominator) > 0)


def ranks(values: Array) -> Array:
    """Return ranks from 1 up. Equal values share their mean rank."""
    _, group, sizes = np.unique(values, return_inverse=True, return_counts=True)
    return (np.cumsum(sizes) - (sizes - 1) / 2)[group]


def by_column(score: Score, truth: Array, prediction: Array) -> float:
    """Return the mean of a metric over columns."""
    return float(np.mean([score(truth[:, place], prediction[:, place]) for place in range(truth.shape[1])]))


def roc_auc(truth: Array, prediction: Array) -> float:
    """Return the chance that a positive is ranked above a negative. Ties count one half."""
    positive = truth == 1
    found, others = positive.sum(), (~positive).sum()
    return float((ranks(prediction)[positive].sum() - found * (found + 1) / 2) / (found * others))


def roc_auc_columns(truth: Array, prediction: Array) -> float:
    """Return the mean ROC AUC of the label columns."""
    return by_column(roc_auc, truth, prediction)


def roc_auc_pairs(truth: Array, prediction: Array) -> float:
    """Return the ROC AUC over all pairs of a row and a label."""
    return roc_auc(truth.ravel(), prediction.ravel())


def average_precision(truth: Array, prediction: Array) -> float:
    """Return the precision at each distinct predicted value, weighted by its positives."""
    _, group = np.unique(-prediction, return_inverse=True)
    positive, named = np.bincount(group, truth == 1), np.bincount(group)
    return float((positive * np.cumsum(positive) / np.cumsum(named)).sum() / positive.sum())


def gini(truth: Array, prediction: Array) -> float:
    """Return the covariance of the truth with the ranks of the prediction, over that with its own ranks."""
    centred = truth - truth.mean()
    return float((centred * ranks(prediction)).sum() / (centred * ranks(truth)).sum())


def cost(probability: Array) -> float:
    """Return the mean negative logarithm of probabilities."""
    return float(-np.log(np.clip(probability, EPSILON, 1 - EPSILON)).mean())


def log_loss(truth: Array, prediction: Array) -> float:
    """Return the log loss of probabilities of class 1, or of all classes."""
    if prediction.ndim == 1:
        return cost(np.where(truth == 1, prediction, 1 - prediction))
    return cost(prediction[np.arange(len(truth)), truth])


def log_loss_columns(truth: Array, prediction: Array) -> float:
    """Return the mean log loss of the label columns."""
    return cost(np.where(truth == 1, prediction, 1 - prediction))


def brier(truth: Array, prediction: Array) -> float:
    """Return the mean squared error of probabilities."""
    return float(np.square(prediction - truth).mean())


def accuracy(truth: Array, prediction: Array) -> float:
    """Return the share of right classes."""
    return float((truth == prediction).mean())


def top1_error(truth: Array, prediction: Array) -> float:
    """Return the share of wrong classes."""
    return float((truth != prediction).mean())


def exact_match(truth: Array, prediction: Array) -> float:
    """Return the share of rows with exactly the right labels."""
    return float((truth == prediction).all(axis=1).mean())


def hamming_loss(truth: Array, prediction: Array) -> float:
    """Return the share of wrong pairs of a row and a label."""
    return float((truth != prediction).mean())


def tallies(truth: Array, prediction: Array) -> tuple[Array, Array, Array]:
    """Return how often each class is right, predicted and true. Label sets have a column for each class."""
    if truth.ndim == 1:
        classes = np.arange(max(truth.max(), prediction.max(), 1) + 1)
        truth, prediction = (np.equal.outer(codes, classes) for codes in (truth, prediction))
    return (truth * prediction).sum(axis=0), prediction.sum(axis=0), truth.sum(axis=0)


def balanced_accuracy(truth: Array, prediction: Array) -> float:
    """Return the mean recall of the classes that occur."""
    right, _, true = tallies(truth, prediction)
    return float(divided(right, true)[true > 0].mean())


def f1(truth: Array, prediction: Array) -> float:
    """Return the F1 score of class 1."""
    right, predicted, true = tallies(truth, prediction)
    return float(divided(2 * right, predicted + true)[1])


def f1_macro(truth: Array, prediction: Array) -> float:
    """Return the mean F1 score of the classes that are true or predicted in any row."""
    right, predicted, true = tallies(truth, prediction)
    known = predicted + true > 0
    return float(divided(2 * right, predicted + true)[known].mean() if known.any() else 0.0)


def f1_micro(truth: Array, prediction: Array) -> float:
    """Return the F1 score over all pairs of a row and a class."""
    right, predicted, true = tallies(truth, prediction)
    return float(divided(2 * right.sum(), (predicted + true).sum()))


def f1_samples(truth: Array, prediction: Array) -> float:
    """Return the mean F1 score of the label sets of rows."""
    return float(divided(2 * (truth * prediction).sum(axis=1), (truth + prediction).sum(axis=1)).mean())


def mcc(truth: Array, prediction: Array) -> float:
    """Return the Matthews correlation of classes; 0 if the truth or the prediction is constant."""
    right, predicted, true = (side.astype(float) for side in tallies(truth, prediction))
    total = true.sum()
    covariance = right.sum() * total - (predicted * true).sum()
    spreads = (total**2 - (predicted**2).sum()) * (total**2 - (true**2).sum())
    return float(divided(covariance, np.sqrt(max(spreads, 0))))


def cohen_kappa(truth: Array, prediction: Array) -> float:
    """Return 1 - errors / expected errors of the shuffled prediction."""
    right, predicted, true = (side.astype(float) for side in tallies(truth, prediction))
    total = true.sum()
    return float(1 - divided(total - right.sum(), total - (predicted * true).sum() / total))


def qwk(truth: Array, prediction: Array) -> float:
    """Return Cohen's kappa with squared distances of class codes."""
    missed = np.square(truth - prediction).sum()
    by_chance = np.square(truth).sum() + np.square(prediction).sum() - 2 * truth.sum() * prediction.sum() / len(truth)
    return float(1 - divided(missed, by_chance))


def lwlrap(truth: Array, prediction: Array) -> float:
    """Return label-weighted label-ranking average precision."""
    total = 0.0
    for true, row in zip(truth == 1, prediction, strict=True):
        reaches = row[None, :] >= row[true, None]
        total += ((reaches & true).sum(axis=1) / reaches.sum(axis=1)).sum()
    return float(divided(total, (truth == 1).sum()))


def map_at_k(truth: Array, prediction: Array) -> float:
    """Return the mean over rows of 1 / place of the true class in the ranked list; 0 if it is not in the list."""
    hits = truth[:, None] == prediction
    return float(np.where(hits.any(axis=1), 1 / (1 + hits.argmax(axis=1)), 0).mean())


def dice(truth: Array, prediction: Array) -> float:
    """Return the mean over pictures of twice the shared pixels over those of both masks; 1 where both are empty."""
    total = truth.sum(axis=1) + prediction.sum(axis=1)
    return float(np.where(total > 0, divided(2.0 * (truth * prediction).sum(axis=1), total), 1).mean())


def iou_thresholds(truth: Array, prediction: Array) -> float:
    """Return the mean over pictures of the share of ten IoU thresholds that a mask exceeds; 1 where both are empty."""
    shared = (truth * prediction).sum(axis=1)
    either = truth.sum(axis=1) + prediction.sum(axis=1) - shared
    overlap = np.where(either > 0, divided(shared.astype(float), either), 1)
    return float((overlap[:, None] > np.arange(0.5, 1.0, 0.05)).mean())


def rmse(truth: Array, prediction: Array) -> float:
    """Return the root mean squared error, averaged over columns."""
    return float(np.sqrt(np.square(truth - prediction).mean(axis=0)).mean())


def rmsle(truth: Array, prediction: Array) -> float:
    """Return the root mean squared error of log(1 + x), averaged over columns."""
    return rmse(np.log1p(truth), np.log1p(prediction))


def mae(truth: Array, prediction: Array) -> float:
    """Return the mean absolute error."""
    return float(np.abs(truth - prediction).mean())


def medae(truth: Array, prediction: Array) -> float:
    """Return the median absolute error."""
    return float(np.median(np.abs(truth - prediction)))


def mape(truth: Array, prediction: Array) -> float:
    """Return the mean absolute error relative to the truth."""
    return float((np.abs(truth - prediction) / np.maximum(np.abs(truth), EPSILON)).mean())


def smape(truth: Array, prediction: Array) -> float:
    """Return the mean absolute error in percent of the mean of |truth| and |prediction|."""
    return float(divided(200 * np.abs(truth - prediction), np.abs(truth) + np.abs(prediction)).mean())


def r2(truth: Array, prediction: Array) -> float:
    """Return the coefficient of determination."""
    left, spread = np.square(truth - prediction).sum(), np.square(truth - truth.mean()).sum()
    return 1 - left / spread if spread else float(left == 0)


def pearson(truth: Array, prediction: Array) -> float:
    """Return the linear correlation; 0 if one side is constant."""
    sides = []
    for side in (truth, prediction):
        centred = side - side.mean()
        largest = np.abs(centred).max()
        if (side == side[0]).all() or largest == 0:
            return 0.0
        scaled = centred / largest
        sides.append(scaled / np.linalg.norm(scaled))
    return float(min(1.0, max(-1.0, float(sides[0] @ sides[1]))))


def spearman(truth: Array, prediction: Array) -> float:
    """Return the correlation of ranks."""
    return pearson(ranks(truth), ranks(prediction))


def spearman_columns(truth: Array, prediction: Array) -> float:
    """Return the mean rank correlation of the target columns."""
    return by_column(spearman, truth, prediction)


def poisson_deviance(truth: Array, prediction: Array) -> float:
    """Return the mean Poisson deviance, with predictions raised to the smallest rate."""
    rate = np.maximum(prediction, EPSILON)
    ratio = np.where(truth > 0, truth / rate, 1.0)
    return float((2 * (truth * np.log(ratio) - truth + rate)).mean())
