"""Categories as what their rows had for the target."""

from typing import Any

import numpy as np

from sandmill.calibrate.solvers.designs import Design, dated_numbers, level_flags, words
from sandmill.calibrate.solvers.linear import responses
from sandmill.calibrate.solvers.table import Table

PRIOR_ROWS = 5.0
"""A category's mean counts as much as the overall mean of so many rows."""

FOLDS = 5


def encoded(table: Table) -> Design:
    """Numbers, and categories encoded by every column of the target."""
    design = dated_numbers(table)
    for part in table.columns():
        design = design.beside(encoded_levels(part))
    return design


def encoded_levels(table: Table) -> Design:
    """Each category as its mean response, drawn towards the overall mean; training rows ask the other folds only.

    Leaving out just the row itself would give its target away: within a category the encoding would mirror it.
    """
    wanted = responses(table)
    fold = np.random.default_rng(0).permutation(len(wanted)) % FOLDS
    train, test = [np.zeros((len(table.train), 0))], [np.zeros((len(table.test), 0))]
    for name in table.kinds.categorical:
        cells, new = words(table, name)
        flags, new_flags = level_flags(cells, cells), level_flags(cells, new)
        means = np.zeros(wanted.shape)
        for number in range(FOLDS):
            held = fold == number
            means[held] = flags[held] @ category_means(flags[~held], wanted[~held])
        train.append(means)
        test.append(new_flags @ category_means(flags, wanted))
    return Design(np.hstack(train), np.hstack(test))


def category_means(flags: Any, wanted: Any) -> Any:
    """Mean response of each category, shrunk towards the overall mean, which is 0."""
    return (flags.T @ wanted) / (flags.sum(axis=0) + PRIOR_ROWS)[:, None]
