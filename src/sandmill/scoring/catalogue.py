"""The table of metrics: of single classes, of label sets and ranked lists, and of numbers."""

from collections.abc import Mapping
from types import MappingProxyType

import numpy as np

from sandmill.models.structure import MetricName
from sandmill.scoring import averages as a
from sandmill.scoring import ranks as k
from sandmill.scoring import rules as u
from sandmill.scoring import tallies as t
from sandmill.scoring.base import Metric

_TABLE = (
    Metric(
        name=MetricName.ROC_AUC,
        title="area under the ROC curve (ROC AUC)",
        definition="the chance that a randomly chosen positive row is given a higher value than a randomly chosen "
        "negative row, ties counting one half",
        resample=k.roc_auc,
        rule=u.positive_probability,
    ),
    Metric(
        name=MetricName.AVERAGE_PRECISION,
        title="average precision",
        has_article=False,
        definition="the sum over distinct predicted values, from the highest down, of the precision among all rows "
        "from there up times the gain in recall at that value",
        resample=k.average_precision,
        rule=u.positive_probability,
    ),
    Metric(
        name=MetricName.GINI,
        title="normalized Gini coefficient",
        definition="the covariance of the truth with the rank of the prediction, divided by the covariance of the "
        "truth with its own rank; equal values share their mean rank",
        resample=k.gini,
        rule=u.order_of,
        decision="plug-in",
    ),
    Metric(
        name=MetricName.LOG_LOSS,
        title="log loss",
        has_article=False,
        definition="the mean over rows of -log(p), where p is the probability given to the row's true class",
        is_lower_better=True,
        resample=a.mean_of(a.log_losses),
        rule=u.probabilities_as_asked,
    ),
    Metric(
        name=MetricName.BRIER,
        title="Brier score",
        definition="the mean over rows of (p - y)^2, where p is the predicted probability and y is 1 or 0",
        is_lower_better=True,
        resample=a.mean_of(a.squared_errors),
        rule=u.positive_probability,
    ),
    Metric(
        name=MetricName.ACCURACY,
        title="accuracy",
        has_article=False,
        definition="the number of rows whose class is named correctly, divided by the number of rows",
        resample=a.mean_of(a.hits),
        rule=u.likeliest_class,
    ),
    Metric(
        name=MetricName.ACCURACY_TEXT,
        title="accuracy of texts",
        definition="the number of rows whose text is exactly the true one, divided by the number of rows",
        resample=a.ratio_of(a.right_texts),
        rule=u.not_drawn,
    ),
    Metric(
        name=MetricName.TOP1_ERROR,
        title="top-1 classification error",
        definition="the number of rows whose class is named wrongly, divided by the number of rows",
        is_lower_better=True,
        resample=a.mean_of(a.misses),
        rule=u.likeliest_class,
    ),
    Metric(
        name=MetricName.BALANCED_ACCURACY,
        title="balanced accuracy",
        has_article=False,
        definition="the mean over classes of the share of the class's rows that are named correctly",
        resample=t.of_tallies(t.balanced_accuracy),
        rule=u.class_over_share,
        decision="tuned",
    ),
    Metric(
        name=MetricName.F1,
        title="F1 score",
        definition="2 * tp / (2 * tp + fp + fn), where tp, fp and fn are the numbers of true positive, false positive "
        "and false negative rows",
        resample=t.of_tallies(t.f1_positive),
        rule=u.label_above_cutoff,
        decision="tuned",
    ),
    Metric(
        name=MetricName.MCC,
        title="Matthews correlation coefficient (MCC)",
        definition="the correlation of the true and the named classes, each class written as a column of 0 and 1; "
        "0 if the same class is named for every row",
        resample=t.of_tallies(t.mcc),
        rule=u.affine_class(t.mcc, t.mcc_slopes),
        decision="tuned",
    ),
    Metric(
        name=MetricName.COHEN_KAPPA,
        title="Cohen's kappa",
        has_article=False,
        definition="1 - m / e, where m is the number of rows whose class is named wrongly and e the number expected if "
        "the same classes were named in random order",
        resample=t.of_tallies(t.cohen_kappa),
        rule=u.class_for_kappa,
        decision="tuned",
    ),
    Metric(
        name=MetricName.QWK,
        title="quadratic weighted kappa",
        has_article=False,
        definition="1 - m / e, where m is the sum over rows of the squared distance between named and true class, "
        "counted in places of the class list, and e the sum expected if the same classes were named in random order",
        resample=t.quadratic_kappa,
        rule=u.stretched_grade,
        decision="tuned",
    ),
    Metric(
        name=MetricName.ROC_AUC_COLUMNS,
        title="mean column-wise area under the ROC curve (ROC AUC)",
        definition="the mean over label columns of the chance that a randomly chosen row with the label is given a "
        "higher value than a randomly chosen row without it, ties counting one half",
        resample=k.by_column(k.roc_auc),
        rule=u.positive_probability,
    ),
    Metric(
        name=MetricName.ROC_AUC_PAIRS,
        title="area under the ROC curve (ROC AUC) over all pairs of item and label",
        definition="the chance that a randomly chosen pair that is true is given a higher value than a randomly chosen "
        "pair that is not, ties counting one half",
        resample=k.over_pairs(k.roc_auc),
        rule=u.positive_probability,
    ),
    Metric(
        name=MetricName.LOG_LOSS_COLUMNS,
        title="mean column-wise log loss",
        definition="the mean over label columns of the mean over rows of -log(p), where p is the probability given to "
        "what was true of the label",
        is_lower_better=True,
        resample=a.mean_of(a.label_log_losses),
        rule=u.positive_probability,
    ),
    Metric(
        name=MetricName.LWLRAP,
        title="label-weighted label-ranking average precision (lwlrap)",
        has_article=False,
        definition="the mean, over all pairs of a row and a label that is true of it, of the share of true labels "
        "among the row's labels with at least that label's value",
        resample=a.ratio_of(k.label_precision),
        rule=u.positive_probability,
        decision="plug-in",
    ),
    Metric(
        name=MetricName.F1_MACRO,
        title="macro-averaged F1 score",
        definition="the mean over classes of 2 * tp / (2 * tp + fp + fn), where tp, fp and fn are the class's numbers "
        "of true positive, false positive and false negative rows; a class that is neither true nor named is left out",
        resample=t.of_tallies(t.f1_macro),
        rule=u.either(u.affine_class(t.f1_macro, t.f1_macro_slopes), u.labels_above_own_cutoffs),
        decision="tuned",
    ),
    Metric(
        name=MetricName.F1_MICRO,
        title="micro-averaged F1 score",
        definition="2 * tp / (2 * tp + fp + fn), where tp, fp and fn are the numbers of true positive, false positive "
        "and false negative pairs of a row and a label",
        resample=a.ratio_of(a.shared_labels),
        rule=u.labels_above_common_cutoff,
        decision="tuned",
    ),
    Metric(
        name=MetricName.F1_SAMPLES,
        title="sample-averaged F1 score",
        definition="the mean over rows of 2 * b / (t + n), where t is the number of the row's true labels, n the "
        "number of labels named and b the number of labels in both; 0 if t and n are 0",
        resample=a.mean_of(a.row_f1),
        rule=u.best_set_of_row,
        decision="plug-in",
    ),
    Metric(
        name=MetricName.HAMMING_LOSS,
        title="Hamming loss",
        definition="the share of all pairs of a row and a label that are named wrongly",
        is_lower_better=True,
        resample=a.mean_of(a.different_labels),
        rule=u.likely_labels,
    ),
    Metric(
        name=MetricName.EXACT_MATCH,
        title="exact match ratio",
        definition="the number of rows whose label set is named without a mistake, divided by the number of rows",
        resample=a.mean_of(a.hits),
        rule=u.likely_labels,
    ),
    Metric(
        name=MetricName.MAP_AT_K,
        title="mean average precision at k (MAP@k)",
        has_article=False,
        definition="the mean over rows of the sum over places of the list, up to the k-th, that name a true label for "
        "the first time, of the share of true labels up to there, divided by the smaller of k and the number of true "
        "labels",
        resample=a.mean_of(a.precision_at_k),
        rule=u.ranked_list,
        decision="plug-in",
    ),
    Metric(
        name=MetricName.DICE,
        title="mean Dice coefficient",
        definition="the mean over pictures of 2 * b / (t + n), where t is the number of pixels of the true mask, n "
        "the number of pixels of the named mask and b the number of pixels in both; 1 if t and n are 0",
        resample=a.mean_of(a.dice),
        rule=u.not_drawn,
        decision="plug-in",
    ),
    Metric(
        name=MetricName.IOU_THRESHOLDS,
        title="mean share of ten IoU thresholds that a mask exceeds",
        definition="the mean over pictures of the share of the thresholds 0.5, 0.55, 0.6, ..., 0.95 below b / e, where "
        "b is the number of pixels in both the true and the named mask and e the number of pixels in either; 1 if both "
        "masks are empty",
        resample=a.mean_of(a.iou_thresholds),
        rule=u.not_drawn,
        decision="plug-in",
    ),
    Metric(
        name=MetricName.RMSE,
        title="root mean squared error (RMSE)",
        definition="the square root of the mean over rows of (prediction - truth)^2",
        is_lower_better=True,
        resample=a.mean_of(a.over_places(a.squared_errors), np.sqrt),
        rule=u.mean,
    ),
    Metric(
        name=MetricName.MAE,
        title="mean absolute error (MAE)",
        definition="the mean over rows of |prediction - truth|",
        is_lower_better=True,
        resample=a.mean_of(a.absolute_errors),
        rule=u.median,
    ),
    Metric(
        name=MetricName.MEDAE,
        title="median absolute error",
        definition="the median over rows of |prediction - truth|",
        is_lower_better=True,
        resample=k.median_error,
        rule=u.densest_centre,
        decision="plug-in",
    ),
    Metric(
        name=MetricName.RMSLE,
        title="root mean squared logarithmic error (RMSLE)",
        definition="the square root of the mean over rows of (log(1 + prediction) - log(1 + truth))^2",
        is_lower_better=True,
        resample=a.mean_of(a.squared_log_errors, np.sqrt),
        rule=u.log_mean,
        is_nonnegative=True,
    ),
    Metric(
        name=MetricName.MAPE,
        title="mean absolute percentage error (MAPE)",
        definition="the mean over rows of |prediction - truth| / |truth|, as a fraction",
        is_lower_better=True,
        resample=a.mean_of(a.relative_errors),
        rule=u.relative_median,
    ),
    Metric(
        name=MetricName.SMAPE,
        title="symmetric mean absolute percentage error (SMAPE)",
        definition="the mean over rows of 200 * |prediction - truth| / (|prediction| + |truth|), 0 where both are 0",
        is_lower_better=True,
        resample=a.mean_of(a.symmetric_errors),
        rule=u.least_expected(a.symmetric_errors),
        decision="plug-in",
    ),
    Metric(
        name=MetricName.R2,
        title="coefficient of determination (R squared)",
        definition="1 - a / b, where a is the sum of (prediction - truth)^2 and b the sum of (truth - its mean)^2",
        resample=k.r_squared,
        rule=u.mean,
    ),
    Metric(
        name=MetricName.PEARSON,
        title="Pearson correlation",
        definition="the linear correlation of prediction and truth, 0 for a constant prediction",
        resample=k.pearson,
        rule=u.mean,
        decision="plug-in",
    ),
    Metric(
        name=MetricName.SPEARMAN,
        title="Spearman rank correlation",
        definition="the correlation of the ranks of prediction and truth, equal values sharing their mean rank, 0 for "
        "a constant prediction",
        resample=k.spearman,
        rule=u.expected_rank,
        decision="plug-in",
    ),
    Metric(
        name=MetricName.POISSON_DEVIANCE,
        title="mean Poisson deviance",
        definition="the mean over rows of 2 * (truth * log(truth / prediction) - truth + prediction), the first term 0 "
        "where the truth is 0, each prediction below 2.2e-16 taken as 2.2e-16",
        is_lower_better=True,
        resample=a.mean_of(a.poisson_deviances),
        rule=u.mean,
        is_nonnegative=True,
    ),
    Metric(
        name=MetricName.RMSE_COLUMNS,
        title="mean column-wise root mean squared error (MCRMSE)",
        definition="the mean over target columns of the square root of the mean over rows of (prediction - truth)^2",
        is_lower_better=True,
        resample=a.mean_of(a.squared_errors, np.sqrt),
        rule=u.of_columns(u.mean),
    ),
    Metric(
        name=MetricName.MAE_COLUMNS,
        title="mean column-wise mean absolute error",
        definition="the mean over target columns of the mean over rows of |prediction - truth|",
        is_lower_better=True,
        resample=a.mean_of(a.absolute_errors),
        rule=u.of_columns(u.median),
    ),
    Metric(
        name=MetricName.RMSLE_COLUMNS,
        title="mean column-wise root mean squared logarithmic error",
        definition="the mean over target columns of the square root of the mean over rows of "
        "(log(1 + prediction) - log(1 + truth))^2",
        is_lower_better=True,
        resample=a.mean_of(a.squared_log_errors, np.sqrt),
        rule=u.of_columns(u.log_mean),
        is_nonnegative=True,
    ),
    Metric(
        name=MetricName.SPEARMAN_COLUMNS,
        title="mean column-wise Spearman rank correlation",
        definition="the mean over target columns of the correlation of the ranks of prediction and truth, equal values "
        "sharing their mean rank, 0 for a constant column",
        resample=k.by_column(k.spearman),
        rule=u.of_columns(u.expected_rank),
        decision="plug-in",
    ),
)

METRICS: Mapping[MetricName, Metric] = MappingProxyType({metric.name: metric for metric in _TABLE})
