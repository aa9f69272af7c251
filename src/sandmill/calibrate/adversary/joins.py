"""Automatic joins: child tables with several rows for each id, summarised as numeric columns."""

from collections.abc import Mapping, Sequence

import numpy as np
import polars as pl

from sandmill.calibrate.solvers.designs import Design
from sandmill.calibrate.solvers.table import Table

MOST_CATEGORIES = 12
"""Categories of a child column, the commonest, that get counts, sums and means of their own."""
DATE_SHARE = 0.95
"""A text column holds dates if so large a share of its cells can be read as one."""
LEAST_DAYS, EVEN = 20, 0.2
"""Values that a column of day numbers has at least, and how far it may lean if it does not rise within ids."""
LAST = (0.5, 0.25)
"""Last shares of the time covered, each with counts and sums of its own."""
ROW = "row of the child table"
"""Name of a column for the order of the file; it stands in for time where a child table has none."""


def joined(frames: Mapping[str, pl.DataFrame], ids: Sequence[str], id_column: str) -> pl.DataFrame:
    """Summarise child tables for each id: counts, sums and means, in all and by category, last values and trends.

    A frame without the id column adds nothing.

    Returns:
        One row for each id, numeric columns only; null where an id has no rows to summarise.
    """
    wanted = pl.DataFrame({id_column: [str(each) for each in ids]}, schema={id_column: pl.String})
    made = wanted
    for name in sorted(frames):
        frame = frames[name]
        if id_column not in frame.columns:
            continue
        child = frame.with_columns(pl.col(id_column).cast(pl.String)).filter(
            pl.col(id_column).is_in(wanted[id_column].implode())
        )
        summary = summarise(child, id_column)
        renamed = summary.rename({column: f"{name}: {column}" for column in summary.columns if column != id_column})
        made = made.join(renamed, on=id_column, how="left", maintain_order="left")
        totals = [column for column in renamed.columns if column.startswith((f"{name}: count", f"{name}: sum of "))]
        made = made.with_columns(pl.col(totals).fill_null(0.0))
    return made.drop(id_column)


def summarise(child: pl.DataFrame, id_column: str) -> pl.DataFrame:
    """Summarise one child table: a row for each id that it has."""
    child, times = with_times(child, id_column)
    amounts = [
        column for column, kind in child.schema.items() if kind.is_numeric() and column not in (id_column, ROW, *times)
    ]
    categories = [column for column, kind in child.schema.items() if kind == pl.String and column != id_column]
    time = times[0] if times else ROW
    named = {"sum of": "sum", "mean of": "mean", "spread of": "std", "least": "min", "largest": "max"}
    overall = [getattr(pl.col(name), how)().alias(f"{said} {name}") for name in amounts for said, how in named.items()]
    parts = [
        child.group_by(id_column).agg(pl.len().cast(pl.Float64).alias("count"), *overall, *timing(child, times)),
        child.sort(time, ROW).group_by(id_column, maintain_order=True).agg(*latest(amounts)),
        halves(child, id_column, time, amounts),
        *(by_category(child, id_column, column, amounts) for column in categories),
    ]
    whole = parts[0]
    for part in parts[1:]:
        whole = whole.join(part, on=id_column, how="left")
    numeric = [column for column in whole.columns if column != id_column]
    return whole.with_columns(pl.col(numeric).cast(pl.Float64).fill_nan(None))


def with_times(child: pl.DataFrame, id_column: str) -> tuple[pl.DataFrame, list[str]]:
    """Write date columns as days, number the rows, and name the columns that hold time."""
    times = []
    for column, kind in child.schema.items():
        if column == id_column:
            continue
        if kind.is_temporal():
            child = child.with_columns(pl.col(column).dt.epoch("d").cast(pl.Float64))
            times.append(column)
        elif kind == pl.String and child.height:
            days = child[column].str.to_date("%Y-%m-%d", strict=False)
            if len(days.drop_nulls()) >= DATE_SHARE * len(child[column].drop_nulls()) > 0:
                child = child.with_columns(days.dt.epoch("d").cast(pl.Float64).alias(column))
                times.append(column)
    if not times:
        times = clock_of(child, id_column)
    return child.with_row_index(ROW), times


def clock_of(child: pl.DataFrame, id_column: str) -> list[str]:
    """Name the column that looks like a day number: many whole values that rise within ids or are evenly spread."""
    numeric = [column for column, kind in child.schema.items() if kind.is_numeric() and column != id_column]
    whole = [column for column in numeric if is_whole(child[column]) and child[column].n_unique() > LEAST_DAYS]
    rising = [column for column in whole if rises(child, id_column, column)]
    even = [column for column in whole if abs(lean(child[column])) < EVEN]
    return (rising or even)[:1]


