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

LATER = 1500
"""Candidates that later steps of a search choose from: the best of the first step. Usual tables have fewer."""


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
    search, chosen, places = Search(base, wanted, leads, partners), list[int](), np.arange(len(made))
    error = search.error()
    while len(chosen) < min(most, len(recipes)):
        errors = search.errors()
        errors[np.isin(places, chosen)] = np.inf
        if not chosen and len(places) > LATER:
            places = np.sort(np.argpartition(errors * toll, LATER)[:LATER])
            errors, toll = errors[places], toll[places]
            search = Search(base, wanted, leads[:, places], partners[:, places])
        best = int(np.argmin(errors * toll))
        if errors[best] * toll[best] >= error and len(chosen) >= least:
            break
        chosen.append(int(places[best]))
        error = float(errors[best])
        search.add(best)
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
    rows, (left, share) = len(wanted), _explained(base, wanted)
    return np.eye(rows) - 1 / rows - (left * share) @ left.T


def _explained(base: Any, wanted: Any) -> tuple[Any, Any]:
    """Directions of rows along which a base varies, and the share of each that ridge explains."""
    if not base.shape[1]:
        return np.zeros((len(wanted), 0)), np.zeros(0)
    _, penalty = best_penalty(base, wanted)
    left, strength, _ = np.linalg.svd(base - base.mean(axis=0), full_matrices=False)
    return left, strength**2 / (strength**2 + penalty)


class Search:
    """What is left of a target and of all candidates, once a base and the chosen features have explained their part.

    A remover, see `base_remover`, is a matrix of rows by rows. Its products are kept instead: they follow each choice
    by one column, so that a step takes time in proportion to the rows.
    """

    def __init__(self, base: Any, wanted: Any, leads: Any, partners: Any) -> None:
        left, share = _explained(base, wanted)
        self._leads, self._partners = leads, partners
        self._own = 1 - 1 / len(wanted) - (left**2 * share).sum(axis=1, keepdims=True)
        self._rest = [part - part.mean(axis=0) - (left * share) @ (left.T @ part) for part in (wanted, leads, partners)]

    def error(self) -> float:
        """Leave-one-out error so far."""
        return float(np.mean((self._rest[0] / self._own) ** 2))

    def errors(self) -> Any:
        """Leave-one-out error after adding each candidate (Sherman-Morrison, the second column after the first)."""
        residual, first, second = self._rest
        scale = CANDIDATE_PENALTY + (self._leads * first).sum(axis=0)
        slope = (self._leads.T @ residual) / scale[:, None]
        both = (first * self._partners).sum(axis=0)
        second = second - first * (both / scale)
        own = self._own - first**2 / scale
        scale = CANDIDATE_PENALTY + (self._partners * second).sum(axis=0)
        other = (self._partners.T @ residual - both[:, None] * slope) / scale[:, None]
        own = np.maximum(own - second**2 / scale, 1e-6)
        total = np.zeros(first.shape[1])
        for column in range(residual.shape[1]):
            left = residual[:, [column]] - first * slope[:, column] - second * other[:, column]
            total += ((left / own) ** 2).mean(axis=0)
        return total / residual.shape[1]

    def add(self, candidate: int) -> None:
        """Let a candidate explain its part of everything."""
        for place, columns in ((1, self._leads), (2, self._partners)):
            column, carried = columns[:, candidate], self._rest[place][:, [candidate]]
            scale = CANDIDATE_PENALTY + column @ carried
            self._own = self._own - carried**2 / scale
            self._rest = [part - carried * (column @ part / scale) for part in self._rest]
