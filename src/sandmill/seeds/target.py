"""Decide what kind of task a target column makes, by one stated rule."""

from sandmill.models.structure import MetricName, TargetKind
from sandmill.seeds.profile import ColumnFacts

MAX_INTEGER_CLASSES = 20
"""Whole numbers with more distinct values than this are quantities, not classes."""

MIN_ROWS_PER_CLASS = 5
"""On average: words or whole numbers that repeat less often are not classes."""

USUAL_METRIC = {
    TargetKind.BINARY: MetricName.ROC_AUC,
    TargetKind.MULTICLASS: MetricName.ACCURACY,
    TargetKind.REGRESSION: MetricName.RMSE,
    TargetKind.ORDINAL: MetricName.QWK,
    TargetKind.COUNT: MetricName.RMSLE,
}
"""Metric where a seed names none."""

CLASS_KINDS = frozenset({TargetKind.BINARY, TargetKind.MULTICLASS, TargetKind.ORDINAL})


def infer_kind(target: ColumnFacts) -> TargetKind | None:
    """Read the kind off the column: 2 values binary, few words or whole numbers multiclass, other numbers regression.

    Returns:
        None for words that repeat too rarely to be classes.
    """
    if target.distinct == 2:
        return TargetKind.BINARY
    repeats = target.present >= MIN_ROWS_PER_CLASS * target.distinct
    if target.is_number:
        is_class = target.is_whole and target.distinct <= MAX_INTEGER_CLASSES and repeats
        return TargetKind.MULTICLASS if is_class else TargetKind.REGRESSION
    return TargetKind.MULTICLASS if repeats else None


def contradiction(kind: TargetKind, target: ColumnFacts) -> str:
    """Say why a declared kind cannot be; empty if it can."""
    if kind is TargetKind.BINARY and target.distinct != 2:
        return "exactly 2 distinct values for a binary target"
    if kind is TargetKind.MULTICLASS and target.distinct < 3:
        return "3 or more distinct values for a multiclass target"
    if kind in (TargetKind.REGRESSION, TargetKind.COUNT) and not target.is_number:
        return f"numbers for a {kind} target"
    return ""
