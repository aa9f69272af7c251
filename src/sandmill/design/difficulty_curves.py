"""Typical difficulty of grammar designs as a function of hardness, for every supported pair of target and metric."""

from collections.abc import Mapping
from types import MappingProxyType

from sandmill.models.kinds import kind_of
from sandmill.models.structure import MetricName, Structure, TargetKind

HARDNESS = (0.0, 0.25, 0.5, 0.75, 1.0)
"""Hardness values of the measurements."""

DIFFICULTY_CURVES: Mapping[tuple[TargetKind, MetricName], tuple[float, ...]] = MappingProxyType(
    {
        (TargetKind.BINARY, MetricName.ROC_AUC): (0.22, 0.34, 0.45, 0.55, 0.81),
        (TargetKind.BINARY, MetricName.LOG_LOSS): (0.61, 0.65, 0.78, 0.84, 1.00),
        (TargetKind.BINARY, MetricName.AVERAGE_PRECISION): (0.39, 0.55, 0.68, 0.78, 0.88),
        (TargetKind.BINARY, MetricName.GINI): (0.21, 0.35, 0.49, 0.73, 0.83),
        (TargetKind.BINARY, MetricName.BRIER): (0.57, 0.66, 0.83, 0.98, 1.00),
        (TargetKind.BINARY, MetricName.ACCURACY): (0.40, 0.50, 0.65, 0.90, 1.00),
        (TargetKind.BINARY, MetricName.F1): (0.53, 0.59, 0.85, 0.99, 1.00),
        (TargetKind.BINARY, MetricName.MCC): (0.30, 0.38, 0.50, 0.62, 0.79),
        (TargetKind.BINARY, MetricName.BALANCED_ACCURACY): (0.33, 0.35, 0.50, 0.62, 0.85),
        (TargetKind.BINARY, MetricName.F1_MACRO): (0.35, 0.38, 0.49, 0.67, 0.78),
        (TargetKind.BINARY, MetricName.COHEN_KAPPA): (0.39, 0.41, 0.55, 0.67, 0.85),
        (TargetKind.BINARY, MetricName.TOP1_ERROR): (0.48, 0.73, 0.91, 1.00, 1.00),
        (TargetKind.MULTICLASS, MetricName.ACCURACY): (0.30, 0.36, 0.50, 0.67, 0.75),
        (TargetKind.MULTICLASS, MetricName.F1_MACRO): (0.26, 0.34, 0.42, 0.53, 0.61),
        (TargetKind.MULTICLASS, MetricName.F1_MICRO): (0.30, 0.38, 0.48, 0.53, 0.68),
        (TargetKind.MULTICLASS, MetricName.BALANCED_ACCURACY): (0.28, 0.36, 0.45, 0.58, 0.72),
        (TargetKind.MULTICLASS, MetricName.MCC): (0.26, 0.35, 0.44, 0.56, 0.70),
        (TargetKind.MULTICLASS, MetricName.COHEN_KAPPA): (0.29, 0.36, 0.43, 0.56, 0.66),
        (TargetKind.MULTICLASS, MetricName.TOP1_ERROR): (0.32, 0.42, 0.47, 0.63, 0.82),
        (TargetKind.MULTICLASS, MetricName.LOG_LOSS): (0.52, 0.61, 0.71, 0.86, 1.00),
        (TargetKind.MULTICLASS, MetricName.MAP_AT_K): (0.24, 0.32, 0.46, 0.54, 0.80),
        (TargetKind.ORDINAL, MetricName.QWK): (0.19, 0.27, 0.35, 0.43, 0.68),
        (TargetKind.ORDINAL, MetricName.COHEN_KAPPA): (0.46, 0.56, 0.66, 0.73, 0.82),
        (TargetKind.ORDINAL, MetricName.ACCURACY): (0.54, 0.58, 0.72, 0.82, 1.00),
        (TargetKind.ORDINAL, MetricName.BALANCED_ACCURACY): (0.49, 0.57, 0.64, 0.71, 0.81),
        (TargetKind.ORDINAL, MetricName.F1_MACRO): (0.43, 0.52, 0.56, 0.57, 0.70),
        (TargetKind.ORDINAL, MetricName.LOG_LOSS): (0.64, 0.73, 0.91, 1.00, 1.00),
        (TargetKind.MULTILABEL, MetricName.ROC_AUC_COLUMNS): (0.18, 0.25, 0.33, 0.46, 0.71),
        (TargetKind.MULTILABEL, MetricName.LOG_LOSS_COLUMNS): (0.48, 0.56, 0.72, 0.93, 1.00),
        (TargetKind.MULTILABEL, MetricName.ROC_AUC_PAIRS): (0.23, 0.29, 0.43, 0.60, 0.89),
        (TargetKind.MULTILABEL, MetricName.LWLRAP): (0.32, 0.32, 0.48, 0.68, 0.91),
        (TargetKind.MULTILABEL, MetricName.F1_MICRO): (0.38, 0.48, 0.66, 0.91, 1.00),
        (TargetKind.MULTILABEL, MetricName.F1_MACRO): (0.40, 0.51, 0.64, 0.99, 1.00),
        (TargetKind.MULTILABEL, MetricName.F1_SAMPLES): (0.43, 0.45, 0.62, 0.86, 1.00),
        (TargetKind.MULTILABEL, MetricName.HAMMING_LOSS): (0.38, 0.52, 0.66, 0.89, 1.00),
        (TargetKind.MULTILABEL, MetricName.EXACT_MATCH): (0.49, 0.59, 0.67, 0.90, 1.00),
        (TargetKind.REGRESSION, MetricName.RMSE): (0.39, 0.47, 0.61, 0.75, 0.88),
        (TargetKind.REGRESSION, MetricName.MAE): (0.40, 0.48, 0.60, 0.78, 0.98),
        (TargetKind.REGRESSION, MetricName.RMSLE): (0.41, 0.46, 0.61, 0.72, 0.93),
        (TargetKind.REGRESSION, MetricName.R2): (0.22, 0.33, 0.52, 0.71, 0.79),
        (TargetKind.REGRESSION, MetricName.MEDAE): (0.30, 0.42, 0.48, 0.68, 0.83),
        (TargetKind.REGRESSION, MetricName.MAPE): (0.38, 0.51, 0.74, 0.89, 0.95),
        (TargetKind.REGRESSION, MetricName.SMAPE): (0.36, 0.43, 0.60, 0.77, 0.89),
        (TargetKind.REGRESSION, MetricName.PEARSON): (0.15, 0.21, 0.30, 0.44, 0.55),
        (TargetKind.REGRESSION, MetricName.SPEARMAN): (0.14, 0.20, 0.28, 0.41, 0.57),
        (TargetKind.COUNT, MetricName.RMSLE): (0.44, 0.51, 0.62, 0.80, 0.97),
        (TargetKind.COUNT, MetricName.POISSON_DEVIANCE): (0.36, 0.52, 0.58, 0.82, 0.98),
        (TargetKind.COUNT, MetricName.RMSE): (0.58, 0.67, 0.81, 0.90, 1.00),
        (TargetKind.COUNT, MetricName.MAE): (0.70, 0.78, 0.96, 0.97, 1.00),
        (TargetKind.MULTI_TARGET, MetricName.RMSE_COLUMNS): (0.33, 0.42, 0.55, 0.66, 0.86),
        (TargetKind.MULTI_TARGET, MetricName.MAE_COLUMNS): (0.38, 0.43, 0.61, 0.75, 0.89),
        (TargetKind.MULTI_TARGET, MetricName.RMSLE_COLUMNS): (0.43, 0.54, 0.64, 0.72, 0.89),
        (TargetKind.MULTI_TARGET, MetricName.SPEARMAN_COLUMNS): (0.14, 0.21, 0.27, 0.43, 0.57),
    }
)
"""Median difficulty at each position of `HARDNESS`, made non-decreasing. A search for a band starts and steps by it.

A wrong curve makes a search longer, not worse. `benchmarks/hardness.py` measures the curves. These are half-way between
the medians of 4 designs and earlier medians of 20, moved by what all pairs have in common: designs that state facts are
up to .09 harder.
"""


def difficulty_curve(structure: Structure) -> tuple[float, ...]:
    """Typical difficulty of designs of a structure at each hardness; a straight line where it was never measured."""
    kind = kind_of(structure)
    curves = DIFFICULTY_CURVES if kind is None or kind.tasks is None else kind.tasks
    return curves.get((structure.target, structure.metric), HARDNESS)
