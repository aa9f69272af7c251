"""Measure the profile of a table, from a bounded sample of its rows, the same for tables of seeds and of tasks.

Traits that depend on the number of rows, such as kurtosis, are means over samples of `SMALL_ROWS` rows.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sandmill.models.profile import MOST_PROFILED, SMALL_ROWS, ColumnProfile, ColumnRole, TableProfile
from sandmill.models.structure import TargetKind
from sandmill.seeds.signal import scores_of
from sandmill.seeds.table_files import TableFile

if TYPE_CHECKING:
    import polars as pl

Numbers = NDArray[np.float64]

MOST_SAMPLED = 20_000
"""Rows of the sample that is profiled."""
_MOST_CELLS = 2_000_000
"""Cells of the sample: of a wide table, fewer rows."""
_DRAWS = 5
_MULTIPLIER, _MODULUS = 2_654_435_761, 1 << 32
"""Row n is in the sample if n times the multiplier, modulo, is small: evenly spread, without a rhythm in the file."""
_SKEWS, _TAILS = (-10.0, 10.0), (-3.0, 50.0)
_CORRELATED = 0.3
_LARGEST = 1e100
"""Larger numbers are taken for this one, whose powers are finite."""
_DIGITS = 3
"""Decimals of a profile: the last digits of sums differ between machines."""

DATE_PATTERN = r"^\d{4}-\d{2}-\d{2}([ T]\d{2}:\d{2}(:\d{2}(\.\d+)?)?( ?(UTC|Z|[+-]\d{2}:?\d{2}))?)?$"
"""ISO dates, with or without a time and a zone."""
TEXT_SPACES = 3.0
"""Mean spaces in a cell from which on a column of words is text."""
PHRASE_SPACES = 1.0
"""Mean spaces in a cell from which on a column is text, if more than half of its cells differ."""
MIN_IDENTIFIER_ROWS = 20
"""In a shorter table, values may differ by chance."""


def is_text(spaces: float, distinct: int, present: int) -> bool:
    """Whether words are free text, by the mean number of spaces in a cell."""
    is_phrase = spaces >= PHRASE_SPACES and present >= MIN_IDENTIFIER_ROWS
    return spaces >= TEXT_SPACES or (is_phrase and 2 * distinct > present)


@dataclass(frozen=True)
class Cells:
    """One column of a sample."""

    role: ColumnRole
    codes: NDArray[np.int64]
    """Number of the value of each row; -1 where the cell is empty."""
    numbers: Numbers
    """Of number columns, days of date columns; NaN elsewhere."""

    @classmethod
    def read(cls, column: "pl.Series") -> "Cells":
        """Take in a column of text; empty cells are null."""
        import polars as pl

        present = column.drop_nulls()
        numbers = column.str.strip_chars().cast(pl.Float64, strict=False)
        found = numbers.fill_null(np.nan).to_numpy().astype(np.float64)
        if len(present) and numbers.null_count() == column.null_count():
            return cls._of_numbers(found)
        codes = column.rank("dense").fill_null(0).to_numpy().astype(np.int64) - 1
        distinct, nothing = present.n_unique(), np.full(len(column), np.nan)
        if len(present) and present.str.contains(DATE_PATTERN).all():
            days = column.str.slice(0, 10).str.to_date("%Y-%m-%d", strict=False).cast(pl.Int32).cast(pl.Float64)
            return cls(ColumnRole.DATE, codes, days.fill_null(np.nan).to_numpy().astype(np.float64))
        if distinct == 2:
            return cls(ColumnRole.BINARY, codes, nothing)
        spaces = float(column.str.count_matches(" ", literal=True).fill_null(0).sum()) / max(1, len(present))
        role = ColumnRole.TEXT if is_text(spaces, distinct, len(present)) else ColumnRole.CATEGORY
        return cls(role, codes, nothing)

    @classmethod
    def _of_numbers(cls, numbers: Numbers) -> "Cells":
        """Take in a column of numbers; an infinite one is a value, and no quantity."""
        is_present = ~np.isnan(numbers)
        values, places = np.unique(numbers[is_present], return_inverse=True)
        codes = np.full(len(numbers), -1, dtype=np.int64)
        codes[is_present] = places
        finite = values[np.isfinite(values)]
        is_whole = bool(np.all(finite == np.round(finite)))
        role = ColumnRole.BINARY if len(values) == 2 else ColumnRole.WHOLE if is_whole else ColumnRole.REAL
        return cls(role, codes, np.where(np.isfinite(numbers), np.clip(numbers, -_LARGEST, _LARGEST), np.nan))

    @property
    def is_number(self) -> bool:
        """Whether it is a quantity, neither two-valued nor a date."""
        return self.role in (ColumnRole.REAL, ColumnRole.WHOLE)

    def profile(self, draws: Sequence[NDArray[np.int64]]) -> ColumnProfile:
        """Describe the column; `draws` are row numbers of small samples."""
        small = [_repeats(self.codes[draw]) for draw in draws]
        shapes = [_shape(self.numbers[draw]) for draw in draws] if self.is_number else []
        return ColumnProfile(
            role=self.role,
            levels=len(np.unique(self.codes[self.codes >= 0])),
            missing=_rounded(np.mean(self.codes < 0)),
            top_share=_rounded(np.mean([top for top, _ in small])),
            distinct_share=_rounded(np.mean([distinct for _, distinct in small])),
            skew=_rounded(np.mean([skew for skew, _ in shapes])) if shapes else None,
            kurtosis=_rounded(np.mean([kurtosis for _, kurtosis in shapes])) if shapes else None,
        )


def sample_table(table: TableFile, columns: Sequence[str], labelled: Sequence[str], rows: int) -> "pl.DataFrame":
    """Read a fixed sample of the rows that have a target, as text.

    Args:
        table: the table, streamed.
        columns: what to read.
        labelled: target columns.
        rows: of the table.
    """
    import polars as pl

    frame, number = table.scan(columns), "row"
    while number in columns:
        number += "_"
    most = min(MOST_SAMPLED, _MOST_CELLS // len(columns))
    if rows > most:
        place = pl.col(number).cast(pl.UInt64) * _MULTIPLIER % _MODULUS
        frame = frame.with_row_index(number).filter(place < most * _MODULUS // rows)
    return frame.filter(pl.all_horizontal(pl.col(labelled).is_not_null())).select(columns).collect(engine="streaming")


def spread_columns(names: Sequence[str]) -> list[str]:
    """Return all names, or of many of them `MOST_PROFILED` at even distances."""
    if len(names) <= MOST_PROFILED:
        return list(names)
    return [names[int(place)] for place in np.linspace(0, len(names) - 1, MOST_PROFILED)]


def profile_sample(
    sample: "pl.DataFrame", targets: Sequence[str], kind: TargetKind, rows: int, n_columns: int
) -> TableProfile:
    """Profile a sample of a table, whose cells are text.

    Args:
        sample: its columns are inputs and targets.
        targets: names of the target columns.
        kind: of the target.
        rows: of the whole table.
        n_columns: input columns of the whole table.
    """
    inputs = spread_columns([name for name in sample.columns if name not in targets])
    cells = [Cells.read(sample[name]) for name in inputs]
    answers = [Cells.read(sample[name]) for name in targets]
    draws = _small_samples(len(sample))
    rho_share, rho_mean = _dependence([one.numbers for one in cells if one.is_number], draws)
    shape = {}
    is_numeric = kind in (TargetKind.REGRESSION, TargetKind.COUNT, TargetKind.MULTI_TARGET)
    if is_numeric and all(one.is_number for one in answers):
        shape = {
            "target_skew": _rounded(np.mean([_shape(one.numbers[draw])[0] for one in answers for draw in draws])),
            "target_top_share": _rounded(np.mean([_repeats(one.codes[draw])[0] for one in answers for draw in draws])),
        }
    scored = draws if len(sample) > 2 * SMALL_ROWS else draws[:1]
    linear, boosting = scores_of(cells, answers, kind, scored)
    return TableProfile(
        rows=rows,
        n_columns=n_columns,
        columns=tuple(one.profile(draws) for one in cells),
        class_shares=() if is_numeric else _class_shares(answers, kind),
        rho_share=rho_share,
        rho_mean=rho_mean,
        linear_score=linear,
        boosting_score=boosting,
        **shape,
    )


def _small_samples(rows: int) -> list[NDArray[np.int64]]:
    if rows <= SMALL_ROWS:
        return [np.arange(rows)]
    rng = np.random.default_rng(0)
    return [np.sort(rng.permutation(rows)[:SMALL_ROWS]) for _ in range(_DRAWS)]


def _repeats(codes: NDArray[np.int64]) -> tuple[float, float]:
    """Return the share of the commonest value, and of different values, among present cells."""
    counts = np.unique(codes[codes >= 0], return_counts=True)[1]
    return (float(counts.max() / counts.sum()), float(len(counts) / counts.sum())) if len(counts) else (0.0, 0.0)


def _shape(numbers: Numbers) -> tuple[float, float]:
    """Return skewness and excess kurtosis, clipped; zeros if all are equal."""
    present = numbers[~np.isnan(numbers)]
    if len(present) < 3 or present.max() - present.min() <= 1e-9 * max(1.0, float(np.abs(present).max())):
        return 0.0, 0.0
    scaled = present / np.abs(present).max()
    scores = (scaled - scaled.mean()) / max(float(scaled.std()), 1e-12)
    skew, tails = float(np.mean(scores**3)), float(np.mean(scores**4) - 3)
    return float(np.clip(skew, *_SKEWS)), float(np.clip(tails, *_TAILS))


def _dependence(columns: Sequence[Numbers], draws: Sequence[NDArray[np.int64]]) -> tuple[float | None, float | None]:
    """Return the share of pairs with a rank correlation beyond .3, and the mean of absolute correlations."""
    if len(columns) < 2:
        return None, None
    pairs = np.triu_indices(len(columns), 1)
    found = []
    for draw in draws:
        ranks = np.array([ranked(column[draw]) for column in columns])
        norms = np.sqrt((ranks**2).sum(axis=1))
        scaled = ranks / np.where(norms > 0, norms, 1.0)[:, None]
        found.append(np.abs(scaled @ scaled.T)[pairs])
    rho = np.concatenate(found)
    return _rounded(np.mean(rho > _CORRELATED)), _rounded(min(1.0, float(rho.mean())))


def ranked(numbers: Numbers) -> Numbers:
    """Return centred ranks, ties averaged; 0 where a number is missing."""
    from scipy.stats import rankdata

    is_present = ~np.isnan(numbers)
    ranks = np.zeros(len(numbers))
    if is_present.any():
        found = rankdata(numbers[is_present])
        ranks[is_present] = found - found.mean()
    return ranks


def _class_shares(answers: Sequence[Cells], kind: TargetKind) -> tuple[float, ...]:
    if len(answers) == 1 and kind is not TargetKind.MULTILABEL:
        counts = np.unique(answers[0].codes, return_counts=True)[1]
        return tuple(sorted((_rounded(count / counts.sum()) for count in counts), reverse=True))
    is_yes_or_no = kind in (TargetKind.MULTILABEL, TargetKind.MULTICLASS)
    return tuple(sorted((_rounded(_positive(one)) for one in answers), reverse=True)) if is_yes_or_no else ()


def _positive(label: Cells) -> float:
    return float(np.nanmean(label.numbers > 0)) if not np.isnan(label.numbers).all() else 0.0


def _rounded(value: Any) -> float:
    return round(float(value), _DIGITS) + 0.0
