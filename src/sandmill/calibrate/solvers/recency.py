"""Trust in rows by their age, where all test rows are newer than training."""

from typing import Any

import numpy as np

from sandmill.calibrate.solvers.designs import plain_scaled, raw_numbers
from sandmill.calibrate.solvers.linear import best_penalty, linear_scores, responses
from sandmill.calibrate.solvers.table import NothingFound, Table

HALF_LIVES = (np.inf, 1.0, 0.5, 0.25, 0.125)
"""Half-lives of a row's weight that are tried, in lengths of the training period."""

NEWEST = 0.2
"""Share of training rows, the newest, that settle the half-life."""


def recency_search(table: Table) -> Any:
    """Tuned linear model that trusts new rows more: with the half-life that foretells the newest training rows best.

    Raises:
        NothingFound: without an order in time.
    """
    life = best_half_life(table, responses(table))
    if life is None:
        raise NothingFound
    design = plain_scaled(table)
    _, penalty = best_penalty(design.train, responses(table))
    return linear_scores(design, table, penalty, trust(row_ages(table), life))


def best_half_life(table: Table, wanted: Any) -> float | None:
    """Return the half-life of row weights, in lengths of the training period, that predicts the newest rows best.

    Returns:
        Infinity where all rows should count alike; None without an order in time.
    """
    age = row_ages(table)
    if age is None:
        return None
    design = plain_scaled(table)
    _, penalty = best_penalty(design.train, wanted)
    is_new = age <= np.quantile(age, NEWEST)
    errors = []
    for life in HALF_LIVES:
        weights = trust(age[~is_new], life)
        guess = ridge_guess(design.train[~is_new], wanted[~is_new], design.train[is_new], penalty, weights)
        errors.append(float(np.mean((wanted[is_new] - guess) ** 2)))
    return float(HALF_LIVES[int(np.argmin(errors))])


def row_ages(table: Table) -> Any:
    """How long before the last training row each one was, from 0 to 1; None if test rows are not all newer."""
    raw, names = raw_numbers(table), table.kinds.numeric
    for place in (names.index(name) for name in table.kinds.dates):
        days, new = raw.train[:, place], raw.test[:, place]
        if np.nanmin(new) > np.nanmax(days):
            age = (np.nanmax(days) - days) / max(1.0, np.ptp(days[~np.isnan(days)]))
            return np.where(np.isnan(age), np.nanmedian(age), age)
    return None


def trust(age: Any, life: float) -> Any:
    """Weight of each row, halved with every half-life, 1 on average."""
    weights = 0.5 ** ((age - age.min()) / life)
    return weights / weights.mean()


def ridge_guess(features: Any, wanted: Any, asked: Any, penalty: float, weights: Any) -> Any:
    """What weighted ridge says of further rows."""
    share = (weights / weights.sum())[:, None]
    middle, level = (share * features).sum(axis=0), (share * wanted).sum(axis=0)
    inner = features - middle
    system = inner.T @ (weights[:, None] * inner) + penalty * np.eye(features.shape[1])
    return level + (asked - middle) @ np.linalg.solve(system, inner.T @ (weights[:, None] * (wanted - level)))
