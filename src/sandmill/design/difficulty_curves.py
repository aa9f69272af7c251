"""Typical difficulty of grammar designs as a function of hardness, for every supported pair of target and metric."""

from collections.abc import Mapping
from itertools import accumulate
from math import log
from types import MappingProxyType

from sandmill.design.laws import FINE_SHARE
from sandmill.design.shape import shape_of
from sandmill.kinds.table import TABLE
from sandmill.models.base import Band
from sandmill.models.kind import kind_of
from sandmill.models.structure import MetricName, Structure, TargetKind

HARDNESS = (0.0, 0.25, 0.5, 0.75, 1.0)
"""Hardness values of the measurements."""

DIFFICULTY_CURVES: Mapping[tuple[TargetKind, MetricName], tuple[float, ...]] = MappingProxyType(
    {
        (TargetKind.BINARY, MetricName.ROC_AUC): (0.16, 0.24, 0.36, 0.50, 0.73),
        (TargetKind.BINARY, MetricName.LOG_LOSS): (0.56, 0.60, 0.79, 0.89, 1.00),
        (TargetKind.BINARY, MetricName.AVERAGE_PRECISION): (0.35, 0.41, 0.58, 0.79, 0.87),
        (TargetKind.BINARY, MetricName.GINI): (0.15, 0.26, 0.41, 0.66, 0.79),
        (TargetKind.BINARY, MetricName.BRIER): (0.48, 0.61, 0.72, 0.94, 1.00),
        (TargetKind.BINARY, MetricName.ACCURACY): (0.29, 0.41, 0.54, 0.91, 1.00),
        (TargetKind.BINARY, MetricName.F1): (0.40, 0.54, 0.79, 0.99, 1.00),
        (TargetKind.BINARY, MetricName.MCC): (0.22, 0.31, 0.42, 0.61, 0.74),
        (TargetKind.BINARY, MetricName.BALANCED_ACCURACY): (0.29, 0.35, 0.52, 0.60, 0.82),
        (TargetKind.BINARY, MetricName.F1_MACRO): (0.28, 0.36, 0.41, 0.59, 0.63),
        (TargetKind.BINARY, MetricName.COHEN_KAPPA): (0.34, 0.40, 0.49, 0.64, 0.85),
        (TargetKind.BINARY, MetricName.TOP1_ERROR): (0.43, 0.64, 0.86, 1.00, 1.00),
        (TargetKind.MULTICLASS, MetricName.ACCURACY): (0.24, 0.34, 0.46, 0.68, 0.78),
        (TargetKind.MULTICLASS, MetricName.F1_MACRO): (0.18, 0.27, 0.38, 0.48, 0.50),
        (TargetKind.MULTICLASS, MetricName.F1_MICRO): (0.25, 0.33, 0.48, 0.57, 0.62),
        (TargetKind.MULTICLASS, MetricName.BALANCED_ACCURACY): (0.21, 0.32, 0.44, 0.66, 0.74),
        (TargetKind.MULTICLASS, MetricName.MCC): (0.20, 0.31, 0.43, 0.59, 0.68),
        (TargetKind.MULTICLASS, MetricName.COHEN_KAPPA): (0.23, 0.32, 0.44, 0.62, 0.67),
        (TargetKind.MULTICLASS, MetricName.TOP1_ERROR): (0.26, 0.37, 0.47, 0.69, 0.84),
        (TargetKind.MULTICLASS, MetricName.LOG_LOSS): (0.37, 0.53, 0.66, 0.84, 1.00),
        (TargetKind.MULTICLASS, MetricName.MAP_AT_K): (0.18, 0.31, 0.46, 0.58, 0.88),
        (TargetKind.ORDINAL, MetricName.QWK): (0.11, 0.20, 0.33, 0.44, 0.69),
        (TargetKind.ORDINAL, MetricName.COHEN_KAPPA): (0.32, 0.48, 0.60, 0.72, 0.82),
        (TargetKind.ORDINAL, MetricName.ACCURACY): (0.42, 0.48, 0.63, 0.82, 1.00),
        (TargetKind.ORDINAL, MetricName.BALANCED_ACCURACY): (0.38, 0.51, 0.61, 0.70, 0.79),
        (TargetKind.ORDINAL, MetricName.F1_MACRO): (0.28, 0.39, 0.47, 0.48, 0.48),
        (TargetKind.ORDINAL, MetricName.LOG_LOSS): (0.52, 0.68, 0.84, 1.00, 1.00),
        (TargetKind.MULTILABEL, MetricName.ROC_AUC_COLUMNS): (0.11, 0.18, 0.28, 0.43, 0.68),
        (TargetKind.MULTILABEL, MetricName.LOG_LOSS_COLUMNS): (0.40, 0.47, 0.67, 0.93, 1.00),
        (TargetKind.MULTILABEL, MetricName.ROC_AUC_PAIRS): (0.14, 0.22, 0.39, 0.61, 0.93),
        (TargetKind.MULTILABEL, MetricName.LWLRAP): (0.19, 0.21, 0.43, 0.66, 0.85),
        (TargetKind.MULTILABEL, MetricName.F1_MICRO): (0.28, 0.38, 0.59, 0.99, 1.00),
        (TargetKind.MULTILABEL, MetricName.F1_MACRO): (0.29, 0.41, 0.54, 1.00, 1.00),
        (TargetKind.MULTILABEL, MetricName.F1_SAMPLES): (0.30, 0.34, 0.56, 0.85, 1.00),
        (TargetKind.MULTILABEL, MetricName.HAMMING_LOSS): (0.30, 0.45, 0.59, 0.85, 1.00),
        (TargetKind.MULTILABEL, MetricName.EXACT_MATCH): (0.35, 0.47, 0.59, 0.82, 1.00),
        (TargetKind.REGRESSION, MetricName.RMSE): (0.28, 0.40, 0.51, 0.72, 0.87),
        (TargetKind.REGRESSION, MetricName.MAE): (0.34, 0.46, 0.59, 0.70, 0.95),
        (TargetKind.REGRESSION, MetricName.RMSLE): (0.30, 0.42, 0.56, 0.68, 0.91),
        (TargetKind.REGRESSION, MetricName.R2): (0.15, 0.28, 0.46, 0.67, 0.78),
        (TargetKind.REGRESSION, MetricName.MEDAE): (0.20, 0.36, 0.42, 0.65, 0.82),
        (TargetKind.REGRESSION, MetricName.MAPE): (0.22, 0.40, 0.51, 0.75, 0.88),
        (TargetKind.REGRESSION, MetricName.SMAPE): (0.26, 0.39, 0.53, 0.73, 0.87),
        (TargetKind.REGRESSION, MetricName.PEARSON): (0.08, 0.17, 0.24, 0.42, 0.51),
        (TargetKind.REGRESSION, MetricName.SPEARMAN): (0.06, 0.15, 0.21, 0.41, 0.56),
        (TargetKind.COUNT, MetricName.RMSLE): (0.32, 0.42, 0.52, 0.77, 0.94),
        (TargetKind.COUNT, MetricName.POISSON_DEVIANCE): (0.26, 0.44, 0.54, 0.80, 0.93),
        (TargetKind.COUNT, MetricName.RMSE): (0.51, 0.59, 0.78, 0.90, 1.00),
        (TargetKind.COUNT, MetricName.MAE): (0.56, 0.72, 0.93, 0.99, 1.00),
        (TargetKind.MULTI_TARGET, MetricName.RMSE_COLUMNS): (0.29, 0.37, 0.53, 0.64, 0.81),
        (TargetKind.MULTI_TARGET, MetricName.MAE_COLUMNS): (0.25, 0.36, 0.47, 0.68, 0.82),
        (TargetKind.MULTI_TARGET, MetricName.RMSLE_COLUMNS): (0.36, 0.51, 0.63, 0.71, 0.80),
        (TargetKind.MULTI_TARGET, MetricName.SPEARMAN_COLUMNS): (0.07, 0.16, 0.24, 0.37, 0.50),
    }
)
"""Median difficulty of designs without stated facts at each position of `HARDNESS`, made non-decreasing. A search for a
band starts and steps by it.

A wrong curve makes a search longer, not worse. `benchmarks/hardness.py` measures the curves.
"""


