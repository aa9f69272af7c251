"""Infer the kind of a target from its column."""

from sandmill.models.structure import MetricName, TargetKind
from sandmill.seeds.profile import ColumnFacts

MAX_INTEGER_CLASSES = 20
"""Whole numbers with more distinct values than this are quantities, not classes."""

MIN_ROWS_PER_CLASS = 5
"""Mean rows for each distinct value. Words or whole numbers that repeat less often are not classes."""

USUAL_METRIC = {
    TargetKind.BINARY: MetricName.ROC_AUC,
    TargetKind.MULTICLASS: MetricName.ACCURACY,
    TargetKind.REGRESSION: MetricName.RMSE,
    TargetKind.ORDINAL: MetricName.QWK,
    TargetKind.COUNT: MetricName.RMSLE,
}
"""Default metric of each kind of target."""

CLASS_KINDS = frozenset({TargetKind.BINARY, TargetKind.MULTICLASS, TargetKind.ORDINAL})


def infer_kind(target: ColumnFacts) -> TargetKind | None:
    """Infer the kind: 2 values are binary, few words or whole numbers multiclass, other numbers regression.

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
    """Return what a declared kind requires, if the column does not fit it; empty if it does."""
    if kind is TargetKind.BINARY and target.distinct != 2:
        return "exactly 2 distinct values for a binary target"
    if kind is TargetKind.MULTICLASS and target.distinct < 3:
        return "3 or more distinct values for a multiclass target"
    if kind in (TargetKind.REGRESSION, TargetKind.COUNT) and not target.is_number:
        return f"numbers for a {kind} target"
    return ""
