"""Facts of the target, and of how well simple models predict it in cross-validation."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sandmill.learning.bins import place
from sandmill.learning.fact_columns import FactTable
from sandmill.learning.facts import UNKNOWN
from sandmill.models.package import TaskFacts

Floats = NDArray[np.float64]

_FOLDS = 3
_MOST_ROWS = 300
"""Rows that models are fitted on."""
_MOST_LEVELS = 10
"""Levels of a categorical column that become indicator columns, the most frequent first."""
_MOST_TARGETS = 6
"""Classes, labels or numbers that are foretold; the first ones of more."""
_RIDGE = 3.0
"""Penalty of the linear model on standardised columns."""
_NEIGHBOURS = 7
_TREES = 24
_STRENGTHS, _STRENGTH_NAMES = (0.15, 0.4, 0.7), ("none", "weak", "some", "strong")
_CLEARLY = 0.06
"""Least distance of two signals that is more than chance: a third of their spread over draws of 150 rows."""


def target_facts(table: FactTable, facts: TaskFacts) -> dict[str, str]:
    """Return how even the classes are, or how skewed the numbers."""
    targets = _targets(table, facts)
    if facts.classes:
        counts = targets.sum(axis=0)
        share = float(counts.min()) / len(targets) * (2 if facts.is_binary or facts.is_wide else targets.shape[1])
        if facts.is_wide or facts.encoding in ("label_list", "pairs"):
            share = float(np.minimum(counts, len(targets) - counts).mean()) / len(targets) * 2
        return {"balance": place(share, (0.25, 0.6), ("rare", "uneven", "even")), "skew": "none"}
    spread = targets.std(axis=0)
    centred = targets - targets.mean(axis=0)
    skew = float(np.mean((centred**3).mean(axis=0) / np.maximum(spread, 1e-12) ** 3))
    return {"balance": "none", "skew": place(abs(skew), (0.5, 1.5), ("none", "low", "high"))}


def signal_facts(table: FactTable, facts: TaskFacts) -> dict[str, str]:
    """Return what a linear model, a forest, nearest neighbours and single columns find."""
    targets, features = _targets(table, facts)[:_MOST_ROWS, :_MOST_TARGETS], _features(table)[:_MOST_ROWS]
    if facts.is_binary:
        targets = targets[:, -1:]
    if not facts.classes:
        targets = _ranks(targets)
    if features.shape[1] == 0 or len(features) < 3 * _FOLDS:
        return {}
    signals = {name: _signal(fit, features, targets) for name, fit in _MODELS.items()}
    linear = signals["linear"]
    best = max(signals.values())
    against = {name: signals[name] - linear for name in ("trees", "neighbours")}
    return {
        "linear": place(linear, _STRENGTHS, _STRENGTH_NAMES),
        **{name: _compare(difference) for name, difference in against.items()},
        "column": place(_strongest(features, targets), _STRENGTHS, _STRENGTH_NAMES),
        "noise": place(best, (0.35, 0.7), ("high", "middle", "low")),
    }


def _compare(difference: float) -> str:
    if not np.isfinite(difference):
        return UNKNOWN
    return place(difference, (-_CLEARLY, _CLEARLY), ("worse", "equal", "better"))


def _targets(table: FactTable, facts: TaskFacts) -> Floats:
    """Return indicators of classes or labels, or numbers, shape (rows, targets)."""
    import pandas as pd

    cells = table.frame[list(facts.target_columns)]
    if facts.classes and len(facts.target_columns) == 1:
        names = cells.iloc[:, 0].str.strip()
        lists = facts.is_wide or facts.encoding in ("label_list", "pairs")
        held = names.str.split() if lists else names.map(lambda name: [name])
        return np.array([[float(name in row) for name in facts.classes] for row in held])
    numbers = cells.apply(pd.to_numeric, errors="coerce").to_numpy(float)
    known = np.isfinite(numbers)
    middle = np.where(known, numbers, 0).sum(axis=0) / np.maximum(known.sum(axis=0), 1)
    return np.asarray(np.where(known, numbers, middle), dtype=np.float64)


def _ranks(values: Floats) -> Floats:
    """Return ranks between 0 and 1, so that no outlier decides a signal."""
    order = np.argsort(np.argsort(values, axis=0, kind="stable"), axis=0, kind="stable")
    return np.asarray(order / max(1, len(values) - 1), dtype=np.float64)


def _features(table: FactTable) -> Floats:
    """Return standardised numbers and indicators of levels, shape (rows, columns)."""
    columns = [*_numbers(table), *_indicators(table)]
    if not columns:
        return np.empty((len(table.frame), 0))
    matrix = np.column_stack(columns)
    spread = matrix.std(axis=0)
    matrix, spread = matrix[:, spread > 1e-9], spread[spread > 1e-9]
    # A sentinel or an outlier must not hide what the other cells say.
    return np.asarray(np.clip((matrix - matrix.mean(axis=0)) / spread, -4, 4), dtype=np.float64)


def _numbers(table: FactTable) -> Iterator[Floats]:
    for values in table.numeric.values():
        known = np.isfinite(values)
        if known.any():
            yield np.where(known, values, np.median(values[known]))
        if 0 < known.mean() < 1:
            yield (~known).astype(float)


def _indicators(table: FactTable) -> Iterator[Floats]:
    for name in table.categorical:
        cells = table.frame[name]
        for level in cells.value_counts().sort_index().sort_values(ascending=False, kind="stable").index[:_MOST_LEVELS]:
            yield (cells == level).to_numpy(float)


def _signal(fit: Any, features: Floats, targets: Floats) -> float:
    """Return the mean correlation, over targets, of out-of-fold predictions with the truth; 0 without one."""
    fold = np.random.default_rng(0).permutation(len(features)) % _FOLDS
    said = np.zeros_like(targets)
    for number in range(_FOLDS):
        inside = fold != number
        said[~inside] = fit(features[inside], targets[inside], features[~inside])
    found = [_correlation(said[:, place], targets[:, place]) for place in range(targets.shape[1])]
    return float(np.mean(found))


def _linear(features: Floats, targets: Floats, asked: Floats) -> Floats:
    middle = targets.mean(axis=0)
    penalty = _RIDGE * np.eye(features.shape[1])
    weights = np.linalg.solve(features.T @ features + penalty, features.T @ (targets - middle))
    return np.asarray(asked @ weights + middle)


def _neighbours(features: Floats, targets: Floats, asked: Floats) -> Floats:
    squared = ((asked[:, None, :] - features[None, :, :]) ** 2).sum(axis=2)
    nearest = np.argsort(squared, axis=1, kind="stable")[:, :_NEIGHBOURS]
    return np.asarray(targets[nearest].mean(axis=1))


def _trees(features: Floats, targets: Floats, asked: Floats) -> Floats:
    from sklearn.ensemble import ExtraTreesRegressor

    forest = ExtraTreesRegressor(_TREES, min_samples_leaf=3, random_state=0)
    said = forest.fit(features, targets.squeeze(axis=1) if targets.shape[1] == 1 else targets).predict(asked)
    return np.asarray(said).reshape(len(asked), targets.shape[1])


_MODELS = {"linear": _linear, "trees": _trees, "neighbours": _neighbours}


def _correlation(one: Floats, other: Floats) -> float:
    one, other = one - one.mean(), other - other.mean()
    size = float(np.sqrt((one**2).sum() * (other**2).sum()))
    return float((one * other).sum()) / size if size > 1e-12 else 0.0


def _strongest(features: Floats, targets: Floats) -> float:
    """Return the largest absolute correlation of one column with one target."""
    return max(
        abs(_correlation(features[:, column], targets[:, target]))
        for column in range(features.shape[1])
        for target in range(targets.shape[1])
    )
