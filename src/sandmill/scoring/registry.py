"""Look up metrics and answer forms."""

from sandmill.errors import Problem, RequestError
from sandmill.models.structure import MetricName, TargetKind
from sandmill.scoring.base import Metric
from sandmill.scoring.catalogue import METRICS
from sandmill.scoring.support import ANSWER_FORMS, RENDERED_FORMS, possible_forms


def get_metric(name: MetricName | str) -> Metric:
    """Return a metric by its name.

    Raises:
        RequestError: if the metric cannot be graded. The error lists all metrics that can.
    """
    if name not in METRICS:
        known = ", ".join(sorted(METRICS))
        raise RequestError("metric", [Problem("metric", f'"{name}"', f"one of {known}")])
    return METRICS[MetricName(name)]


def encoding_for(target: TargetKind, metric: MetricName) -> str:
    """Return the name of the usual answer form for a target and metric.

    Raises:
        RequestError: if the metric does not fit the target. The error lists all metrics that do.
    """
    if forms := possible_forms(target, metric):
        return forms[0]
    fitting = ", ".join(name for kind, name in (*ANSWER_FORMS, *RENDERED_FORMS) if kind is target) or "none yet"
    expected = f"a metric for this target: {fitting}"
    raise RequestError("metric", [Problem("metric", f"{target} with {metric}", expected)])
