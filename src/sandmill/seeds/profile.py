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
from sandmill.seeds.table_files import TableFile

if TYPE_CHECKING:
    import polars as pl

Matrix = NDArray[np.float64]
Rows = NDArray[np.int64]

_FOLDS = 3
_MOST_TARGETS = 3
_MOST_LEVELS = 20
"""Levels of a category that models see; all others are one more."""
_MOST_CLASSES = 8
"""Classes that are scored, the commonest ones; all others are one more."""
_LEAST = 3
"""Rows that a class has at least to be scored."""
_BOOSTING: dict[str, Any] = {
    "max_iter": 40,
    "learning_rate": 0.1,
    "max_leaf_nodes": 8,
    "min_samples_leaf": 5,
    "early_stopping": False,
    "random_state": 0,
}
_CLASSES = frozenset({TargetKind.BINARY, TargetKind.MULTICLASS, TargetKind.MULTILABEL})
_NUMBERS = frozenset({TargetKind.REGRESSION, TargetKind.COUNT, TargetKind.ORDINAL, TargetKind.MULTI_TARGET})


def scores_of(
    cells: "Sequence[Cells]", answers: "Sequence[Cells]", kind: TargetKind, draws: Sequence[Rows], models: int = 2
) -> tuple[float | None, ...]:
    """Return the scores of a linear model and of gradient boosting, or of the first alone, trivial (0) to perfect (1).

    Classes are scored by the mean area under their ROC curves, numbers by the explained variance of their ranks: both
    do not depend on class shares, units and tails. None for targets that are neither.
    """
    if kind not in _CLASSES | _NUMBERS or not cells:
        return (None,) * models
    import sklearn.ensemble  # noqa: F401  its threads can be limited only once they are loaded
    from sklearn import config_context
    from threadpoolctl import threadpool_limits

    found = []
    score = _score_classes if kind in _CLASSES else _score_numbers
    with threadpool_limits(1), config_context(skip_parameter_validation=True, assume_finite=True):
        for rows in draws:
            features = features_of(cells, rows)[:models]
            found += [score(features, answer, rows) for answer in answers[:_MOST_TARGETS]]
    known = [pair for pair in found if pair is not None]
    if not known:
        return (None,) * models
    return tuple(round(float(score), 2) for score in np.clip(np.mean(known, axis=0), 0, 1))


def features_of(cells: "Sequence[Cells]", rows: NDArray[np.int64]) -> tuple[Matrix, Matrix]:
    """Return features for linear models (filled and scaled) and for boosting (with gaps)."""
    parts: list[Matrix] = []
    for one in cells:
        numbers, codes = one.numbers[rows], one.codes[rows]
        if not np.isnan(numbers).all():
            parts.append(numbers[:, None])
        elif one.role is not ColumnRole.TEXT:
            levels, counts = np.unique(codes, return_counts=True)
            common = levels[np.argsort(-counts, kind="stable")][:_MOST_LEVELS]
            parts.append((codes[:, None] == common[None, :]).astype(np.float64))
    wide = np.hstack(parts) if parts else np.zeros((len(rows), 1))
    with np.errstate(all="ignore"):
        middle = np.nan_to_num(np.nanmedian(np.where(np.isnan(wide).all(axis=0), 0.0, wide), axis=0))
    filled = np.where(np.isnan(wide), middle, wide)
    spread = filled.std(axis=0)
    scaled = (filled - filled.mean(axis=0)) / np.where(spread > 0, spread, 1.0)
    return np.clip(scaled, -5, 5), wide


def _folds(order: NDArray[np.int64]) -> NDArray[np.int64]:
    """Give each row a fold, evenly within classes or along numbers; `order` are classes or ranks."""
    shuffled = np.random.default_rng(0).permutation(len(order))
    places = shuffled[np.argsort(order[shuffled], kind="stable")]
    folds = np.empty(len(order), dtype=np.int64)
    folds[places] = np.arange(len(order)) % _FOLDS
    return folds