def is_whole(cells: pl.Series) -> bool:
    """Whether all numbers of a column are whole."""
    numbers = cells.drop_nulls().cast(pl.Float64)
    return bool((numbers == numbers.round()).all())


def rises(child: pl.DataFrame, id_column: str, column: str) -> bool:
    """Whether a column never falls from one row of an id to its next in the file."""
    steps = child.select(pl.col(column).cast(pl.Float64).diff().over(id_column)).to_series().drop_nulls()
    return bool(len(steps)) and bool((steps >= 0).all())


def lean(cells: pl.Series) -> float:
    """How far the middle lies from the middle of the outer tenths, as a share of their distance."""
    low, middle, high = (cells.cast(pl.Float64).quantile(share) or 0.0 for share in (0.1, 0.5, 0.9))
    return (low + high - 2 * middle) / (high - low) if high > low else 1.0


def timing(child: pl.DataFrame, times: Sequence[str]) -> list[pl.Expr]:
    """Time from an id's last row to the end of the table, the time that its rows span, and their mean distance."""
    made = []
    for column in times:
        end = child[column].max()
        span = (pl.col(column).max() - pl.col(column).min()).cast(pl.Float64)
        made += [
            (pl.lit(end) - pl.col(column).max()).cast(pl.Float64).alias(f"recency by {column}"),
            span.alias(f"span of {column}"),
            (span / (pl.len() - 1).clip(lower_bound=1)).alias(f"gap of {column}"),
        ]
    return made


def latest(amounts: Sequence[str]) -> list[pl.Expr]:
    """The last value of each amount, and its distance from the mean."""
    return [
        made
        for column in amounts
        for made in (
            pl.col(column).last().alias(f"last {column}"),
            (pl.col(column).last() - pl.col(column).mean()).alias(f"last less mean of {column}"),
        )
    ]


def halves(child: pl.DataFrame, id_column: str, time: str, amounts: Sequence[str]) -> pl.DataFrame:
    """Sums of recent rows, and trends: the mean of an id's second half of rows less that of its first."""
    when = child[time].cast(pl.Float64)
    low, high = float(when.min() or 0.0), float(when.max() or 0.0)  # type: ignore[arg-type]
    own = pl.col(ROW).rank("ordinal").over(id_column) * 2 > pl.len().over(id_column)
    ranked = child.sort(time, ROW)
    if time != ROW:
        ranked = ranked.drop(ROW).with_row_index(ROW)
    ranked = ranked.with_columns(own.alias("is in second half"))
    second = pl.col("is in second half")
    trends = [
        (pl.col(column).filter(second).mean() - pl.col(column).filter(~second).mean()).alias(f"trend of {column}")
        for column in amounts
    ]
    recent = []
    for share in LAST:
        late, label = pl.col(time) > high - share * (high - low), f"in the last {share:.0%}"
        recent += [late.sum().cast(pl.Float64).alias(f"count {label}"), late.mean().alias(f"share {label}")]
        recent += [pl.col(column).filter(late).sum().alias(f"sum of {column} {label}") for column in amounts]
    return ranked.group_by(id_column).agg(*recent, *trends)


def by_category(child: pl.DataFrame, id_column: str, category: str, amounts: Sequence[str]) -> pl.DataFrame:
    """Counts, shares, sums and means for each of the commonest categories of a column."""
    common = child[category].drop_nulls().value_counts().sort(["count", category], descending=[True, False])
    made = []
    for value in common[category].head(MOST_CATEGORIES):
        is_it = pl.col(category) == value
        label = f"{category} {value}"
        made += [is_it.sum().cast(pl.Float64).alias(f"count of {label}"), is_it.mean().alias(f"share of {label}")]
        for column in amounts:
            made += [
                pl.when(is_it).then(pl.col(column)).sum().alias(f"sum of {column}, {label}"),
                pl.when(is_it).then(pl.col(column)).mean().alias(f"mean of {column}, {label}"),
            ]
    return child.group_by(id_column).agg(
        pl.col(category).n_unique().cast(pl.Float64).alias(f"kinds of {category}"), *made
    )


def child_columns(table: Table, frames: Mapping[str, pl.DataFrame]) -> Design | None:
    """Summaries of child tables for training and test rows; None if there are none. Gaps are NaN."""
    known = [str(each) for each in table.train[table.facts.id_column]]
    made = joined(frames, [*known, *table.ids], table.facts.id_column)
    if not made.width:
        return None
    numbers = made.to_numpy().astype(np.float64)
    return Design(numbers[: len(known)], numbers[len(known) :])
