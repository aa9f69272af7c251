"""How difficult grammar designs turn out along the hardness knob, for every target and metric that can be made."""

from collections.abc import Mapping
from types import MappingProxyType

from sandmill.models.structure import MetricName, TargetKind

HARDNESS = (0.0, 0.25, 0.5, 0.75, 1.0)

TYPICAL: Mapping[tuple[TargetKind, MetricName], tuple[float, ...]] = MappingProxyType(
    {
        (TargetKind.BINARY, MetricName.ROC_AUC): (0.13, 0.21, 0.34, 0.43, 0.76),
        (TargetKind.BINARY, MetricName.LOG_LOSS): (0.50, 0.67, 0.80, 0.94, 1.00),
        (TargetKind.BINARY, MetricName.AVERAGE_PRECISION): (0.33, 0.52, 0.61, 0.76, 0.89),
        (TargetKind.BINARY, MetricName.GINI): (0.12, 0.27, 0.40, 0.61, 0.85),
        (TargetKind.BINARY, MetricName.BRIER): (0.50, 0.65, 0.76, 0.85, 1.00),
        (TargetKind.BINARY, MetricName.ACCURACY): (0.22, 0.38, 0.56, 0.85, 1.00),
        (TargetKind.BINARY, MetricName.F1): (0.43, 0.67, 0.99, 1.00, 1.00),
        (TargetKind.BINARY, MetricName.MCC): (0.18, 0.27, 0.49, 0.61, 0.74),
        (TargetKind.BINARY, MetricName.BALANCED_ACCURACY): (0.26, 0.37, 0.49, 0.64, 0.75),
        (TargetKind.BINARY, MetricName.F1_MACRO): (0.28, 0.35, 0.41, 0.51, 0.57),
        (TargetKind.BINARY, MetricName.COHEN_KAPPA): (0.30, 0.37, 0.54, 0.71, 0.86),
        (TargetKind.BINARY, MetricName.TOP1_ERROR): (0.42, 0.65, 0.87, 0.99, 1.00),
        (TargetKind.MULTICLASS, MetricName.ACCURACY): (0.20, 0.38, 0.48, 0.66, 0.73),
        (TargetKind.MULTICLASS, MetricName.F1_MACRO): (0.15, 0.23, 0.35, 0.48, 0.54),
        (TargetKind.MULTICLASS, MetricName.F1_MICRO): (0.21, 0.30, 0.40, 0.53, 0.65),
        (TargetKind.MULTICLASS, MetricName.BALANCED_ACCURACY): (0.20, 0.27, 0.44, 0.65, 0.73),
        (TargetKind.MULTICLASS, MetricName.MCC): (0.18, 0.26, 0.47, 0.60, 0.67),
        (TargetKind.MULTICLASS, MetricName.COHEN_KAPPA): (0.16, 0.26, 0.43, 0.58, 0.68),
        (TargetKind.MULTICLASS, MetricName.TOP1_ERROR): (0.19, 0.29, 0.50, 0.62, 0.73),
        (TargetKind.MULTICLASS, MetricName.LOG_LOSS): (0.41, 0.51, 0.68, 0.80, 0.99),
        (TargetKind.MULTICLASS, MetricName.MAP_AT_K): (0.15, 0.26, 0.40, 0.59, 0.72),
        (TargetKind.ORDINAL, MetricName.QWK): (0.08, 0.18, 0.33, 0.47, 0.63),
        (TargetKind.ORDINAL, MetricName.COHEN_KAPPA): (0.29, 0.47, 0.55, 0.69, 0.81),
        (TargetKind.ORDINAL, MetricName.ACCURACY): (0.32, 0.47, 0.66, 0.79, 1.00),
        (TargetKind.ORDINAL, MetricName.BALANCED_ACCURACY): (0.33, 0.48, 0.63, 0.71, 0.76),
        (TargetKind.ORDINAL, MetricName.F1_MACRO): (0.24, 0.36, 0.46, 0.49, 0.49),
        (TargetKind.ORDINAL, MetricName.LOG_LOSS): (0.50, 0.70, 0.94, 1.00, 1.00),
        (TargetKind.MULTILABEL, MetricName.ROC_AUC_COLUMNS): (0.14, 0.21, 0.29, 0.43, 0.66),
        (TargetKind.MULTILABEL, MetricName.LOG_LOSS_COLUMNS): (0.42, 0.49, 0.64, 0.90, 1.00),
        (TargetKind.MULTILABEL, MetricName.ROC_AUC_PAIRS): (0.18, 0.26, 0.37, 0.59, 0.81),
        (TargetKind.MULTILABEL, MetricName.LWLRAP): (0.23, 0.28, 0.41, 0.57, 0.86),
        (TargetKind.MULTILABEL, MetricName.F1_MICRO): (0.34, 0.40, 0.62, 0.82, 1.00),
        (TargetKind.MULTILABEL, MetricName.F1_MACRO): (0.31, 0.46, 0.62, 0.93, 1.00),
        (TargetKind.MULTILABEL, MetricName.F1_SAMPLES): (0.25, 0.37, 0.55, 0.73, 1.00),
        (TargetKind.MULTILABEL, MetricName.HAMMING_LOSS): (0.28, 0.44, 0.63, 0.80, 1.00),
        (TargetKind.MULTILABEL, MetricName.EXACT_MATCH): (0.34, 0.51, 0.69, 0.79, 1.00),
        (TargetKind.REGRESSION, MetricName.RMSE): (0.30, 0.43, 0.59, 0.80, 0.84),
        (TargetKind.REGRESSION, MetricName.MAE): (0.33, 0.47, 0.66, 0.92, 0.92),
        (TargetKind.REGRESSION, MetricName.RMSLE): (0.27, 0.38, 0.53, 0.67, 0.83),
        (TargetKind.REGRESSION, MetricName.R2): (0.17, 0.33, 0.51, 0.69, 0.84),
        (TargetKind.REGRESSION, MetricName.MEDAE): (0.17, 0.30, 0.49, 0.66, 0.82),
        (TargetKind.REGRESSION, MetricName.MAPE): (0.18, 0.29, 0.53, 0.70, 0.87),
        (TargetKind.REGRESSION, MetricName.SMAPE): (0.23, 0.33, 0.49, 0.69, 0.80),
        (TargetKind.REGRESSION, MetricName.PEARSON): (0.09, 0.16, 0.24, 0.40, 0.44),
        (TargetKind.REGRESSION, MetricName.SPEARMAN): (0.07, 0.14, 0.24, 0.37, 0.47),
        (TargetKind.COUNT, MetricName.RMSLE): (0.35, 0.45, 0.57, 0.77, 0.95),
        (TargetKind.COUNT, MetricName.POISSON_DEVIANCE): (0.30, 0.46, 0.69, 0.86, 0.89),
        (TargetKind.COUNT, MetricName.RMSE): (0.46, 0.55, 0.63, 0.87, 0.87),
        (TargetKind.COUNT, MetricName.MAE): (0.50, 0.61, 0.84, 0.84, 0.99),
        (TargetKind.MULTI_TARGET, MetricName.RMSE_COLUMNS): (0.22, 0.33, 0.57, 0.74, 0.91),
        (TargetKind.MULTI_TARGET, MetricName.MAE_COLUMNS): (0.21, 0.28, 0.51, 0.67, 0.78),
        (TargetKind.MULTI_TARGET, MetricName.RMSLE_COLUMNS): (0.33, 0.43, 0.53, 0.71, 0.73),
        (TargetKind.MULTI_TARGET, MetricName.SPEARMAN_COLUMNS): (0.09, 0.13, 0.29, 0.44, 0.48),
    }
)
"""About the median difficulty at each hardness, kept from falling: where a search starts and how far it steps.

A search that starts badly takes longer and ends no worse. `benchmarks/hardness.py` measures the curves.
"""
