"""Infer the structure of a task from a table and its target."""

from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType

from sandmill.models.structure import ColumnMix, MetricName, Modality, PathologyKind, Structure, TargetKind
from sandmill.seeds.profile import ColumnFacts, measure
from sandmill.seeds.source_problems import SourceProblem, Unsound
from sandmill.seeds.table_files import TableFile
from sandmill.seeds.wording import any_of, show

HIGH_CARDINALITY = 50
"""A categorical column with more levels than this is a pathology."""

IMBALANCE = 0.25
"""Classes are imbalanced if the rarest has less than this part of an even share."""

MOST_EMPTY_TARGETS = 0.3
"""Largest share of rows without a target. Such rows are left out; above it the column is refused as a target."""

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


@dataclass(frozen=True)
class Wish:
    """What is declared about a table. The rest is measured."""

    target: str
    kind: TargetKind | None = None
    metric: MetricName | None = None
    left_out: tuple[str, ...] = ()
    """Columns that are not inputs: ids and ignored columns."""
    id_column: str | None = None
    """Declared column that identifies rows."""


@dataclass(frozen=True)
class Profiled:
    """A table's structure."""

    structure: Structure
    notes: tuple[str, ...] = ()
    """Warnings about the table."""


def profile_table(table: TableFile, wish: Wish, at: SourceProblem) -> Profiled:
    """Measure a table and infer its task.

    Args:
        table: an open table.
        wish: declared target and other facts; its columns must exist.
        at: file and line where the target is declared, for messages.

    Raises:
        Unsound: if the table is empty or the target cannot be learned.
    """
    notes = (*_empty_targets(table, wish.target, at), *_repeated_ids(table, wish.id_column))
    names = tuple(name for name in table.columns if name == wish.target or name not in wish.left_out)
    facts = measure(table, names, labelled=wish.target)
    target = facts.pop(wish.target)
    kind = _kind(target, wish, at)
    metric = wish.metric or USUAL_METRIC.get(kind)
    if metric is None:
        raise Unsound([replace(at, saw=f"no metric for a {kind} target", expected=any_of(MetricName), field="metric")])
    inputs = [column for column in facts.values() if column.kind != "identifier"]
    if not inputs:
        raise Unsound([SourceProblem(table.file, "no column besides target and ids", "at least one input column")])
    shares = class_shares(table, wish.target) if kind in CLASS_KINDS else {}
    return Profiled(structure_of(inputs, kind, metric, target.rows, shares, len(shares) or None), notes)


def structure_of(
    inputs: Collection[ColumnFacts],
    kind: TargetKind,
    metric: MetricName,
    rows_train: int,
    shares: Mapping[str, float] = MappingProxyType({}),
    n_classes: int | None = None,
    n_targets: int = 1,
) -> Structure:
    """Describe a task by its input columns and its target.

    Args:
        inputs: at least one column.
        kind: of the target.
        metric: of the task.
        rows_train: rows with a target.
        shares: share of each class in one target column, in order; empty if it has no classes.
        n_classes: number of classes, if the target has any.
        n_targets: columns of the target.
    """
    kinds = Counter[str](column.kind for column in inputs)
    missing = sum(column.missing_share for column in inputs) / len(inputs)
    found = (
        (PathologyKind.MISSING, missing > 0),
        (PathologyKind.IMBALANCE, bool(shares) and min(shares.values()) * len(shares) < IMBALANCE),
        (
            PathologyKind.HIGH_CARDINALITY,
            any(column.kind == "categorical" and column.distinct > HIGH_CARDINALITY for column in inputs),
        ),
    )
    return Structure(
        modality=Modality.TEXT if kinds["text"] * 2 > len(inputs) else Modality.TABULAR,
        target=kind,
        metric=metric,
        n_classes=n_classes,
        n_targets=n_targets,
        columns=ColumnMix(**{name: kinds[name] for name in ColumnMix.model_fields}),
        missing_share=min(round(missing, 6), 0.999999),
        positive_share=round(list(shares.values())[-1], 6) or None if kind is TargetKind.BINARY else None,
        pathologies=tuple(pathology for pathology, is_present in found if is_present),
        rows_train=rows_train,
    )


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


def _contradiction(kind: TargetKind, target: ColumnFacts) -> str:
    """Return what a declared kind requires, if the column does not fit it; empty if it does."""
    if kind is TargetKind.BINARY and target.distinct != 2:
        return "exactly 2 distinct values for a binary target"
    if kind is TargetKind.MULTICLASS and target.distinct < 3:
        return "3 or more distinct values for a multiclass target"
    if kind in (TargetKind.REGRESSION, TargetKind.COUNT) and not target.is_number:
        return f"numbers for a {kind} target"
    return ""


def _empty_targets(table: TableFile, target: str, at: SourceProblem) -> tuple[str, ...]:
    column = measure(table, (target,))[target]
    empty = column.rows - column.present
    if empty > MOST_EMPTY_TARGETS * column.rows:
        saw = f"no value in {empty} of {column.rows} rows of {show(target)}"
        expected = f"a target that at most {MOST_EMPTY_TARGETS:.0%} of the rows lack"
        raise Unsound([replace(at, saw=saw, expected=expected)])
    said = f"{empty} of {column.rows} rows have no value of the target {show(target)} and are left out"
    return (said,) if empty else ()


def _repeated_ids(table: TableFile, name: str | None) -> tuple[str, ...]:
    if name is None:
        return ()
    ids = measure(table, (name,))[name]
    repeated, empty = ids.present - ids.distinct, ids.rows - ids.present
    found = ((repeated, "repeat an id of an earlier row"), (empty, "have no id"))
    return tuple(f"{count} of {ids.rows} rows {what} in the id column {show(name)}" for count, what in found if count)


def class_shares(table: TableFile, target: str) -> dict[str, float]:
    """Return the share of each class. Classes are sorted: numbers by size, words by alphabet."""
    import polars as pl

    names = pl.col(target).cast(pl.String)
    counts = table.scan().select(names).filter(names.is_not_null() & (names != "NaN")).group_by(target).len()
    pairs = counts.collect(engine="streaming").rows()
    total = sum(count for _, count in pairs)
    return {name: count / total for name, count in sorted(pairs, key=lambda pair: _class_order(pair[0]))}


def _class_order(name: str) -> tuple[int, float, str]:
    try:
        return 0, float(name), name
    except ValueError:
        return 1, 0.0, name


def _kind(target: ColumnFacts, wish: Wish, at: SourceProblem) -> TargetKind:
    values, name = f"{target.distinct} distinct", show(target.name)
    if target.distinct < 2:
        saw = "the same value in every row" if target.distinct else f"{values} values in {name}"
        raise Unsound([replace(at, saw=saw, expected="a target that differs between rows")])
    if wish.kind is not None:
        if expected := _contradiction(wish.kind, target):
            saw = f"{values} {'numbers' if target.is_number else 'words'} in {name}"
            raise Unsound([replace(at, saw=saw, expected=expected, field="target_kind")])
        return wish.kind
    kind = infer_kind(target)
    if kind is None:
        saw, hint = f"{values} words in {target.present} rows of {name}", "Free text cannot be a target yet."
        raise Unsound([replace(at, saw=saw, expected="numbers, or classes that repeat", hint=hint)])
    return kind
