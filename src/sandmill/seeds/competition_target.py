"""Infer what a competition predicts, from its cells and its metric together."""

from sandmill.metrics.support import ANSWER_FORMS
from sandmill.models.structure import MetricName, TargetKind
from sandmill.seeds.competition_tables import ColumnRoles
from sandmill.seeds.profile import ColumnFacts, measure
from sandmill.seeds.table_files import TableFile
from sandmill.seeds.tabular import infer_kind
from sandmill.seeds.wording import show

_SUM_TOLERANCE = 1e-6
_LEAST_CLASSES = 3
"""A submission for two classes has one column of probabilities, not two."""


class Unsettled(Exception):
    """The task of a competition cannot be inferred; the arguments are the needs of the seed."""


def settle_target(train: TableFile, columns: ColumnRoles, metric: MetricName) -> tuple[TargetKind, tuple[str, ...]]:
    """Infer the kind of the target and the columns of the training table that hold it.

    One answer column of the training table is the target. Several of them are one-hot classes, labels or numbers, by
    their cells and the metric. Answer columns that the training table lacks are the classes of its one column that the
    test table lacks, if they bear its values.

    Raises:
        Unsettled: if columns, cells and metric do not agree on one kind of target.
    """
    answers = columns.answers
    if not answers:
        raise Unsettled("an answer column in the sample submission")
    if set(answers) <= set(train.columns):
        kind = _one(train, answers[0], metric) if len(answers) == 1 else _several(train, answers, metric)
        return kind, answers
    if len(answers) >= _LEAST_CLASSES and len(columns.lacking) == 1:
        (column,) = columns.lacking
        if _takes_class_columns(metric) and _names_classes(train, column, answers):
            return TargetKind.MULTICLASS, (column,)
    raise Unsettled("a target: the answer columns are not in the training table")


def kind_under(metric: MetricName, target: ColumnFacts) -> TargetKind | None:
    """Return the kind of a target column that fits both its cells and the metric; None if there is none."""
    possible = {kind for kind, graded in ANSWER_FORMS if graded is metric}
    seen = infer_kind(target)
    if metric is MetricName.POISSON_DEVIANCE:
        return TargetKind.COUNT if target.is_whole else None
    if seen in possible:
        return seen
    if target.is_number and TargetKind.REGRESSION in possible:
        return TargetKind.REGRESSION
    is_ordinal = seen is TargetKind.MULTICLASS and target.is_whole and TargetKind.ORDINAL in possible
    return TargetKind.ORDINAL if is_ordinal else None


def _one(train: TableFile, column: str, metric: MetricName) -> TargetKind:
    facts = measure(train, (column,), labelled=column)[column]
    may_be_list = (TargetKind.MULTILABEL, metric) in ANSWER_FORMS and facts.spaces > 0
    kind = None if may_be_list else kind_under(metric, facts)
    if kind is None:
        misfit = f"its {facts.distinct} values do not fit the metric"
        why = "its cells may be lists of labels" if may_be_list else misfit
        raise Unsettled(f"the kind of the target {show(column)}: {why} {metric}")
    return kind


def _several(train: TableFile, answers: tuple[str, ...], metric: MetricName) -> TargetKind:
    import polars as pl

    numbers = [pl.col(name).cast(pl.String).cast(pl.Float64, strict=False) for name in answers]
    is_bit = pl.all_horizontal(number.is_in([0.0, 1.0]) for number in numbers)
    total = pl.sum_horizontal(numbers)
    row = (
        train.scan()
        .select(
            numbers=pl.all_horizontal(number.is_finite() for number in numbers).fill_null(False).all(),
            bits=is_bit.fill_null(False).all(),
            sums_to_one=((total - 1).abs() < _SUM_TOLERANCE).all(),
        )
        .collect(engine="streaming")
        .row(0, named=True)
    )
    possible = {kind for kind, graded in ANSWER_FORMS if graded is metric}
    may_be_classes = len(answers) >= _LEAST_CLASSES and _takes_class_columns(metric)
    found = (
        (TargetKind.MULTICLASS, row["bits"] and row["sums_to_one"] and may_be_classes),
        (TargetKind.MULTILABEL, row["bits"]),
        (TargetKind.MULTI_TARGET, row["numbers"]),
    )
    kind = next((kind for kind, holds in found if holds and kind in possible), None)
    if kind is None:
        why = "they do not fit the metric" if possible else "no task can be made for the metric"
        raise Unsettled(f"the kind of the {len(answers)} target columns: {why} {metric}")
    return kind


def _takes_class_columns(metric: MetricName) -> bool:
    """Whether a submission scored by the metric has one column for each class."""
    return ANSWER_FORMS.get((TargetKind.MULTICLASS, metric)) == "class_probabilities"


def _names_classes(train: TableFile, column: str, answers: tuple[str, ...]) -> bool:
    """Whether the answer columns are named after the values of a column, with or without its name as a prefix."""
    import polars as pl

    cells = pl.col(column).cast(pl.String)
    found = train.scan().select(cells.unique()).head(len(answers) + 2).collect(engine="streaming")
    values = {value for value in found.to_series().to_list() if value is not None}
    return set(answers) in (values, {f"{column}_{value}" for value in values})
