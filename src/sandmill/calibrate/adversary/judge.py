"""How well a new feature fits the target beside the plain columns, and models that use such features."""

from typing import Any

import numpy as np

from sandmill.calibrate.conditions import solver_conditions
from sandmill.calibrate.solvers.columns import settle, solve
from sandmill.calibrate.solvers.decisions import cut_best
from sandmill.calibrate.solvers.designs import plain_scaled
from sandmill.calibrate.solvers.greedy import CANDIDATE_PENALTY, base_remover
from sandmill.calibrate.solvers.linear import responses
from sandmill.calibrate.solvers.readers import reader_blend, reader_ensemble
from sandmill.calibrate.solvers.search import sparse_process
from sandmill.calibrate.solvers.table import Table
from sandmill.scoring.base import Array

MEMBERS = (reader_blend, reader_ensemble, sparse_process)
"""The models of the panel that do best on columns with stated quantities."""


class Judge:
    """Measures how much a feature adds to a ridge regression of the target on the plain columns."""

    def __init__(self, table: Table) -> None:
        self.wanted = np.hstack([responses(part) for part in table.columns()])
        self.rows, self.table = len(self.wanted), table
        remover = base_remover(plain_scaled(table).train, self.wanted)
        shares, directions = np.linalg.eigh(np.eye(self.rows) - remover)
        self.taken = directions[:, shares > 1e-12] * np.sqrt(shares[shares > 1e-12])
        """Matrix T, of shape (rows, directions): `x - T @ (T.T @ x)` is what is not yet explained of a column x."""
        self.rest = self._left(self.wanted)
        self.values = {name: table.train[name].to_numpy(dtype=float) for name in table.kinds.numeric}

    def gain(self, feature: Any) -> float:
        """Logarithm of how much likelier the target is with a quantity, whose gaps are NaN."""
        known = np.isfinite(feature)
        if known.sum() < 10:
            return 0.0
        return float(self.gains(np.where(known, feature, feature[known].mean())[:, None])[0])

    def _left(self, columns: Any) -> Any:
        return columns - self.taken @ (self.taken.T @ columns)

    def sizes(self, features: Any) -> Any:
        """Product of each quantity with what is not explained of it."""
        return np.einsum("ij,ij->j", features, features) - ((self.taken.T @ features) ** 2).sum(axis=0)

    def gains(self, features: Any, sizes: Any = None) -> Any:
        """Return the gain of each column of `features`, which have no gaps; `sizes` are theirs, if known."""
        size = self.sizes(features) if sizes is None else sizes
        along = (features.T @ self.rest) ** 2 / np.maximum((self.wanted * self.rest).sum(axis=0), 1e-9)
        shares = np.where(size > 1e-6, 1.0, 0.0)[:, None] * along / np.maximum(size, 1e-9)[:, None]
        return -self.rows / 2 * np.log1p(-np.minimum(shares, 0.99)).mean(axis=1)

    def take(self, feature: Any) -> Any:
        """Count a feature as explained. Each size falls by its feature's squared product with the result."""
        column = (feature - feature.mean()) / max(float(feature.std()), 1e-9)
        carried = self._left(column)
        step = carried / np.sqrt(CANDIDATE_PENALTY + float(column @ carried))
        self.taken = np.column_stack([self.taken, step])
        self.rest = self._left(self.wanted)
        return step

    def share_below(self, values: Any, number: float) -> float:
        """Share of the rows with a value up to a number."""
        known = values[np.isfinite(values)]
        return float(np.mean(known <= number)) if len(known) else 0.5

    def is_inside(self, name: str, number: float) -> bool:
        """Whether a number lies well within a column."""
        return name in self.values and 0.04 < self.share_below(self.values[name], number) < 0.96


def mean_of_members(part: Table) -> Any:
    """Average the models for one column of the target."""
    return np.mean([part.cached(member.__name__, member) for member in MEMBERS], axis=0)


def answer(table: Table) -> Array:
    """Predict the test rows of a table, as the metric wants them."""
    with solver_conditions():
        return np.asarray(settle(solve(mean_of_members, table), table, cut_best))
