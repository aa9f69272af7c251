"""Models of readers that no entry of the panel has. Each takes a table with the stated quantities as columns."""

from typing import Any

import numpy as np

from sandmill.calibrate.solvers import ensemble, search
from sandmill.calibrate.solvers.designs import dated_numbers, filled_numbers, plain_scaled, words
from sandmill.calibrate.solvers.linear import linear_scores, responses, weighed
from sandmill.calibrate.solvers.table import Table
from sandmill.calibrate.stated_lines import OF_LEVEL

FACTORS = (0.5, 1.0, 2.0, 4.0)
"""How much less effects of levels are shrunk than weights of plain features, in penalty's square root."""


def reader_linear(table: Table) -> Any:
    """Tuned linear model of all columns, in which stated quantities are shrunk less if that pays."""
    design, wanted = plain_scaled(table), responses(table)
    design, _, penalty = weighed(design, _stated_columns(table, design.train.shape[1]), wanted)
    return linear_scores(design, table, penalty)


def informed(table: Table) -> Any:
    """Tuned linear model on the features of a rule; effects and slopes of levels are shrunk less if that pays."""
    design = plain_scaled(table)
    is_level = np.arange(design.train.shape[1]) >= dated_numbers(table).train.shape[1]
    is_level[: len(table.kinds.numeric)] = [f"_{OF_LEVEL}_" in name for name in table.kinds.numeric]
    factors = FACTORS if is_level.any() else FACTORS[:1]
    design, _, penalty = weighed(design, is_level, responses(table), factors)
    return linear_scores(design, table, penalty)


def reader_ensemble(table: Table) -> Any:
    """The frozen blind ensemble on columns that include the stated quantities."""
    from sandmill.calibrate.adversary.ensemble import blind_scores

    return blind_scores(table)


def reader_blend(table: Table) -> Any:
    """Average of the other readers and of the usual blend on their columns."""
    smooth = (search.auto_search, search.sparse_search, search.sparse_process, search.auto_trees)
    members = (reader_linear, *smooth, ensemble.bank_mixture, ensemble.blend_searched)
    return np.mean([table.cached(member.__name__, member) for member in members], axis=0)


def _stated_columns(table: Table, columns: int) -> Any:
    """Which columns of the usual design are stated quantities, or flags of stated units."""
    flags = np.zeros(columns, dtype=bool)
    flags[: filled_numbers(table).train.shape[1]] = [name in table.stated for name in table.kinds.numeric]
    sizes = [len(set(words(table, name)[0])) for name in table.kinds.categorical]
    named = np.repeat([name in table.stated for name in table.kinds.categorical], sizes).astype(bool)
    flags[columns - len(named) :] = named
    return flags
