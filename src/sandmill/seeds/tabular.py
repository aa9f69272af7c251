"""From a table and its target to a structure: what folders with a table and competitions with data have in common."""

from collections.abc import Collection
from dataclasses import dataclass

from sandmill.models.seed import ColumnProfile
from sandmill.models.structure import ColumnMix, MetricName, Modality, PathologyKind, Structure, TargetKind
from sandmill.seeds.dependence import dependences
from sandmill.seeds.findings import Finding, Unsound
from sandmill.seeds.profile import ColumnFacts, measure
from sandmill.seeds.tables import Table
from sandmill.seeds.target import CLASS_KINDS, USUAL_METRIC, contradiction, infer_kind
from sandmill.seeds.wording import any_of, show

HIGH_CARDINALITY = 50
"""More levels than this in a column of words make it a pathology."""

IMBALANCE = 0.25
"""The rarest class has less than this part of an even share."""


@dataclass(frozen=True)
class Wish:
    """What a person said about a table; the rest is measured."""

    target: str
    kind: TargetKind | None = None
    metric: MetricName | None = None
    left_out: tuple[str, ...] = ()
    """Columns that are no inputs: ids and what is to be ignored."""


@dataclass(frozen=True)
class Profiled:
    """A table's structure and the figures of its columns."""

    structure: Structure
    columns: tuple[ColumnProfile, ...]


def profile_table(table: Table, wish: Wish, at: Finding) -> Profiled:
    """Measure a table and name the task that it makes.

    Args:
        table: an open table.
        wish: target and what else was declared; its columns must exist.
        at: where the target was named; problems with what was declared point there, under the declared field.

    Raises:
        Unsound: if the table cannot be read or the target cannot be learned.
    """
    names = tuple(name for name in table.columns if name == wish.target or name not in wish.left_out)
    facts = measure(table, names)
    target = facts.pop(wish.target)
    kind = _kind(target, wish, at)
    metric = wish.metric or USUAL_METRIC.get(kind)
    if metric is None:
        raise Unsound([_moved(at, f"no metric for a {kind} target", any_of(MetricName), "metric")])
    inputs = {name: column for name, column in facts.items() if column.kind != "identifier"}
    if not inputs:
        raise Unsound([Finding(table.file, "no column besides target and ids", "at least one input column")])
    shares = class_shares(table, wish.target) if kind in CLASS_KINDS else {}
    measured = dependences(table, target, inputs, classes=bool(shares))
    columns = tuple(_column(column, measured.get(name)) for name, column in facts.items())
    return Profiled(_structure(kind, metric, target, inputs, shares), columns)


def class_shares(table: Table, target: str) -> dict[str, float]:
    """Measure the share of each class, in order of the classes: numbers by size, words by alphabet."""
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


def _kind(target: ColumnFacts, wish: Wish, at: Finding) -> TargetKind:
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


def _moved(at: Finding, saw: str, expected: str, field: str = "", hint: str = "") -> Finding:
    return Finding(at.file, saw, expected, at.line, at.column, field or at.field, hint)


def _column(facts: ColumnFacts, dependence: float | None) -> ColumnProfile:
    return ColumnProfile(
        name=facts.name,
        kind=facts.kind,
        distinct=facts.distinct,
        missing_share=round(facts.missing_share, 6),
        skew=facts.skew if facts.kind == "numeric" else None,
        dependence=dependence,
    )


def _structure(
    kind: TargetKind,
    metric: MetricName,
    target: ColumnFacts,
    inputs: dict[str, ColumnFacts],
    shares: dict[str, float],
) -> Structure:
    kinds = [column.kind for column in inputs.values()]
    missing = sum(column.missing_share for column in inputs.values()) / len(inputs)
    return Structure(
        modality=Modality.TEXT if kinds.count("text") * 2 > len(kinds) else Modality.TABULAR,
        target=kind,
        metric=metric,
        n_classes=len(shares) or None,
        columns=ColumnMix(
            numeric=kinds.count("numeric"),
            categorical=kinds.count("categorical"),
            date=kinds.count("date"),
            text=kinds.count("text"),
        ),
        missing_share=min(round(missing, 6), 0.999999),
        positive_share=round(list(shares.values())[-1], 6) or None if kind is TargetKind.BINARY else None,
        pathologies=_pathologies(inputs, shares, missing),
        rows_train=target.rows,
    )


def _pathologies(inputs: dict[str, ColumnFacts], shares: dict[str, float], missing: float) -> tuple[PathologyKind, ...]:
    found: Collection[tuple[PathologyKind, bool]] = (
        (PathologyKind.MISSING, missing > 0),
        (PathologyKind.IMBALANCE, bool(shares) and min(shares.values()) * len(shares) < IMBALANCE),
        (
            PathologyKind.HIGH_CARDINALITY,
            any(c.kind == "categorical" and c.distinct > HIGH_CARDINALITY for c in inputs.values()),
        ),
    )
    return tuple(kind for kind, present in found if present)
