"""Choose features one by one, by the leave-one-out error of ridge, in closed form for all candidates at once."""

from typing import Any

import numpy as np

from sandmill.calibrate.solvers.features import Recipe, training_features
from sandmill.calibrate.solvers.linear import best_penalty
from sandmill.calibrate.solvers.table import Table

CANDIDATE_PENALTY = 3.0
"""Ridge penalty on a candidate feature: mild, since it must earn its place."""

STRICTNESS = 0.6
"""How much of the gain that pure chance would give the best of all candidates a feature must exceed."""

FEW_RESPONSES = 7
"""Up to this many responses, as many as tables have classes, chance is taken to help as for one response."""


def grow(base: Any, wanted: Any, recipes: list[Recipe], table: Table, least: int, most: int) -> list[Recipe]:
    """Add features to a base while the leave-one-out error falls by more than luck would let it."""
    if not recipes:
        return []
    made = training_features(recipes, table)
    rows = len(wanted)
    leads = np.column_stack([feature[:, 0] for feature in made])
    partners = np.column_stack([feature[:, 1] if feature.shape[1] > 1 else np.zeros(rows) for feature in made])
    price = 2 * STRICTNESS * _chance(len(recipes), wanted.shape[1]) / rows
    toll = np.exp(price * np.array([feature.shape[1] for feature in made]) ** 0.5)
    columns = np.hstack([wanted, leads, partners])
    factor, responses = base_factor(base, wanted), wanted.shape[1]
    left, own = columns - factor @ (factor.T @ columns), 1 - (factor**2).sum(axis=1)[:, None]
    chosen: list[int] = []
    error = float(np.mean((left[:, :responses] / own) ** 2))
    while len(chosen) < min(most, len(recipes)):
        errors = errors_with(own, columns, left, responses)
        errors[chosen] = np.inf
        best = int(np.argmin(errors * toll))
        if errors[best] * toll[best] >= error and len(chosen) >= least:
            break
        chosen.append(best)
        error = float(errors[best])
        for place in (responses + best, responses + len(recipes) + best):
            carried = left[:, [place]] / np.sqrt(CANDIDATE_PENALTY + columns[:, place] @ left[:, place])
            left, own = left - carried @ (carried.T @ columns), own - carried**2
    return [recipes[position] for position in chosen]


def _chance(candidates: int, responses: int) -> float:
    """Return what pure chance gives the best of all candidates, before `STRICTNESS`.

    The best mean of several chi-squared gains is smaller than the best single gain. One price for both would stop the
    search of many classes after two features, since a feature that serves some classes lowers the mean error little.
    """
    single = float(np.log(candidates + 1))
    if responses <= FEW_RESPONSES:
        return single
    of_many = (single + np.sqrt(responses * single)) / responses
    return single * float(of_many / (single + np.sqrt(single)))


def base_remover(base: Any, wanted: Any) -> Any:
    """The matrix that takes from a target what ridge on the base explains, and its mean."""
    factor = base_factor(base, wanted)
    return np.eye(len(wanted)) - factor @ factor.T


def base_factor(base: Any, wanted: Any) -> Any:
    """A factor of what the matrix of `base_remover` takes away. It is narrow, so that many rows cost little."""
    mean = np.full((len(wanted), 1), len(wanted) ** -0.5)
    if not base.shape[1]:
        return mean
    _, penalty = best_penalty(base, wanted)
    left, strength, _ = np.linalg.svd(base - base.mean(axis=0), full_matrices=False)
    return np.hstack([mean, left * np.sqrt(strength**2 / (strength**2 + penalty))])


def errors_with(own: Any, columns: Any, left: Any, responses: int) -> Any:
    """Leave-one-out error after adding each candidate (Sherman-Morrison, the second column after the first).

    Args:
        own: diagonal of the matrix that takes away what is explained.
        columns: targets, first columns of the candidates, second columns.
        left: the same after what is explained has been taken away.
        responses: number of targets.
    """
    ends = (responses, (responses + columns.shape[1]) // 2)
    _, leads, partners = np.hsplit(columns, ends)
    residual, first, second = np.hsplit(left, ends)
    scale = CANDIDATE_PENALTY + (leads * first).sum(axis=0)
    slope = (leads.T @ residual) / scale[:, None]
    own = own - first**2 / scale
    both = (first * partners).sum(axis=0)
    second = second - first * (both / scale)
    scale = CANDIDATE_PENALTY + (partners * second).sum(axis=0)
    other = (partners.T @ residual - both[:, None] * slope) / scale[:, None]
    own = np.maximum(own - second**2 / scale, 1e-6)
    total = np.zeros(leads.shape[1])
    for column in range(responses):
        rest = residual[:, [column]] - first * slope[:, column] - second * other[:, column]
        total += ((rest / own) ** 2).mean(axis=0)
    return total / responses
