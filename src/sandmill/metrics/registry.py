"""Which metrics can be graded."""

from collections.abc import Mapping
from types import MappingProxyType

from sandmill.errors import Problem, RequestError
from sandmill.metrics import classification as c
from sandmill.metrics import regression as r
from sandmill.metrics.base import Metric
from sandmill.metrics.support import ENCODINGS
from sandmill.models.package import Encoding
from sandmill.models.structure import MetricName, TargetKind

_METRICS = (
    Metric(
        name=MetricName.ROC_AUC,
        title="area under the ROC curve (ROC AUC)",
        definition="the chance that a randomly chosen positive row is given a higher value than a randomly chosen "
        "negative row, ties counting one half",
        is_lower_better=False,
        score=c.roc_auc,
        resample=c.resample_roc_auc,
        decide=c.decide_positive_probability,
        decision_is_exact=True,
    ),
    Metric(
        name=MetricName.ACCURACY,
        title="accuracy",
        definition="the number of rows whose class is named correctly, divided by the number of rows",
        is_lower_better=False,
        score=c.accuracy,
        resample=c.resample_accuracy,
        decide=c.decide_label,
        decision_is_exact=True,
    ),
    Metric(
        name=MetricName.LOG_LOSS,
        title="log loss",
        definition="the mean over rows of -log(p), where p is the probability given to the row's true class",
        is_lower_better=True,
        score=c.log_loss,
        resample=c.resample_log_loss,
        decide=c.decide_log_loss,
        decision_is_exact=True,
    ),
    Metric(
        name=MetricName.RMSE,
        title="root mean squared error (RMSE)",
        definition="the square root of the mean over rows of (prediction - truth)^2",
        is_lower_better=True,
        score=r.rmse,
        resample=r.resample_rmse,
        decide=r.decide_mean,
        decision_is_exact=True,
    ),
)

METRICS: Mapping[MetricName, Metric] = MappingProxyType({metric.name: metric for metric in _METRICS})

SUPPORTED = frozenset(METRICS)


def get_metric(name: MetricName | str) -> Metric:
    """Find a metric by its usual name.

    Raises:
        RequestError: if the metric cannot be graded yet; lists those that can.
    """
    if name not in METRICS:
        known = ", ".join(sorted(METRICS))
        raise RequestError("metric", [Problem("metric", f'"{name}"', f"one of {known}")])
    return METRICS[MetricName(name)]


def encoding_for(target: TargetKind, metric: MetricName) -> Encoding:
    """Say what a submission's cells hold.

    Raises:
        RequestError: if the metric does not suit the target.
    """
    try:
        return ENCODINGS[target, metric]
    except KeyError:
        pairs = ", ".join(f"{kind} with {name}" for kind, name in ENCODINGS)
        raise RequestError("metric", [Problem("metric", f"{target} with {metric}", f"one of {pairs}")]) from None
