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
    remover = base_remover(base, wanted)
    chosen: list[int] = []
    error = float(np.mean(((remover @ wanted) / np.diag(remover)[:, None]) ** 2))
    while len(chosen) < min(most, len(recipes)):
        errors = errors_with(remover, wanted, leads, partners)
        errors[chosen] = np.inf
        best = int(np.argmin(errors * toll))
        if errors[best] * toll[best] >= error and len(chosen) >= least:
            break
        chosen.append(best)
        error = float(errors[best])
        for column in (leads[:, best], partners[:, best]):
            carried = remover @ column
            remover = remover - np.outer(carried, carried) / (CANDIDATE_PENALTY + column @ carried)
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
    rows = len(wanted)
    remover = np.eye(rows) - 1 / rows
    if not base.shape[1]:
        return remover
    _, penalty = best_penalty(base, wanted)
    left, strength, _ = np.linalg.svd(base - base.mean(axis=0), full_matrices=False)
    return remover - (left * (strength**2 / (strength**2 + penalty))) @ left.T


def errors_with(remover: Any, wanted: Any, leads: Any, partners: Any) -> Any:
    """Leave-one-out error after adding each candidate (Sherman-Morrison, the second column after the first)."""
    residual, own = remover @ wanted, np.diag(remover)[:, None]
    first = remover @ leads
    scale = CANDIDATE_PENALTY + (leads * first).sum(axis=0)
    slope = (leads.T @ residual) / scale[:, None]
    own = own - first**2 / scale
    both = (first * partners).sum(axis=0)
    second = remover @ partners - first * (both / scale)
    scale = CANDIDATE_PENALTY + (partners * second).sum(axis=0)
    other = (partners.T @ residual - both[:, None] * slope) / scale[:, None]
    own = np.maximum(own - second**2 / scale, 1e-6)
    total = np.zeros(leads.shape[1])
    for column in range(wanted.shape[1]):
        left = residual[:, [column]] - first * slope[:, column] - second * other[:, column]
        total += ((left / own) ** 2).mean(axis=0)
    return total / wanted.shape[1]
