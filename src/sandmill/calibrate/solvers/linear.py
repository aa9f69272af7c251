"""Linear models for 50 to 200 rows: the penalty comes from leave-one-out errors in closed form."""

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np
from sklearn.linear_model import LogisticRegression, PoissonRegressor, Ridge

from sandmill.calibrate.solvers.answers import fit_scores
from sandmill.calibrate.solvers.decisions import class_shares
from sandmill.calibrate.solvers.designs import Design
from sandmill.calibrate.solvers.table import Table

_KEPT_PENALTIES = 128
"""Results of `best_penalty` that are kept, each with some 50 kB of numbers."""
PENALTIES = tuple(float(10.0**power) for power in np.arange(-1, 3.6, 0.5))


def responses(table: Table) -> Any:
    """The target as centred columns for least squares: one for a number or two classes, else one for each class."""
    target = table.target
    if not table.facts.classes:
        wide = ((target - target.mean()) / (target.std() or 1.0))[:, None]
    elif len(table.facts.classes) == 2:
        wide = (target == 1).astype(float)[:, None]
    else:
        wide = (target[:, None] == np.arange(len(table.facts.classes))).astype(float)
    return wide - wide.mean(axis=0)


def leave_one_out(features: Any, wanted: Any, penalties: tuple[float, ...]) -> list[Any]:
    """Ridge's prediction for each row by the fit that has not seen it, for each penalty; wanted is centred."""
    left, strength, _ = np.linalg.svd(features - features.mean(axis=0), full_matrices=False)
    along = left.T @ wanted
    predictions = []
    for penalty in penalties:
        shrunk = left * (strength**2 / (strength**2 + penalty))
        own = (shrunk * left).sum(axis=1) + 1 / len(features)
        predictions.append(wanted - (wanted - shrunk @ along) / np.maximum(1 - own, 1e-6)[:, None])
    return predictions


def best_penalty(features: Any, wanted: Any) -> tuple[float, float]:
    """Least leave-one-out error of ridge over the penalties: (error, penalty)."""
    numbers = [np.asarray(part, dtype=float) for part in (features, wanted)]
    return _best_penalty(*(part.shape for part in numbers), *(part.tobytes() for part in numbers))


@lru_cache(_KEPT_PENALTIES)
def _best_penalty(shape: Any, shape_of_wanted: Any, features: bytes, wanted: bytes) -> tuple[float, float]:
    """Return (error, penalty) with the least leave-one-out error. Cached."""
    target = np.frombuffer(wanted).reshape(shape_of_wanted)
    unseen = leave_one_out(np.frombuffer(features).reshape(shape), target, PENALTIES)
    return min((float(np.mean((target - guess) ** 2)), p) for guess, p in zip(unseen, PENALTIES, strict=True))


WEIGHTS = (1.0, 2.0, 4.0)
"""How much less found or stated features are shrunk than other columns."""


def weighed(
    design: Design, is_found: Any, wanted: Any, weights: Sequence[float] = WEIGHTS
) -> tuple[Design, float, float]:
    """Stretch some columns, so that ridge shrinks them less, by the weight of least leave-one-out error.

    Returns:
        The design with these columns stretched, the weight, and the penalty.
    """
    tried = [(*best_penalty(design.train * np.where(is_found, weight, 1.0), wanted), weight) for weight in weights]
    _, weight, penalty = min((error, weight, penalty) for error, penalty, weight in tried)
    factors = np.where(is_found, weight, 1.0)
    return Design(design.train * factors, design.test * factors), weight, penalty


def linear_scores(design: Design, table: Table, penalty: float, weights: Any = None) -> Any:
    """Ridge for numbers, logistic regression for classes, at the strength of a given ridge penalty.

    A logistic fit sees each row with weight p(1 - p), so the same shrinkage needs a penalty smaller by that factor.
    """
    if table.facts.metric == "poisson_deviance":
        return rate_scores(design, table, penalty, weights)
    if not table.facts.classes:
        return fit_scores(Ridge(alpha=penalty), design, table, weights)
    shares = class_shares(table)
    weight = float(np.sum(shares * (1 - shares)) / len(shares))
    return fit_scores(LogisticRegression(C=1 / (penalty * weight), max_iter=500), design, table, weights)


def rate_scores(design: Design, table: Table, penalty: float, weights: Any = None) -> Any:
    """Poisson regression: each row weighs as much as its rate, so the ridge penalty is scaled by the mean rate."""
    model = PoissonRegressor(alpha=penalty * table.target.mean() / len(table.target), max_iter=200)
    model.fit(design.train, table.target, sample_weight=weights)
    return np.minimum(model.predict(design.test), table.target.max())


def tuned_scores(design: Design, table: Table) -> Any:
    """Linear model with the penalty of least leave-one-out error."""
    _, penalty = best_penalty(design.train, responses(table))
    return linear_scores(design, table, penalty)
