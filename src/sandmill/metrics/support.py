"""The one table of which targets can be graded by which metric, and which of them can be made today."""

from collections.abc import Mapping
from types import MappingProxyType

from sandmill.models.package import Encoding
from sandmill.models.structure import MetricName, TargetKind

_M, _T = MetricName, TargetKind

_BY_ENCODING: tuple[tuple[TargetKind, Encoding, tuple[MetricName, ...]], ...] = (
    (
        _T.BINARY,
        "probability",
        (
            _M.ROC_AUC,
            _M.LOG_LOSS,
            _M.AVERAGE_PRECISION,
            _M.GINI,
            _M.BRIER,
            _M.ROC_AUC_PAIRS,
            _M.ROC_AUC_TPR_WEIGHTED,
            _M.LOG_LOSS_WEIGHTED,
            _M.F1_PROBABILISTIC,
        ),
    ),
    (
        _T.BINARY,
        "label",
        (_M.ACCURACY, _M.F1, _M.MCC, _M.BALANCED_ACCURACY, _M.F1_MACRO, _M.COHEN_KAPPA, _M.TOP1_ERROR),
    ),
    (
        _T.MULTICLASS,
        "label",
        (
            _M.ACCURACY,
            _M.F1_MACRO,
            _M.F1_MICRO,
            _M.BALANCED_ACCURACY,
            _M.MCC,
            _M.COHEN_KAPPA,
            _M.TOP1_ERROR,
        ),
    ),
    (_T.MULTICLASS, "class_probabilities", (_M.LOG_LOSS,)),
    (_T.MULTICLASS, "ranked_list", (_M.MAP_AT_K,)),
    (_T.ORDINAL, "label", (_M.QWK, _M.COHEN_KAPPA, _M.ACCURACY, _M.BALANCED_ACCURACY, _M.F1_MACRO)),
    (_T.ORDINAL, "class_probabilities", (_M.LOG_LOSS,)),
    (_T.MULTILABEL, "label_probabilities", (_M.ROC_AUC_COLUMNS, _M.LOG_LOSS_COLUMNS, _M.ROC_AUC_PAIRS, _M.LWLRAP)),
    (_T.MULTILABEL, "label_list", (_M.F1_MICRO, _M.F1_MACRO, _M.F1_SAMPLES, _M.HAMMING_LOSS, _M.EXACT_MATCH)),
    (_T.MULTILABEL, "ranked_list", (_M.MAP_AT_K,)),
    (_T.DISTRIBUTION, "class_probabilities", (_M.KL_DIVERGENCE,)),
    (
        _T.REGRESSION,
        "value",
        (
            _M.RMSE,
            _M.MAE,
            _M.RMSLE,
            _M.R2,
            _M.MEDAE,
            _M.MAPE,
            _M.SMAPE,
            _M.PEARSON,
            _M.SPEARMAN,
            _M.GINI,
            _M.POISSON_DEVIANCE,
            _M.LOG_MAE_BY_GROUP,
        ),
    ),
    (_T.REGRESSION, "quantiles", (_M.PINBALL,)),
    (_T.COUNT, "value", (_M.RMSLE, _M.POISSON_DEVIANCE, _M.RMSE, _M.MAE, _M.GINI)),
    (_T.MULTI_TARGET, "values", (_M.RMSE_COLUMNS, _M.MAE_COLUMNS, _M.RMSLE_COLUMNS, _M.SPEARMAN_COLUMNS)),
)

GRADED: Mapping[tuple[TargetKind, MetricName], Encoding] = MappingProxyType(
    {(target, metric): encoding for target, encoding, metrics in _BY_ENCODING for metric in metrics}
)
"""What a submission's cells hold for each target and metric; pairs that are not here cannot be graded."""

_NOT_MADE = frozenset(
    {
        (_T.BINARY, _M.ROC_AUC_PAIRS),
        (_T.BINARY, _M.ROC_AUC_TPR_WEIGHTED),
        (_T.BINARY, _M.LOG_LOSS_WEIGHTED),
        (_T.BINARY, _M.F1_PROBABILISTIC),
        (_T.MULTILABEL, _M.MAP_AT_K),
        (_T.DISTRIBUTION, _M.KL_DIVERGENCE),
        (_T.REGRESSION, _M.GINI),
        (_T.REGRESSION, _M.POISSON_DEVIANCE),
        (_T.REGRESSION, _M.LOG_MAE_BY_GROUP),
        (_T.REGRESSION, _M.PINBALL),
        (_T.COUNT, _M.GINI),
    }
)
"""Pairs that are graded and not made: what they need (weights, groups, shares, quantiles) or what other pairs do as
well."""

ENCODINGS: Mapping[tuple[TargetKind, MetricName], Encoding] = MappingProxyType(
    {pair: encoding for pair, encoding in GRADED.items() if pair not in _NOT_MADE}
)
"""The part of `GRADED` that designs can be made for; the usual metric of each target first."""

SUPPORTED_TASKS: Mapping[TargetKind, tuple[MetricName, ...]] = MappingProxyType(
    {kind: tuple(metric for target, metric in ENCODINGS if target is kind) for kind, _ in ENCODINGS}
)
"""Metrics that can be made, by target kind, the usual one first."""
