"""How much of a target small models learn from a table of a few hundred rows, by cross-validation."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sandmill.models.profile import ColumnRole
from sandmill.models.structure import TargetKind

if TYPE_CHECKING:
    from sandmill.seeds.profile import Cells

Matrix = NDArray[np.float64]

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
    cells: "Sequence[Cells]", answers: "Sequence[Cells]", kind: TargetKind, draws: Sequence[NDArray[np.int64]]
) -> tuple[float | None, float | None]:
    """Return the scores of a linear model and of gradient boosting, from trivial (0) to perfect (1).

    Classes are scored by the mean area under their ROC curves, numbers by the explained variance of their ranks: both
    do not depend on class shares, units and tails. None for targets that are neither.
    """
    if kind not in _CLASSES | _NUMBERS or not cells:
        return None, None
    import sklearn.ensemble  # noqa: F401  its threads can be limited only once they are loaded
    from sklearn import config_context
    from threadpoolctl import threadpool_limits

    found = []
    score = _score_classes if kind in _CLASSES else _score_numbers
    with threadpool_limits(1), config_context(skip_parameter_validation=True, assume_finite=True):
        for rows in draws:
            features = features_of(cells, rows)
            found += [score(*features, answer, rows) for answer in answers[:_MOST_TARGETS]]
    known = [pair for pair in found if pair is not None]
    if not known:
        return None, None
    linear, boosting = np.clip(np.mean(known, axis=0), 0, 1)
    return round(float(linear), 2), round(float(boosting), 2)


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


def _score_classes(
    scaled: Matrix, wide: Matrix, answer: "Cells", rows: NDArray[np.int64]
) -> tuple[float, float] | None:
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
    first, second = (
        areas_of(_held_out(model, features, codes, folds, levels), codes, levels, counts)
        for model, features in zip(models, (scaled, wide), strict=True)
    )
    return first, second


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


def _score_numbers(
    scaled: Matrix, wide: Matrix, answer: "Cells", rows: NDArray[np.int64]
) -> tuple[float, float] | None:
    from scipy.stats import rankdata
    from sklearn.ensemble import HistGradientBoostingRegressor
    from sklearn.linear_model import Ridge

    numbers = answer.numbers[rows]
    if np.isnan(numbers).any() or numbers.min() == numbers.max():
        return None
    target = rankdata(numbers) / len(numbers) - 0.5
    folds = _folds(np.argsort(np.argsort(target, kind="stable")))
    scores = []
    for model, features in ((Ridge(alpha=3.0), scaled), (HistGradientBoostingRegressor(**_BOOSTING), wide)):
        said = np.zeros(len(target))
        for fold in range(_FOLDS):
            model.fit(features[folds != fold], target[folds != fold])
            said[folds == fold] = model.predict(features[folds == fold])
        scores.append(1 - float(np.mean((target - said) ** 2) / target.var()))
    return scores[0], scores[1]
