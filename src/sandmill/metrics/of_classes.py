"""Metrics of targets with one class for each row: binary, multiclass and ordinal."""

from sandmill.metrics import averages as a
from sandmill.metrics import ranks as k
from sandmill.metrics import rules as u
from sandmill.metrics import tallies as t
from sandmill.metrics.base import Metric
from sandmill.models.structure import MetricName

METRICS = (
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
        resample=a.mean_of(a.squared_probability_errors),
        rule=u.positive_probability,
    ),
    Metric(
        name=MetricName.ACCURACY,
        title="accuracy",
        definition="the number of rows whose class is named correctly, divided by the number of rows",
        resample=a.mean_of(a.hits),
        rule=u.likeliest_class,
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
        rule=u.weighted_class(t.mcc),
        decision="tuned",
    ),
    Metric(
        name=MetricName.COHEN_KAPPA,
        title="Cohen's kappa",
        definition="1 - m / e, where m is the number of rows whose class is named wrongly and e the number expected if "
        "the same classes were named in random order",
        resample=t.of_tallies(t.cohen_kappa),
        rule=u.class_for_kappa,
        decision="tuned",
    ),
    Metric(
        name=MetricName.QWK,
        title="quadratic weighted kappa",
        definition="1 - m / e, where m is the sum over rows of the squared distance between named and true class, "
        "counted in places of the class list, and e the sum expected if the same classes were named in random order",
        resample=t.quadratic_kappa,
        rule=u.stretched_grade,
        decision="tuned",
    ),
)
