"""The supported pairs of target and metric, and the answer form of each pair."""

from collections.abc import Mapping
from types import MappingProxyType

from sandmill.models.structure import MetricName, TargetKind

_M, _T = MetricName, TargetKind

_BY_FORM: tuple[tuple[TargetKind, str, tuple[MetricName, ...]], ...] = (
    (_T.BINARY, "probability", (_M.ROC_AUC, _M.LOG_LOSS, _M.AVERAGE_PRECISION, _M.GINI, _M.BRIER)),
    (
        _T.BINARY,
        "label",
        (_M.ACCURACY, _M.F1, _M.MCC, _M.BALANCED_ACCURACY, _M.F1_MACRO, _M.COHEN_KAPPA, _M.TOP1_ERROR),
    ),
    (
        _T.MULTICLASS,
        "label",
        (_M.ACCURACY, _M.F1_MACRO, _M.F1_MICRO, _M.BALANCED_ACCURACY, _M.MCC, _M.COHEN_KAPPA, _M.TOP1_ERROR),
    ),
    (_T.MULTICLASS, "class_probabilities", (_M.LOG_LOSS,)),
    (_T.MULTICLASS, "ranked_list", (_M.MAP_AT_K,)),
    (_T.ORDINAL, "label", (_M.QWK, _M.COHEN_KAPPA, _M.ACCURACY, _M.BALANCED_ACCURACY, _M.F1_MACRO)),
    (_T.ORDINAL, "class_probabilities", (_M.LOG_LOSS,)),
    (_T.MULTILABEL, "label_probabilities", (_M.ROC_AUC_COLUMNS, _M.LOG_LOSS_COLUMNS, _M.ROC_AUC_PAIRS, _M.LWLRAP)),
    (_T.MULTILABEL, "label_list", (_M.F1_MICRO, _M.F1_MACRO, _M.F1_SAMPLES, _M.HAMMING_LOSS, _M.EXACT_MATCH)),
    (
        _T.REGRESSION,
        "value",
        (_M.RMSE, _M.MAE, _M.RMSLE, _M.R2, _M.MEDAE, _M.MAPE, _M.SMAPE, _M.PEARSON, _M.SPEARMAN),
    ),
    (_T.COUNT, "value", (_M.RMSLE, _M.POISSON_DEVIANCE, _M.RMSE, _M.MAE)),
    (_T.MULTI_TARGET, "values", (_M.RMSE_COLUMNS, _M.MAE_COLUMNS, _M.RMSLE_COLUMNS, _M.SPEARMAN_COLUMNS)),
)

ANSWER_FORMS: Mapping[tuple[TargetKind, MetricName], str] = MappingProxyType(
    {(target, metric): form for target, form, metrics in _BY_FORM for metric in metrics}
)
"""Name of the answer form for each target and metric. The usual metric of each target comes first. Other pairs are not
supported."""

RENDERED_FORMS: Mapping[tuple[TargetKind, MetricName], str] = MappingProxyType(
    {
        (_T.MASK, _M.RMSE): "dense",
        (_T.MASK, _M.DICE): "runs",
        (_T.MASK, _M.IOU_THRESHOLDS): "runs",
        (_T.SEQUENCE, _M.ACCURACY_TEXT): "strings",
    }
)
"""The same for targets that are rendered with the items, which no link of a mechanism draws."""

OTHER_FORMS: Mapping[tuple[TargetKind, MetricName], tuple[str, ...]] = MappingProxyType(
    {(_T.MULTILABEL, _M.ROC_AUC_PAIRS): ("pairs",)}
)
"""Answer forms that a kind of task may ask for in place of the usual one."""


def possible_forms(target: TargetKind, metric: MetricName) -> tuple[str, ...]:
    """Return the answer forms of a target and metric, the usual one first; empty if the pair is not supported."""
    usual = ANSWER_FORMS.get((target, metric)) or RENDERED_FORMS.get((target, metric))
    return (usual, *OTHER_FORMS.get((target, metric), ())) if usual else ()


SUPPORTED_TASKS: Mapping[TargetKind, tuple[MetricName, ...]] = MappingProxyType(
    {kind: tuple(metric for target, metric in ANSWER_FORMS if target is kind) for kind, _ in ANSWER_FORMS}
)
"""Metrics of each target kind, the usual one first."""
