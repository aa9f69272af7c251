"""Profile a table: measure its columns in one streaming pass, and infer target, metric and faults."""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal

from sandmill.models.profile import MOST_PROFILED, TableProfile
from sandmill.models.structure import ColumnMix, MetricName, Modality, PathologyKind, Structure, TargetKind
from sandmill.seeds.explain import any_of, show
from sandmill.seeds.guard import make_guard
from sandmill.seeds.profile import (
    DATE_PATTERN,
    MIN_IDENTIFIER_ROWS,
    is_text,
    profile_sample,
    sample_table,
    spread_columns,
)
from sandmill.seeds.source_files import SourceProblem, Unsound
from sandmill.seeds.table_files import MOST_READ, TableFile

if TYPE_CHECKING:
    import polars as pl

ColumnKind = Literal["numeric", "categorical", "date", "text", "identifier"]

_CELLS_AT_ONCE = 5_000_000
_REMEMBERED = 64
"""Tables whose profiles a process remembers."""

HIGH_CARDINALITY = 50
"""A categorical column with more levels than this is a pathology."""
IMBALANCE = 0.25
"""Classes are imbalanced if the rarest has less than this part of an even share."""
MOST_EMPTY_TARGETS = 0.3
"""Largest share of rows without a target. Such rows are left out; above it the column is refused as a target."""
LEAST_ROWS = 10
"""Rows with a target that a table has at least."""
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
class ColumnFacts:
    """Measurements of one column."""

    name: str
    rows: int
    present: int
    """Cells that are not empty."""
    distinct: int
    """Distinct values among the present cells."""
    is_number: bool
    is_whole: bool
    """A number without fractions in every cell."""
    is_date: bool
    spaces: float
    """Mean number of spaces in a cell; 0 for columns that are not text."""

    @property
    def missing_share(self) -> float:
        """Share of empty cells."""
        return 1 - self.present / self.rows

    @property
    def kind(self) -> ColumnKind:
        """The first kind that fits, in the order date, text, identifier, numeric, categorical."""
        if self.is_date:
            return "date"
        if is_text(self.spaces, self.distinct, self.present):
            return "text"
        never_repeats = self.distinct == self.rows >= MIN_IDENTIFIER_ROWS
        if never_repeats and (self.is_whole or not self.is_number):
            return "identifier"
        return "numeric" if self.is_number else "categorical"


