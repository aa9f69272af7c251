"""Averages of models of several kinds, with equal weights. A member that finds nothing, or fails, is left out."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from sandmill.calibrate.solvers import competent, search, strong
from sandmill.calibrate.solvers.table import NothingFound, Table

Solver = Callable[[Table], Any]

_UNFIT = (NothingFound, ValueError, ArithmeticError, np.linalg.LinAlgError)
_USUAL = (
    competent.linear,
    competent.random_forest,
    competent.extra_trees,
    competent.hist_boosting,
    competent.support_vectors,
)
_SMOOTH = (search.auto_search, search.auto_process, search.sparse_process)
_SEARCHED = (*_SMOOTH, search.sparse_search, search.auto_trees, strong.stack)
_WIDE = (
    *_SMOOTH,
    search.auto_encoded,
    search.auto_crosses,
    search.repair_search,
    search.encoding_search,
    competent.random_forest,
)


def blend_usual(table: Table) -> Any:
    """Average the usual models at default settings."""
    return _blend(_USUAL, table)


def blend_searched(table: Table) -> Any:
    """Average models of found features, trees among them, and a stack of plain models."""
    return _blend(_SEARCHED, table)


def blend_wide(table: Table) -> Any:
    """Average every kind of search and a forest."""
    return _blend(_WIDE, table)


def bank_mixture(table: Table) -> Any:
    """Average a linear model and a smooth function of features that were selected from a large bank."""
    return _blend((search.bank_sparse, search.bank_process), table)


def _blend(members: Sequence[Solver], table: Table) -> Any:
    said = []
    for member in members:
        try:
            said.append(table.cached(member.__name__, member))
        except _UNFIT:
            continue
    if not said:
        raise NothingFound
    return np.mean(said, axis=0)
