"""The table of metrics: of single classes, of label sets and ranked lists, and of numbers."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from sandmill.errors import Problem, RequestError
from sandmill.models.structure import MetricName
from sandmill.scoring import cutoffs
from sandmill.scoring import rules as u
from sandmill.scoring import scores as s
from sandmill.scoring.base import DecisionRule, Metric


def _metric(name: MetricName, title: str, definition: str, rule: DecisionRule, **more: Any) -> Metric:
    """Make a metric with the score of its name."""
    return Metric(name, title, definition, getattr(s, name), rule, **more)


_TABLE = (
    _metric(
        MetricName.ROC_AUC,
        "area under the ROC curve (ROC AUC)",
        "the chance that a randomly chosen positive row is given a higher value than a randomly chosen "
        "negative row, ties counting one half",
        u.positive_probability,
    ),
    _metric(
        MetricName.AVERAGE_PRECISION,
        "average precision",
        "the sum over distinct predicted values, from the highest down, of the precision among all rows "
        "from there up times the gain in recall at that value",
        u.positive_probability,
        has_article=False,
    ),
    _metric(
        MetricName.GINI,
        "normalized Gini coefficient",
        "the covariance of the truth with the rank of the prediction, divided by the covariance of the "
        "truth with its own rank; equal values share their mean rank",
        u.order_of,
        decision="plug-in",
    ),
    _metric(
        MetricName.LOG_LOSS,
        "log loss",
        "the mean over rows of -log(p), where p is the probability given to the row's true class",
        u.probabilities_as_asked,
        has_article=False,
        is_lower_better=True,
    ),
    _metric(
        MetricName.BRIER,
        "Brier score",
        "the mean over rows of (p - y)^2, where p is the predicted probability and y is 1 or 0",
        u.positive_probability,
        is_lower_better=True,
    ),
    _metric(
        MetricName.ACCURACY,
        "accuracy",
        "the number of rows whose class is named correctly, divided by the number of rows",
        u.likeliest_class,
        has_article=False,
    ),
    _metric(
        MetricName.ACCURACY_TEXT,
        "accuracy of texts",
        "the number of rows whose text is exactly the true one, divided by the number of rows",
        u.not_drawn,
    ),
    _metric(
        MetricName.TOP1_ERROR,
        "top-1 classification error",
        "the number of rows whose class is named wrongly, divided by the number of rows",
        u.likeliest_class,
        is_lower_better=True,
    ),
    _metric(
        MetricName.BALANCED_ACCURACY,
        "balanced accuracy",
        "the mean over classes of the share of the class's rows that are named correctly",
        u.class_over_share,
        has_article=False,
        decision="tuned",
    ),
    _metric(
        MetricName.F1,
        "F1 score",
        "2 * tp / (2 * tp + fp + fn), where tp, fp and fn are the numbers of true positive, false positive "
        "and false negative rows",
        u.label_above_cutoff,
        decision="tuned",
    ),
    _metric(
        MetricName.MCC,
        "Matthews correlation coefficient (MCC)",
        "the correlation of the true and the named classes, each class written as a column of 0 and 1; "
        "0 if the same class is named for every row",
        u.affine_class(s.matthews, cutoffs.matthews_slopes),
        decision="tuned",
    ),
    _metric(
        MetricName.COHEN_KAPPA,
        "Cohen's kappa",
        "1 - m / e, where m is the number of rows whose class is named wrongly and e the number expected if "
        "the same classes were named in random order",
        u.class_for_kappa,
        has_article=False,
        decision="tuned",
    ),
    _metric(
        MetricName.QWK,
        "quadratic weighted kappa",
        "1 - m / e, where m is the sum over rows of the squared distance between named and true class, "
        "counted in places of the class list, and e the sum expected if the same classes were named in random order",
        u.stretched_grade,
        has_article=False,
        decision="tuned",
    ),
    _metric(
        MetricName.ROC_AUC_COLUMNS,
        "mean column-wise area under the ROC curve (ROC AUC)",
        "the mean over label columns of the chance that a randomly chosen row with the label is given a "
        "higher value than a randomly chosen row without it, ties counting one half",
        u.positive_probability,
    ),
    _metric(
        MetricName.ROC_AUC_PAIRS,
        "area under the ROC curve (ROC AUC) over all pairs of item and label",
        "the chance that a randomly chosen pair that is true is given a higher value than a randomly chosen "
        "pair that is not, ties counting one half",
        u.positive_probability,
    ),
    _metric(
        MetricName.LOG_LOSS_COLUMNS,
        "mean column-wise log loss",
        "the mean over label columns of the mean over rows of -log(p), where p is the probability given to "
        "what was true of the label",
        u.positive_probability,
        is_lower_better=True,
    ),
    _metric(
        MetricName.LWLRAP,
        "label-weighted label-ranking average precision (lwlrap)",
        "the mean, over all pairs of a row and a label that is true of it, of the share of true labels "
        "among the row's labels with at least that label's value",
        u.positive_probability,
        has_article=False,
        decision="plug-in",
    ),
    _metric(
        MetricName.F1_MACRO,
        "macro-averaged F1 score",
        "the mean over classes of 2 * tp / (2 * tp + fp + fn), where tp, fp and fn are the class's numbers "
        "of true positive, false positive and false negative rows; a class that is neither true nor named is left out",
        u.either(u.affine_class(s.macro_f1, cutoffs.macro_f1_slopes), u.labels_above_own_cutoffs),
        decision="tuned",
    ),
    _metric(
        MetricName.F1_MICRO,
        "micro-averaged F1 score",
        "2 * tp / (2 * tp + fp + fn), where tp, fp and fn are the numbers of true positive, false positive "
        "and false negative pairs of a row and a label",
        u.labels_above_common_cutoff,
        decision="tuned",
    ),
    _metric(
        MetricName.F1_SAMPLES,
        "sample-averaged F1 score",
        "the mean over rows of 2 * b / (t + n), where t is the number of the row's true labels, n the "
        "number of labels named and b the number of labels in both; 0 if t and n are 0",
        u.best_set_of_row,
        decision="plug-in",
    ),
    _metric(
        MetricName.HAMMING_LOSS,
        "Hamming loss",
        "the share of all pairs of a row and a label that are named wrongly",
        u.likely_labels,
        is_lower_better=True,
    ),
    _metric(
        MetricName.EXACT_MATCH,
        "exact match ratio",
        "the number of rows whose label set is named without a mistake, divided by the number of rows",
        u.likely_labels,
    ),
    _metric(
        MetricName.MAP_AT_K,
        "mean average precision at k (MAP@k)",
        "the mean over rows of the sum over places of the list, up to the k-th, that name a true label for "
        "the first time, of the share of true labels up to there, divided by the smaller of k and the number of true "
        "labels",
        u.ranked_list,
        has_article=False,
        decision="plug-in",
    ),
    _metric(
        MetricName.DICE,
        "mean Dice coefficient",
        "the mean over pictures of 2 * b / (t + n), where t is the number of pixels of the true mask, n "
        "the number of pixels of the named mask and b the number of pixels in both; 1 if t and n are 0",
        u.not_drawn,
        decision="plug-in",
    ),
    _metric(
        MetricName.IOU_THRESHOLDS,
        "mean share of ten IoU thresholds that a mask exceeds",
        "the mean over pictures of the share of the thresholds 0.5, 0.55, 0.6, ..., 0.95 below b / e, where "
        "b is the number of pixels in both the true and the named mask and e the number of pixels in either; 1 if both "
        "masks are empty",
        u.not_drawn,
        decision="plug-in",
    ),
    _metric(
        MetricName.RMSE,
        "root mean squared error (RMSE)",
        "the square root of the mean over rows of (prediction - truth)^2",
        u.mean,
        is_lower_better=True,
    ),
    _metric(
        MetricName.MAE,
        "mean absolute error (MAE)",
        "the mean over rows of |prediction - truth|",
        u.median,
        is_lower_better=True,
    ),
    _metric(
        MetricName.MEDAE,
        "median absolute error",
        "the median over rows of |prediction - truth|",
        u.densest_centre,
        is_lower_better=True,
        decision="plug-in",
    ),
    _metric(
        MetricName.RMSLE,
        "root mean squared logarithmic error (RMSLE)",
        "the square root of the mean over rows of (log(1 + prediction) - log(1 + truth))^2",
        u.log_mean,
        is_lower_better=True,
        is_nonnegative=True,
    ),
    _metric(
        MetricName.MAPE,
        "mean absolute percentage error (MAPE)",
        "the mean over rows of |prediction - truth| / |truth|, as a fraction",
        u.relative_median,
        is_lower_better=True,
    ),
    _metric(
        MetricName.SMAPE,
        "symmetric mean absolute percentage error (SMAPE)",
        "the mean over rows of 200 * |prediction - truth| / (|prediction| + |truth|), 0 where both are 0",
        u.least_expected(s.symmetric_errors),
        is_lower_better=True,
        decision="plug-in",
    ),
    _metric(
        MetricName.R2,
        "coefficient of determination (R squared)",
        "1 - a / b, where a is the sum of (prediction - truth)^2 and b the sum of (truth - its mean)^2",
        u.mean,
    ),
    _metric(
        MetricName.PEARSON,
        "Pearson correlation",
        "the linear correlation of prediction and truth, 0 for a constant prediction",
        u.mean,
        decision="plug-in",
    ),
    _metric(
        MetricName.SPEARMAN,
        "Spearman rank correlation",
        "the correlation of the ranks of prediction and truth, equal values sharing their mean rank, 0 for "
        "a constant prediction",
        u.expected_rank,
        decision="plug-in",
    ),
    _metric(
        MetricName.POISSON_DEVIANCE,
        "mean Poisson deviance",
        "the mean over rows of 2 * (truth * log(truth / prediction) - truth + prediction), the first term 0 "
        "where the truth is 0, each prediction below 2.2e-16 taken as 2.2e-16",
        u.mean,
        is_lower_better=True,
        is_nonnegative=True,
    ),
    _metric(
        MetricName.RMSE_COLUMNS,
        "mean column-wise root mean squared error (MCRMSE)",
        "the mean over target columns of the square root of the mean over rows of (prediction - truth)^2",
        u.of_columns(u.mean),
        is_lower_better=True,
    ),
    _metric(
        MetricName.MAE_COLUMNS,
        "mean column-wise mean absolute error",
        "the mean over target columns of the mean over rows of |prediction - truth|",
        u.of_columns(u.median),
        is_lower_better=True,
    ),
    _metric(
        MetricName.RMSLE_COLUMNS,
        "mean column-wise root mean squared logarithmic error",
        "the mean over target columns of the square root of the mean over rows of "
        "(log(1 + prediction) - log(1 + truth))^2",
        u.of_columns(u.log_mean),
        is_lower_better=True,
        is_nonnegative=True,
    ),
    _metric(
        MetricName.SPEARMAN_COLUMNS,
        "mean column-wise Spearman rank correlation",
        "the mean over target columns of the correlation of the ranks of prediction and truth, equal values "
        "sharing their mean rank, 0 for a constant column",
        u.of_columns(u.expected_rank),
        decision="plug-in",
    ),
)

METRICS: Mapping[MetricName, Metric] = MappingProxyType({metric.name: metric for metric in _TABLE})


def get_metric(name: MetricName | str) -> Metric:
    """Return a metric by its name.

    Raises:
        RequestError: if the metric cannot be graded. The error lists all metrics that can.
    """
    if name not in METRICS:
        known = ", ".join(sorted(METRICS))
        raise RequestError("metric", [Problem("metric", f'"{name}"', f"one of {known}")])
    return METRICS[MetricName(name)]
