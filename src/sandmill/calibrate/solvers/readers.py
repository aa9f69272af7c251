"""Models of readers. Each takes a table that has the stated quantities as columns."""

from typing import Any

import numpy as np

from sandmill.calibrate.solvers import ensemble, search
from sandmill.calibrate.solvers.designs import Design, filled_numbers, plain_scaled, words
from sandmill.calibrate.solvers.greedy import WEIGHTS
from sandmill.calibrate.solvers.linear import best_penalty, linear_scores, responses
from sandmill.calibrate.solvers.table import Table


def reader_linear(table: Table) -> Any:
    """Tuned linear model of all columns, in which stated quantities are shrunk less if that pays."""
    design, wanted = plain_scaled(table), responses(table)
    is_stated = _stated_columns(table, design.train.shape[1])
    tried = []
    for weight in WEIGHTS:
        error, penalty = best_penalty(design.train * np.where(is_stated, weight, 1.0), wanted)
        tried.append((error, weight, penalty))
    _, weight, penalty = min(tried)
    factors = np.where(is_stated, weight, 1.0)
    return linear_scores(Design(design.train * factors, design.test * factors), table, penalty)


def reader_search(table: Table) -> Any:
    """All columns, stated quantities and what the automatic search finds beside them."""
    return search.auto_search(table)


def reader_sparse(table: Table) -> Any:
    """A few features, searched from nothing among columns, stated quantities and pairs."""
    return search.sparse_search(table)


def reader_process(table: Table) -> Any:
    """A smooth function of a few features found from nothing."""
    return search.sparse_process(table)


def reader_trees(table: Table) -> Any:
    """Extra trees on all columns, stated quantities and found features."""
    return search.auto_trees(table)


def reader_mixture(table: Table) -> Any:
    """The average of a linear model and a smooth function of features that are selected from a large bank."""
    return ensemble.bank_mixture(table)


def reader_ensemble(table: Table) -> Any:
    """The frozen blind ensemble on columns that include the stated quantities."""
    from sandmill.calibrate.adversary.ensemble import blind_scores

    return blind_scores(table)


def reader_blend(table: Table) -> Any:
    """Average of the other readers and of the usual blend on their columns."""
    own = (reader_linear, reader_search, reader_sparse, reader_process, reader_trees, reader_mixture)
    said = [table.cached(member.__name__, member) for member in (*own, ensemble.blend_searched)]
    return np.mean(said, axis=0)


def _stated_columns(table: Table, columns: int) -> Any:
    """Which columns of the usual design are stated quantities, or flags of stated units."""
    flags = np.zeros(columns, dtype=bool)
    flags[: filled_numbers(table).train.shape[1]] = [name in table.stated for name in table.kinds.numeric]
    sizes = [len(set(words(table, name)[0])) for name in table.kinds.categorical]
    named = np.repeat([name in table.stated for name in table.kinds.categorical], sizes).astype(bool)
    flags[columns - len(named) :] = named
    return flags
