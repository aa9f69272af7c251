"""How difficult grammar designs turn out along the hardness knob, for every target and metric that can be made."""

from collections.abc import Mapping
from types import MappingProxyType

from sandmill.models.structure import MetricName, TargetKind

HARDNESS = (0.0, 0.25, 0.5, 0.75, 1.0)

TYPICAL: Mapping[tuple[TargetKind, MetricName], tuple[float, ...]] = MappingProxyType(
    {
        (TargetKind.BINARY, MetricName.ROC_AUC): (0.12, 0.20, 0.38, 0.60, 0.90),
        (TargetKind.BINARY, MetricName.LOG_LOSS): (0.48, 0.70, 0.87, 1.00, 1.00),
        (TargetKind.BINARY, MetricName.AVERAGE_PRECISION): (0.33, 0.61, 0.69, 0.83, 0.89),
        (TargetKind.BINARY, MetricName.GINI): (0.10, 0.23, 0.43, 0.70, 0.86),
        (TargetKind.BINARY, MetricName.BRIER): (0.53, 0.68, 0.83, 1.00, 1.00),
        (TargetKind.BINARY, MetricName.ACCURACY): (0.15, 0.37, 0.55, 0.82, 1.00),
        (TargetKind.BINARY, MetricName.F1): (0.40, 0.64, 0.96, 1.00, 1.00),
        (TargetKind.BINARY, MetricName.MCC): (0.14, 0.22, 0.37, 0.58, 0.82),
        (TargetKind.BINARY, MetricName.BALANCED_ACCURACY): (0.23, 0.34, 0.49, 0.74, 0.83),
        (TargetKind.BINARY, MetricName.F1_MACRO): (0.28, 0.36, 0.53, 0.65, 0.65),
        (TargetKind.BINARY, MetricName.COHEN_KAPPA): (0.25, 0.34, 0.53, 0.80, 0.91),
        (TargetKind.BINARY, MetricName.TOP1_ERROR): (0.38, 0.61, 0.82, 1.00, 1.00),
        (TargetKind.MULTICLASS, MetricName.ACCURACY): (0.16, 0.41, 0.44, 0.64, 0.86),
        (TargetKind.MULTICLASS, MetricName.F1_MACRO): (0.13, 0.20, 0.32, 0.48, 0.48),
        (TargetKind.MULTICLASS, MetricName.F1_MICRO): (0.19, 0.26, 0.51, 0.60, 0.62),
        (TargetKind.MULTICLASS, MetricName.BALANCED_ACCURACY): (0.17, 0.23, 0.42, 0.60, 0.64),
        (TargetKind.MULTICLASS, MetricName.MCC): (0.15, 0.22, 0.42, 0.60, 0.63),
        (TargetKind.MULTICLASS, MetricName.COHEN_KAPPA): (0.11, 0.21, 0.45, 0.59, 0.62),
        (TargetKind.MULTICLASS, MetricName.TOP1_ERROR): (0.14, 0.26, 0.48, 0.70, 0.85),
        (TargetKind.MULTICLASS, MetricName.LOG_LOSS): (0.39, 0.46, 0.69, 0.83, 1.00),
        (TargetKind.MULTICLASS, MetricName.MAP_AT_K): (0.12, 0.22, 0.40, 0.66, 0.68),
        (TargetKind.ORDINAL, MetricName.QWK): (0.08, 0.18, 0.27, 0.49, 0.63),
        (TargetKind.ORDINAL, MetricName.COHEN_KAPPA): (0.23, 0.46, 0.57, 0.66, 0.80),
        (TargetKind.ORDINAL, MetricName.ACCURACY): (0.27, 0.42, 0.62, 0.89, 1.00),
        (TargetKind.ORDINAL, MetricName.BALANCED_ACCURACY): (0.25, 0.46, 0.63, 0.72, 0.81),
        (TargetKind.ORDINAL, MetricName.F1_MACRO): (0.19, 0.35, 0.45, 0.50, 0.50),
        (TargetKind.ORDINAL, MetricName.LOG_LOSS): (0.43, 0.67, 0.86, 1.00, 1.00),
        (TargetKind.MULTILABEL, MetricName.ROC_AUC_COLUMNS): (0.14, 0.20, 0.32, 0.45, 0.74),
        (TargetKind.MULTILABEL, MetricName.LOG_LOSS_COLUMNS): (0.43, 0.50, 0.70, 0.97, 1.00),
        (TargetKind.MULTILABEL, MetricName.ROC_AUC_PAIRS): (0.20, 0.25, 0.38, 0.60, 0.94),
        (TargetKind.MULTILABEL, MetricName.LWLRAP): (0.26, 0.26, 0.44, 0.62, 0.99),
        (TargetKind.MULTILABEL, MetricName.F1_MICRO): (0.28, 0.37, 0.68, 0.98, 1.00),
        (TargetKind.MULTILABEL, MetricName.F1_MACRO): (0.25, 0.46, 0.57, 1.00, 1.00),
        (TargetKind.MULTILABEL, MetricName.F1_SAMPLES): (0.17, 0.31, 0.58, 0.88, 1.00),
        (TargetKind.MULTILABEL, MetricName.HAMMING_LOSS): (0.28, 0.44, 0.64, 0.93, 1.00),
        (TargetKind.MULTILABEL, MetricName.EXACT_MATCH): (0.38, 0.46, 0.61, 0.83, 1.00),
        (TargetKind.REGRESSION, MetricName.RMSE): (0.27, 0.33, 0.64, 0.70, 0.83),
        (TargetKind.REGRESSION, MetricName.MAE): (0.29, 0.39, 0.55, 0.76, 0.94),
        (TargetKind.REGRESSION, MetricName.RMSLE): (0.25, 0.40, 0.53, 0.75, 0.84),
        (TargetKind.REGRESSION, MetricName.R2): (0.08, 0.26, 0.50, 0.63, 0.84),
        (TargetKind.REGRESSION, MetricName.MEDAE): (0.11, 0.24, 0.47, 0.63, 0.84),
        (TargetKind.REGRESSION, MetricName.MAPE): (0.12, 0.21, 0.55, 0.68, 1.00),
        (TargetKind.REGRESSION, MetricName.SMAPE): (0.16, 0.27, 0.56, 0.71, 0.84),
        (TargetKind.REGRESSION, MetricName.PEARSON): (0.04, 0.12, 0.30, 0.47, 0.59),
        (TargetKind.REGRESSION, MetricName.SPEARMAN): (0.03, 0.08, 0.27, 0.42, 0.61),
        (TargetKind.COUNT, MetricName.RMSLE): (0.35, 0.46, 0.67, 0.94, 0.98),
        (TargetKind.COUNT, MetricName.POISSON_DEVIANCE): (0.25, 0.39, 0.61, 0.81, 1.00),
        (TargetKind.COUNT, MetricName.RMSE): (0.41, 0.47, 0.75, 0.88, 0.96),
        (TargetKind.COUNT, MetricName.MAE): (0.40, 0.52, 0.73, 0.96, 1.00),
        (TargetKind.MULTI_TARGET, MetricName.RMSE_COLUMNS): (0.15, 0.26, 0.47, 0.78, 0.92),
        (TargetKind.MULTI_TARGET, MetricName.MAE_COLUMNS): (0.16, 0.19, 0.47, 0.74, 0.80),
        (TargetKind.MULTI_TARGET, MetricName.RMSLE_COLUMNS): (0.32, 0.41, 0.55, 0.65, 0.77),
        (TargetKind.MULTI_TARGET, MetricName.SPEARMAN_COLUMNS): (0.05, 0.08, 0.20, 0.34, 0.56),
    }
)
"""Median difficulty at each hardness, measured by `benchmarks/hardness.py` and kept from falling: where a search starts
and how far it steps. A search that starts badly takes longer and ends no worse."""