def measure(table: TableFile, columns: tuple[str, ...], labelled: str | None = None) -> dict[str, ColumnFacts]:
    """Profile columns without loading the table.

    Args:
        table: the table, streamed.
        columns: what to measure.
        labelled: rows in which this column is empty are left out.

    Raises:
        Unsound: if the table is empty or holds lists or structs in these columns.
    """
    import polars as pl

    # A CSV is read whole for any of its columns. Of a Parquet table, distinct values of a few are held at once.
    size = max(1, len(columns) if table.is_csv else _CELLS_AT_ONCE // max(1, table.count_rows()))
    row: dict[str, Any] = {}
    for start in range(0, len(columns), size):
        asked = columns[start : start + size]
        frame = table.scan(list(dict.fromkeys([*asked, labelled] if labelled else asked)))
        frame = frame.filter(pl.col(labelled).is_not_null()) if labelled else frame
        row |= frame.select(map(_measurements, asked)).collect(engine="streaming").row(0, named=True)
    if not all(measured["rows"] for measured in row.values()):
        raise Unsound([SourceProblem(table.file, "a table with columns and no rows", "a table with rows")])
    return {name: _facts(name, **measured) for name, measured in row.items()}


def _measurements(name: str) -> "pl.Expr":
    import polars as pl

    cells = pl.col(name)
    numbers = cells.cast(pl.Float64, strict=False)
    values = pl.when(numbers.is_finite()).then(numbers)
    return pl.struct(
        rows=pl.len(),
        present=cells.count(),
        distinct=cells.drop_nulls().n_unique(),
        numbers=numbers.count(),
        whole=(values == values.round()).sum(),
        dates=cells.str.contains(DATE_PATTERN).sum(),
        spaces=cells.str.count_matches(" ", literal=True).mean(),
    ).alias(name)


def _facts(
    name: str, rows: int, present: int, distinct: int, numbers: int, whole: int, dates: int, spaces: float | None
) -> ColumnFacts:
    is_number, is_whole, is_date = (0 < present == found for found in (numbers, whole, dates))
    return ColumnFacts(
        name, rows, present, distinct, is_number, is_number and is_whole, is_date, 0.0 if is_number else spaces or 0.0
    )


@dataclass(frozen=True)
class Wish:
    """What is declared about a table. The rest is measured."""

    target: str
    kind: TargetKind | None = None
    metric: MetricName | None = None
    left_out: tuple[str, ...] = ()
    """Columns that are not inputs: ids and ignored columns."""


@dataclass(frozen=True)
class Profiled:
    """A table's structure."""

    structure: Structure
    notes: tuple[str, ...] = ()
    """Warnings about the table."""
    guard: bytes = b""
    """Salted hashes of its rows and rare values."""


def profile_table(table: TableFile, wish: Wish, at: SourceProblem) -> Profiled:
    """Measure a table and infer its task.

    Args:
        table: an open table.
        wish: declared target and other facts; its columns must exist.
        at: file and line where the target is declared, for messages.

    Raises:
        Unsound: if the table is empty or the target cannot be learned.
    """
    notes = _empty_targets(table, wish.target, at)
    names = tuple(name for name in table.columns if name == wish.target or name not in wish.left_out)
    facts = measure(table, names, labelled=wish.target)
    target = facts.pop(wish.target)
    if target.rows < LEAST_ROWS:
        saw, expected = f"{target.rows} rows with a target", f"at least {LEAST_ROWS}"
        raise Unsound([SourceProblem(table.file, saw, expected)])
    kind = _kind(target, wish, at)
    metric = wish.metric or USUAL_METRIC.get(kind)
    if metric is None:
        raise Unsound([replace(at, saw=f"no metric for a {kind} target", expected=any_of(MetricName), field="metric")])
    inputs = [column for column in facts.values() if column.kind != "identifier"]
    if not inputs:
        raise Unsound([SourceProblem(table.file, "no column besides target and ids", "at least one input column")])
    shares = class_shares(table, wish.target) if kind in CLASS_KINDS else {}
    structure = structure_of(inputs, kind, metric, target.rows, shares, len(shares) or None)
    profiled = Profiled(structure, notes)
    return with_profile(profiled, table, [one.name for one in inputs], [wish.target], list(shares.values()))


def with_profile(
    profiled: Profiled,
    table: TableFile,
    inputs: Sequence[str],
    targets: Sequence[str],
    class_shares: Sequence[float] = (),
) -> Profiled:
    """Add the profile of a table to its structure, and make its guard.

    Args:
        profiled: what is known by then.
        table: an open table.
        inputs: names of the input columns.
        targets: names of the target columns.
        class_shares: of the whole table, if they are known.
    """
    structure, notes, state = profiled.structure, profiled.notes, table.path.stat()
    asked = tuple(inputs), tuple(targets), structure.target, structure.rows_train or 1
    profile, guard = _profile_and_guard(table, (state.st_mtime_ns, state.st_size), *asked)
    if class_shares:
        rounded = tuple(sorted((round(share, 4) for share in class_shares), reverse=True))
        profile = profile.model_copy(update={"class_shares": rounded})
    if (read := table.rows_read) is not None:
        notes += (f"only about the first {read} rows are read: the table has more than {MOST_READ >> 30} GB",)
    return replace(profiled, structure=structure.model_copy(update={"profile": profile}), notes=notes, guard=guard)


@lru_cache(maxsize=_REMEMBERED)
def _profile_and_guard(
    table: TableFile,
    _state: tuple[int, int],
    inputs: tuple[str, ...],
    targets: tuple[str, ...],
    kind: TargetKind,
    rows: int,
) -> tuple[TableProfile, bytes]:
    """Profile a table whose file is in some state. The checks before a build and the build itself read the same."""
    kept = sample_table(table, [*spread_columns(inputs), *targets], targets, rows)
    whole = kept if len(inputs) <= MOST_PROFILED else sample_table(table, [*inputs, *targets], targets, rows)
    return profile_sample(kept, targets, kind, rows, len(inputs)), make_guard(whole.select(inputs))


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


def class_shares(table: TableFile, target: str) -> dict[str, float]:
    """Return the share of each class. Classes are sorted: numbers by size, words by alphabet."""
    counts = table.scan([target]).drop_nulls().group_by(target).len()
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
