"""Turn the target into numbers for least squares, and least-squares predictions back into probabilities or values."""

from typing import Any

import numpy as np
from sklearn.linear_model import LogisticRegression, PoissonRegressor

from sandmill.calibrate.solvers.table import Table
from sandmill.calibrate.solvers.trivial import ABSOLUTE
from sandmill.models.structure import TargetKind

SKEWED = 1.0
"""Numbers above 0, or counts, with a larger skewness are fitted as logarithms."""
FAR = 4.0
"""Standardised responses are clipped here."""
LEAST_NUMBER = 1e-9
"""Numbers are raised to this before their logarithm is taken: another draw may have a 0."""
LEAST_SLOPE = 0.3
"""Least slope of a probability's logit along a standardised response. A falling one would be chance."""


def is_skewed(table: Table) -> bool:
    """Whether the logarithm of a numeric target is nearer to a normal distribution than the target."""
    values = np.asarray(table.target, dtype=float)
    if table.facts.target is TargetKind.COUNT and table.scale == "raw":
        return True
    if values.min() <= 0 or table.scale != "raw":
        return False
    return bool(abs(skewness(np.log(values))) < abs(skewness(values)) and skewness(values) > SKEWED)


def skewness(values: Any) -> float:
    """Third standardised moment."""
    centered = values - values.mean()
    return float(np.mean(centered**3) / max(np.mean(centered**2), 1e-18) ** 1.5)


def responses_of(table: Table, like: Table | None = None) -> Any:
    """Responses of one target column, shape (rows, responses), each with variance about 1 or as 0 and 1 standardised.

    Args:
        table: holds the target column.
        like: numbers are fitted as logarithms if they are there; the table itself if None.
    """
    wide = unscaled(table, like or table)
    return np.clip((wide - wide.mean(axis=0)) / spread_of(wide), -FAR, FAR)


def rescaled(responses: Any, table: Table, like: Table) -> Any:
    """Express responses on the scale of one table as those on another's."""
    mine, other = unscaled(table, like), unscaled(like, like)
    return (responses * spread_of(mine) + mine.mean(axis=0) - other.mean(axis=0)) / spread_of(other)


def spread_of(wide: Any) -> Any:
    """Standard deviation of each response; 1 for one that never changes."""
    spread = wide.std(axis=0)
    return np.where(spread > 0, spread, 1.0)


def unscaled(table: Table, like: Table) -> Any:
    """Responses before they are standardised.

    Ordered classes are one response. Other classes have one each, and two classes have one together.
    """
    if not table.facts.classes:
        values = np.asarray(table.target, dtype=float)
        is_count = table.facts.target is TargetKind.COUNT
        return (np.log(np.maximum(values + is_count, LEAST_NUMBER)) if is_skewed(like) else values)[:, None]
    if table.facts.target is TargetKind.ORDINAL:
        shares = np.bincount(like.target, minlength=len(like.facts.classes)) / len(like.target)
        return (shares.cumsum() - shares / 2)[table.target][:, None]
    codes = np.arange(len(table.facts.classes))
    return (table.target[:, None] == (codes[1:] if len(codes) == 2 else codes)).astype(float)


def scores_from(unseen: Any, test: Any, table: Table) -> Any:
    """Turn responses of test rows into scores, by a fit to responses of training rows that were predicted unseen."""
    facts = table.facts
    if facts.target is TargetKind.ORDINAL:
        return ordered_chances(unseen, test, table)
    if facts.classes:
        model = rising(unseen, table.target)
        wide = np.zeros((len(test), len(facts.classes)))
        wide[:, model.classes_] = model.predict_proba(test)
        return wide
    if not is_skewed(table):
        return straight(unseen[:, 0], np.asarray(table.target, dtype=float), test[:, 0])
    values = np.asarray(table.target, dtype=float)
    if facts.metric in ABSOLUTE and values.min() > 0:
        return np.exp(straight(unseen[:, 0], np.log(values), test[:, 0]))
    model = PoissonRegressor(alpha=1e-3, max_iter=300).fit(unseen, values / values.mean())
    return np.minimum(model.predict(test) * values.mean(), values.max())


def straight(unseen: Any, values: Any, test: Any) -> Any:
    """Least squares on one column."""
    centered = unseen - unseen.mean()
    slope = max(0.0, float(centered @ (values - values.mean()) / max(centered @ centered, 1e-12)))
    return values.mean() + slope * (test - unseen.mean())


def ordered_chances(unseen: Any, test: Any, table: Table) -> Any:
    """Probabilities of ordered classes: one logistic regression for each cut, kept in order."""
    above = np.ones((len(test), len(table.facts.classes) + 1))
    above[:, -1] = 0.0
    for grade in range(1, len(table.facts.classes)):
        is_above = table.target >= grade
        if is_above.all() or not is_above.any():
            above[:, grade] = float(is_above.all())
        else:
            above[:, grade] = rising(unseen, is_above).predict_proba(test)[:, 1]
    return np.maximum(-np.diff(np.minimum.accumulate(above, axis=1), axis=1), 1e-6)


def rising(unseen: Any, wanted: Any) -> Any:
    """Logistic regression on responses. On one response it rises, even if the unseen rows suggest that it falls."""
    model = LogisticRegression(C=10.0, max_iter=300).fit(unseen, wanted)
    if unseen.shape[1] == 1 and model.coef_[0, 0] < LEAST_SLOPE:
        share = np.mean(wanted == model.classes_[1])
        model.coef_ = np.full_like(model.coef_, LEAST_SLOPE)
        model.intercept_ = np.array([np.log(share / (1 - share))])
    return model