STATED, STATED_EASY = (0.14, 0.20, 0.16, 0.09, 0.05), (0.05, 0.07, 0.08, 0.07, 0.04)
"""How much harder designs that state facts are at each position, mean over all pairs: those for other bands than easy,
and those for the easy band, which state one fact of a small share."""


_WIDE, _RARE, _LACKING = 0.065, 0.08, 0.22
"""Change of difficulty with the logarithms of the number of columns and of the rarer class, and with the share of
numbers that a rule lacks at hardness 1. Fitted to 189 pilots of 66 seeds, of which they explain a third of the variance
that the curves leave."""
_USUAL_COLUMNS, _USUAL_RARE, _LEAST_RARE = 10, 0.3, 0.05
_ENOUGH_NUMBERS = 8
"""Numbers of many values that a rule needs to have every motif. With fewer, most hidden motifs are missing."""


def difficulty_curve(structure: Structure, band: Band) -> tuple[float, ...]:
    """Return the typical difficulty of designs for a band at each position of `HARDNESS`.

    Pairs of target and metric that were never measured get a straight line. Where the columns of a seed are known, the
    curve is that of tables of their number and kind.
    """
    kind, pair = kind_of(structure), (structure.target, structure.metric)
    if kind is not None and kind.tasks is not None:
        return kind.tasks.get(pair, HARDNESS)
    curve = DIFFICULTY_CURVES.get(pair)
    if curve is None:
        return HARDNESS
    stated = STATED_EASY if band is Band.EASY else STATED
    moved = _moved_by_columns(structure)
    parts = zip(curve, stated, moved, strict=True)
    return tuple(accumulate((round(min(max(sum(part), 0.0), 1.0), 2) for part in parts), max))


def _moved_by_columns(structure: Structure) -> tuple[float, ...]:
    """Return how much harder designs are than usual at each position, from the columns of their seed."""
    shape = shape_of(structure, TABLE)
    if shape is None:
        return (0.0,) * len(HARDNESS)
    fine = sum(like is None or like.distinct_share >= FINE_SHARE for like in shape.numbers)
    lacking = 1 - min(fine, _ENOUGH_NUMBERS) / _ENOUGH_NUMBERS
    moved = _WIDE * log(max(shape.count, 3) / _USUAL_COLUMNS)
    if structure.target is TargetKind.BINARY and structure.positive_share is not None:
        rare = max(min(structure.positive_share, 1 - structure.positive_share), _LEAST_RARE)
        moved += _RARE * log(_USUAL_RARE / rare)
    return tuple(round(moved - _LACKING * lacking * hardness, 3) for hardness in HARDNESS)
