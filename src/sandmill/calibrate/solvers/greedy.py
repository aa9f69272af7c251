"""Choose features one by one, by the leave-one-out error of ridge, in closed form for all candidates at once."""

from collections.abc import Iterable
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

AT_ONCE = 256
"""Candidates whose errors are worked out at a time."""


def grow(base: Any, wanted: Any, recipes: list[Recipe], table: Table, least: int, most: int) -> list[Recipe]:
    """Add features to a base while the leave-one-out error falls by more than luck would let it."""
    if not recipes:
        return []
    made, has_partner = training_features(recipes, table), np.array([recipe[0] == "wave" for recipe in recipes])
    first = np.array([made.places[recipe] for recipe in recipes])
    price = 2 * STRICTNESS * _chance(len(recipes), wanted.shape[1]) / len(wanted)
    toll = np.exp(price * np.where(has_partner, 2, 1) ** 0.5)
    search = Search(base, wanted, made.cells[first], made.cells[first[has_partner] + 1], np.flatnonzero(has_partner))
    chosen, places = list[int](), np.arange(len(recipes))
    error = search.error()
    while len(chosen) < min(most, len(recipes)):
        errors = search.errors()
        errors[np.isin(places, chosen)] = np.inf
        if not chosen and len(places) > LATER:
            places = np.sort(np.argpartition(errors * toll, LATER)[:LATER])
            errors, toll = errors[places], toll[places]
            search.narrow(places)
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

    Args:
        base: columns that are in from the start.
        wanted: responses, shape (rows, responses).
        leads: the first feature of each candidate, shape (candidates, rows).
        partners: the second feature of each candidate that has two, shape (pairs, rows).
        pairs: places of these candidates, ascending.
    """

    def __init__(self, base: Any, wanted: Any, leads: Any, partners: Any, pairs: Any) -> None:
        left, share = _explained(base, wanted)
        self._leads, self._partners, self._pairs = leads, partners, pairs
        self._own = 1 - 1 / len(wanted) - (left**2 * share).sum(axis=1)
        self._rest = [
            part - part.mean(axis=1, keepdims=True) - ((part @ left) * share) @ left.T
            for part in (wanted.T, leads, partners)
        ]

    def error(self) -> float:
        """Leave-one-out error so far."""
        return float(np.mean((self._rest[0] / self._own) ** 2))

    def errors(self) -> Any:
        """Leave-one-out error after adding each candidate (Sherman-Morrison, the second feature after the first)."""
        residual, first, _ = self._rest
        # A part of the candidates at a time fits into the cache of a processor.
        parts = [slice(start, start + AT_ONCE) for start in range(0, len(first), AT_ONCE)]
        found = np.concatenate([self._errors_of_one(self._leads[part], first[part], residual) for part in parts])
        if len(self._pairs):
            found[self._pairs] = self._errors_of_two(self._leads[self._pairs], first[self._pairs], residual)
        return found

    def _errors_of_one(self, leads: Any, first: Any, residual: Any) -> Any:
        scale, slope = _slopes(leads, first, leads @ residual.T)
        own = np.maximum(self._own - first**2 / scale, 1e-6)
        return _mean_square(
            (target - first * along[:, None]) / own for target, along in zip(residual, slope, strict=True)
        )

    def _errors_of_two(self, leads: Any, first: Any, residual: Any) -> Any:
        scale, slope = _slopes(leads, first, leads @ residual.T)
        both = np.einsum("ij,ij->i", first, self._partners)
        second = self._rest[2] - first * (both[:, None] / scale)
        own = self._own - first**2 / scale
        scale, other = _slopes(self._partners, second, self._partners @ residual.T - (both * slope).T)
        own = np.maximum(own - second**2 / scale, 1e-6)
        return _mean_square(
            (target - first * along[:, None] - second * across[:, None]) / own
            for target, along, across in zip(residual, slope, other, strict=True)
        )

    def add(self, candidate: int) -> None:
        """Let a candidate explain its part of everything."""
        sides = [(self._leads, self._rest[1], candidate)]
        if candidate in self._pairs:
            sides.append((self._partners, self._rest[2], int(np.searchsorted(self._pairs, candidate))))
        for features, rest, place in sides:
            feature, carried = features[place], rest[place].copy()
            scale = CANDIDATE_PENALTY + feature @ carried
            self._own = self._own - carried**2 / scale
            for part in self._rest:
                part -= np.outer(part @ feature / scale, carried)

    def narrow(self, places: Any) -> None:
        """Leave out all candidates but some, whose places ascend."""
        kept = np.isin(self._pairs, places)
        self._leads, self._partners = self._leads[places], self._partners[kept]
        self._rest = [self._rest[0], self._rest[1][places], self._rest[2][kept]]
        self._pairs = np.searchsorted(places, self._pairs[kept])


def _slopes(features: Any, rest: Any, along: Any) -> tuple[Any, Any]:
    """Return, for each feature, the divisor of its ridge weights, shape (features, 1), and its weights."""
    scale = CANDIDATE_PENALTY + np.einsum("ij,ij->i", features, rest)[:, None]
    return scale, (along / scale).T


def _mean_square(parts: Iterable[Any]) -> Any:
    """Return the mean square of each candidate over all rows and responses."""
    squares = [np.einsum("ij,ij->i", part, part) / part.shape[1] for part in parts]
    return np.mean(squares, axis=0)
