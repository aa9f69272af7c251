"""The table of metrics, whose texts and rules are in metrics.yaml."""

from collections.abc import Mapping
from importlib.resources import files

import yaml

from sandmill.errors import Problem, RequestError
from sandmill.models.structure import MetricName
from sandmill.scoring import rules, scores
from sandmill.scoring.base import Metric

_Loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_TABLE = yaml.load((files("sandmill.scoring") / "metrics.yaml").read_text(encoding="utf-8"), _Loader)
METRICS: Mapping[MetricName, Metric] = {
    MetricName(name): Metric(
        MetricName(name), **{**texts, "resample": getattr(scores, name), "rule": getattr(rules, texts["rule"])}
    )
    for name, texts in _TABLE.items()
}


def get_metric(name: MetricName | str) -> Metric:
    """Return a metric by its name.

    Raises:
        RequestError: if the metric cannot be graded. The error lists all metrics that can.
    """
    if name not in METRICS:
        known = ", ".join(sorted(METRICS))
        raise RequestError("metric", [Problem("metric", f'"{name}"', f"one of {known}")])
    return METRICS[MetricName(name)]
