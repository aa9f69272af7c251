"""Read a table from its package, select and rename its columns, and draw training and test rows."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.learning.real_registry import RealTable, hash_number
from benchmarks.learning.real_sources import column_meanings, read_source
from sandmill.models.structure import TargetKind

if TYPE_CHECKING:
    import pandas as pd

TRAIN_ROWS = 150
TEST_ROWS = 2_000
"""Most test rows of a draw. It bounds the time of scripts."""
MOST_ROWS = 5_000
"""Rows of a table that draws choose from. Larger tables are sampled once, by the table's name."""
MOST_MISSING = 0.5
"""Columns with a larger share of empty cells are left out."""
MOST_LEVELS = 100
"""Text columns with more values are names and are left out."""
LEAST_CLASS = 0.05
"""Rows of multiclass tables whose class is rarer are left out: 150 rows would hold too few of them."""


@dataclass(frozen=True)
class RealFrame:
    """A table ready to be drawn from."""

    features: "pd.DataFrame"
    target: "pd.Series[int] | pd.Series[float] | pd.Series[str]"
    """Named as in the files: 0 and 1, class names, or numbers."""
    meanings: dict[str, str]
    """Of feature columns and the target, by their names in the files."""
    later: NDArray[np.bool_] | None
    """Which rows are in the second half by time; None where the table has no time."""

    @property
    def classes(self) -> tuple[str, ...]:
        """Class names in alphabetical order; for binary targets 0 and 1; for numbers none."""
        import pandas as pd

        if pd.api.types.is_float_dtype(self.target):
            return ()
        return tuple(sorted(str(value) for value in self.target.unique()))


@dataclass(frozen=True)
class Draw:
    """Row numbers of one draw."""

    train: NDArray[np.intp]
    test: NDArray[np.intp]


def plain_name(text: str) -> str:
    """Return a column or class name of letters, digits and underscores."""
    return re.sub(r"[^a-z0-9]+", "_", text.lower()).strip("_") or "value"


def is_usable(column: "pd.Series[str]") -> bool:
    """Whether a column can be a feature: two values or more, not mostly empty, and no names."""
    import pandas as pd

    if column.isna().mean() > MOST_MISSING or column.nunique() < 2:
        return False
    return pd.api.types.is_numeric_dtype(column) or column.nunique() <= MOST_LEVELS


def real_frame(table: RealTable) -> RealFrame:
    """Read a table and apply everything that the registered list says about it.

    Raises:
        ValueError: a column that the list names is not there.
    """
    raw = read_source(table.origin)
    named = {table.target, *table.dropped, *table.where, *filter(None, (table.one_row_per, table.order))}
    if missing := named - set(raw.columns):
        raise ValueError(f"{table.source} has no column {', '.join(sorted(missing))}")
    raw = raw[raw[table.target].notna()]
    for name, value in table.where.items():
        raw = raw[raw[name] == value]
    if table.one_row_per:
        raw = raw.drop_duplicates(table.one_row_per)
    target = _target(raw, table)
    raw = raw.loc[target.index]
    rng = _generator(table.name, "rows")
    rows = np.sort(rng.permutation(len(raw))[:MOST_ROWS])
    raw, target = raw.iloc[rows], target.iloc[rows]
    features = raw.drop(columns=[table.target, *table.dropped])
    features = features[[name for name in features.columns if is_usable(features[name])]]
    told = column_meanings(table.origin)
    renamed = {name: plain_name(name) for name in [*features.columns, table.target]}
    meanings = {plain: told[name] for name, plain in renamed.items() if name in told}
    if table.meaning:
        meanings[renamed[table.target]] = table.meaning
    later = None
    if table.order:
        later = (raw[table.order].rank(method="first") > len(raw) / 2).to_numpy()
    return RealFrame(
        _readable(features).rename(columns=renamed).reset_index(drop=True),
        target.rename(renamed[table.target]).reset_index(drop=True),
        meanings,
        later,
    )


def _target(raw: "pd.DataFrame", table: RealTable) -> "pd.Series[Any]":
    """Return the target as files hold it; rows of rare classes are left out."""
    column = raw[table.target].astype(object)
    if table.kind is TargetKind.BINARY:
        if table.above is not None:
            return (column.astype(float) > table.above).astype(int)
        if table.positive is not None:
            return (column.map(_as_text) == table.positive).astype(int)
        return column.astype(int)
    if table.kind is not TargetKind.MULTICLASS:
        return column.astype(float)
    names = column.map(_as_text)
    names = (names.map(table.labels.format) if table.labels else names).map(plain_name)
    shares = names.value_counts(normalize=True)
    return names[names.map(shares) >= LEAST_CLASS]


def _as_text(value: object) -> str:
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)


def _readable(features: "pd.DataFrame") -> "pd.DataFrame":
    """Return features with plain cells: whole numbers without a point, and text for everything else."""
    import pandas as pd

    shown: dict[str, pd.Series[Any]] = {}
    for name in features.columns:
        column = features[name]
        if pd.api.types.is_bool_dtype(column):
            shown[name] = column.astype("Int64")
        elif pd.api.types.is_numeric_dtype(column):
            known = column.dropna()
            is_whole = bool((known == known.round()).all()) and bool((known.abs() < 2**53).all())
            shown[name] = column.astype("Int64") if is_whole else column.astype(float).round(6)
        else:
            shown[name] = column.astype(object).map(lambda cell: None if pd.isna(cell) else " ".join(str(cell).split()))
    return pd.DataFrame(shown, index=features.index)


def draw_rows(table: RealTable, frame: RealFrame, name: str) -> Draw:
    """Choose 150 training rows and up to 2,000 test rows.

    Training rows have the classes in the shares of the table. Draws of a small table overlap.

    Args:
        table: whose name seeds the draw.
        frame: the rows.
        name: of the draw.
    """
    rng = _generator(table.name, name)
    order = rng.permutation(len(frame.target))
    early = order if frame.later is None else order[~frame.later[order]]
    train = _stratified(frame, early) if frame.classes else early[:TRAIN_ROWS]
    rest = order[~np.isin(order, train)]
    test = rest if frame.later is None else rest[frame.later[rest]]
    return Draw(rng.permutation(train), test[:TEST_ROWS])


def _stratified(frame: RealFrame, order: NDArray[np.intp]) -> NDArray[np.intp]:
    """Take rows of each class in its share, by largest remainders."""
    values = frame.target.to_numpy()[order]
    classes, counts = np.unique(values, return_counts=True)
    exact = counts / counts.sum() * TRAIN_ROWS
    wanted = np.floor(exact).astype(int)
    for place in np.argsort(wanted - exact, kind="stable")[: TRAIN_ROWS - wanted.sum()]:
        wanted[place] += 1
    return np.concatenate([order[values == one][:number] for one, number in zip(classes, wanted, strict=True)])


def ids_of(table: RealTable, name: str, count: int) -> list[str]:
    """Return random ids, all different."""
    rng = _generator(table.name, f"{name}/ids")
    return [f"{number:010x}" for number in _distinct(rng, count)]


def _distinct(rng: np.random.Generator, count: int) -> Iterator[int]:
    seen: set[int] = set()
    while len(seen) < count:
        number = int(rng.integers(1 << 40))
        if number not in seen:
            seen.add(number)
            yield number


def _generator(table: str, name: str) -> np.random.Generator:
    return np.random.Generator(np.random.Philox(key=hash_number(f"{table}/{name}") % (1 << 128)))