def _score_classes(features: Sequence[Matrix], answer: "Cells", rows: Rows) -> list[float] | None:
    from sklearn.ensemble import HistGradientBoostingClassifier
    from sklearn.linear_model import LogisticRegression

    codes = answer.codes[rows]
    levels, counts = np.unique(codes, return_counts=True)
    common = levels[np.argsort(-counts, kind="stable")][:_MOST_CLASSES]
    codes = np.where(np.isin(codes, common), codes, -2)
    levels, counts = np.unique(codes, return_counts=True)
    if len(levels) < 2 or not (counts >= _LEAST).any():
        return None
    folds = _folds(codes)
    models = (LogisticRegression(max_iter=200, C=0.3), HistGradientBoostingClassifier(**_BOOSTING))
    return [
        areas_of(_held_out(model, matrix, codes, folds, levels), codes, levels, counts)
        for model, matrix in zip(models, features, strict=False)
    ]


def _held_out(
    model: Any, features: Matrix, codes: NDArray[np.int64], folds: NDArray[np.int64], levels: NDArray[np.int64]
) -> Matrix:
    """Return probabilities of the classes for rows that the model has not seen."""
    said = np.zeros((len(codes), len(levels)))
    for fold in range(_FOLDS):
        kept, held = folds != fold, folds == fold
        if len(seen := np.unique(codes[kept])) < 2:
            continue
        model.fit(features[kept], codes[kept])
        said[np.ix_(held, np.isin(levels, seen))] = model.predict_proba(features[held])
    return said


def areas_of(said: Matrix, codes: NDArray[np.int64], levels: NDArray[np.int64], counts: NDArray[np.int64]) -> float:
    """Return twice the mean area under the ROC curves, less one."""
    from scipy.stats import rankdata

    found = []
    for place in np.flatnonzero((counts >= _LEAST) & (counts < len(codes))):
        is_class, size = codes == levels[place], counts[place]
        above = rankdata(said[:, place])[is_class].sum() - size * (size + 1) / 2
        found.append(2 * above / (size * (len(codes) - size)) - 1)
    return float(np.mean(found)) if found else 0.0


def _score_numbers(features: Sequence[Matrix], answer: "Cells", rows: Rows) -> list[float] | None:
    from scipy.stats import rankdata
    from sklearn.ensemble import HistGradientBoostingRegressor
    from sklearn.linear_model import Ridge

    numbers = answer.numbers[rows]
    if np.isnan(numbers).any() or numbers.min() == numbers.max():
        return None
    target = rankdata(numbers) / len(numbers) - 0.5
    folds = _folds(np.argsort(np.argsort(target, kind="stable")))
    scores = []
    for model, matrix in zip((Ridge(alpha=3.0), HistGradientBoostingRegressor(**_BOOSTING)), features, strict=False):
        said = np.zeros(len(target))
        for fold in range(_FOLDS):
            model.fit(matrix[folds != fold], target[folds != fold])
            said[folds == fold] = model.predict(matrix[folds == fold])
        scores.append(1 - float(np.mean((target - said) ** 2) / target.var()))
    return scores


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
            return cls.of_numbers(found)
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
    def of_numbers(cls, numbers: Numbers, *, is_code: bool = False) -> "Cells":
        """Take in a column of numbers; an infinite one is a value, and no quantity. With `is_code`, none is one."""
        is_present = ~np.isnan(numbers)
        values, places = np.unique(numbers[is_present], return_inverse=True)
        codes = np.full(len(numbers), -1, dtype=np.int64)
        codes[is_present] = places
        finite = values[np.isfinite(values)]
        is_whole = bool(np.all(finite == np.round(finite)))
        role = ColumnRole.BINARY if len(values) == 2 else ColumnRole.WHOLE if is_whole else ColumnRole.REAL
        if is_code:
            return cls(ColumnRole.CATEGORY, codes, np.full(len(numbers), np.nan))
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
