"""Metrics of label sets and of ranked lists. Some of them are also used for single classes."""

from sandmill.metrics import averages as a
from sandmill.metrics import ranks as k
from sandmill.metrics import rules as u
from sandmill.metrics import tallies as t
from sandmill.metrics.base import Metric
from sandmill.models.structure import MetricName

METRICS = (
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
        rule=u.either(u.weighted_class(t.f1_macro), u.labels_above_own_cutoffs),
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
        definition="the mean over rows of the sum over places of the list, up to the k-th, that name a true label for "
        "the first time, of the share of true labels up to there, divided by the smaller of k and the number of true "
        "labels",
        resample=a.mean_of(a.precision_at_k),
        rule=u.ranked_list,
        decision="plug-in",
    ),
)
