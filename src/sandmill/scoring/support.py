"""The supported pairs of target and metric, and the answer form of each pair."""

from collections.abc import Mapping
from importlib.resources import files

import yaml

from sandmill.errors import Problem, RequestError
from sandmill.models.structure import MetricName, TargetKind

_TABLE: dict[str, dict[str, list[str]]] = yaml.safe_load(
    files("sandmill.scoring").joinpath("support.yaml").read_text("utf-8")
)
_RENDERED = (TargetKind.MASK, TargetKind.SEQUENCE)
_FORMS = {
    (TargetKind(target), MetricName(metric)): form
    for target, forms in _TABLE.items()
    for form, metrics in forms.items()
    for metric in metrics
}
ANSWER_FORMS: Mapping[tuple[TargetKind, MetricName], str] = {
    pair: form for pair, form in _FORMS.items() if pair[0] not in _RENDERED
}
"""Name of the answer form for each target and metric. The usual metric of each target comes first. Other pairs are not
supported."""
RENDERED_FORMS: Mapping[tuple[TargetKind, MetricName], str] = {
    pair: form for pair, form in _FORMS.items() if pair[0] in _RENDERED
}
"""The same for targets that are rendered with the items, which no link of a mechanism draws."""

OTHER_FORMS: Mapping[tuple[TargetKind, MetricName], tuple[str, ...]] = {
    (TargetKind.MULTILABEL, MetricName.ROC_AUC_PAIRS): ("pairs",)
}
"""Answer forms that a kind of task may ask for in place of the usual one."""


def possible_forms(target: TargetKind, metric: MetricName) -> tuple[str, ...]:
    """Return the answer forms of a target and metric, the usual one first; empty if the pair is not supported."""
    usual = ANSWER_FORMS.get((target, metric)) or RENDERED_FORMS.get((target, metric))
    return (usual, *OTHER_FORMS.get((target, metric), ())) if usual else ()


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


SUPPORTED_TASKS: Mapping[TargetKind, tuple[MetricName, ...]] = {
    kind: tuple(metric for target, metric in ANSWER_FORMS if target is kind) for kind, _ in ANSWER_FORMS
}
"""Metrics of each target kind, the usual one first."""
