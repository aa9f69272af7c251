"""Infer the structure of a task from a table and its target."""

from dataclasses import dataclass

from sandmill.models.structure import ColumnMix, MetricName, Modality, PathologyKind, Structure, TargetKind
from sandmill.seeds.profile import ColumnFacts, count_present, measure
from sandmill.seeds.source_problems import SourceProblem, Unsound
from sandmill.seeds.table_files import TableFile
from sandmill.seeds.target import CLASS_KINDS, USUAL_METRIC, contradiction, infer_kind
from sandmill.seeds.wording import any_of, show

HIGH_CARDINALITY = 50
"""A categorical column with more levels than this is a pathology."""

IMBALANCE = 0.25
"""Classes are imbalanced if the rarest has less than this part of an even share."""


MOST_EMPTY_TARGETS = 0.3
"""Largest share of rows without a target. Such rows are left out; above it the column is refused as a target."""


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


@dataclass(frozen=True)
class Inputs:
    """Summary of the input columns of a table."""

    mix: ColumnMix
    missing_share: float
    pathologies: tuple[PathologyKind, ...]
    is_mostly_text: bool


def profile_table(table: TableFile, wish: Wish, at: SourceProblem) -> Profiled:
    """Measure a table and infer its task.

    Args:
        table: an open table.
        wish: declared target and other facts; its columns must exist.
        at: file and line where the target is declared, for messages.

    Raises:
        Unsound: if the table cannot be read or the target cannot be learned.
    """
    notes = (*_empty_targets(table, wish.target, at), *_repeated_ids(table, wish.id_column))
    names = tuple(name for name in table.columns if name == wish.target or name not in wish.left_out)
    facts = measure(table, names, labelled=wish.target)
    target = facts.pop(wish.target)
    kind = _kind(target, wish, at)
    metric = wish.metric or USUAL_METRIC.get(kind)
    if metric is None:
        raise Unsound([_moved(at, f"no metric for a {kind} target", any_of(MetricName), "metric")])
    inputs = {name: column for name, column in facts.items() if column.kind != "identifier"}
    if not inputs:
        raise Unsound([SourceProblem(table.file, "no column besides target and ids", "at least one input column")])
    shares = class_shares(table, wish.target) if kind in CLASS_KINDS else {}
    return Profiled(_structure(kind, metric, target, describe_inputs(inputs), shares), notes)


def describe_inputs(inputs: dict[str, ColumnFacts]) -> Inputs:
    """Summarize the input columns of a table."""
    kinds = [column.kind for column in inputs.values()]
    missing = sum(column.missing_share for column in inputs.values()) / len(inputs)
    has_high_cardinality = any(c.kind == "categorical" and c.distinct > HIGH_CARDINALITY for c in inputs.values())
    found = ((PathologyKind.MISSING, missing > 0), (PathologyKind.HIGH_CARDINALITY, has_high_cardinality))
    return Inputs(
        mix=ColumnMix(
            numeric=kinds.count("numeric"),
            categorical=kinds.count("categorical"),
            date=kinds.count("date"),
            text=kinds.count("text"),
        ),
        missing_share=min(round(missing, 6), 0.999999),
        pathologies=tuple(kind for kind, present in found if present),
        is_mostly_text=kinds.count("text") * 2 > len(kinds),
    )


def _empty_targets(table: TableFile, target: str, at: SourceProblem) -> tuple[str, ...]:
    rows, present, _ = count_present(table, target)
    empty = rows - present
    if empty > MOST_EMPTY_TARGETS * rows:
        saw = f"no value in {empty} of {rows} rows of {show(target)}"
        raise Unsound([_moved(at, saw, f"a target that at most {MOST_EMPTY_TARGETS:.0%} of the rows lack")])
    return (f"{empty} of {rows} rows have no value of the target {show(target)} and are left out",) if empty else ()


def _repeated_ids(table: TableFile, column: str | None) -> tuple[str, ...]:
    if column is None:
        return ()
    rows, present, distinct = count_present(table, column)
    repeated, empty = present - distinct, rows - present
    found = ((repeated, "repeat an id of an earlier row"), (empty, "have no id"))
    return tuple(f"{count} of {rows} rows {what} in the id column {show(column)}" for count, what in found if count)


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
    if target.distinct < 2:
        saw = (
            f"{target.distinct} distinct values in {show(target.name)}"
            if target.distinct != 1
            else "the same value in every row"
        )
        raise Unsound([_moved(at, saw, "a target that differs between rows")])
    if wish.kind is not None:
        expected = contradiction(wish.kind, target)
        if expected:
            saw = f"{target.distinct} distinct {'numbers' if target.is_number else 'words'} in {show(target.name)}"
            raise Unsound([_moved(at, saw, expected, "target_kind")])
        return wish.kind
    kind = infer_kind(target)
    if kind is None:
        saw = f"{target.distinct} distinct words in {target.present} rows of {show(target.name)}"
        raise Unsound([_moved(at, saw, "numbers, or classes that repeat", hint="Free text cannot be a target yet.")])
    return kind


def _moved(at: SourceProblem, saw: str, expected: str, field: str = "", hint: str = "") -> SourceProblem:
    return SourceProblem(at.file, saw, expected, at.line, at.column, field or at.field, hint)


def _structure(
    kind: TargetKind, metric: MetricName, target: ColumnFacts, inputs: Inputs, shares: dict[str, float]
) -> Structure:
    is_rare = bool(shares) and min(shares.values()) * len(shares) < IMBALANCE
    found = {*inputs.pathologies, *([PathologyKind.IMBALANCE] if is_rare else [])}
    return Structure(
        modality=Modality.TEXT if inputs.is_mostly_text else Modality.TABULAR,
        target=kind,
        metric=metric,
        n_classes=len(shares) or None,
        columns=inputs.mix,
        missing_share=inputs.missing_share,
        positive_share=round(list(shares.values())[-1], 6) or None if kind is TargetKind.BINARY else None,
        pathologies=tuple(kind for kind in PathologyKind if kind in found),
        rows_train=target.rows,
    )
