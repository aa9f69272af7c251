"""Other ways to fill gaps and to straighten columns."""

import numpy as np

from sandmill.calibrate.solvers.designs import Design, filled_numbers, raw_numbers
from sandmill.calibrate.solvers.table import Table


def filled_from_others(table: Table) -> Design:
    """Numbers whose gaps are filled by ridge on the other columns."""
    raw, start = raw_numbers(table), filled_numbers(table).scaled()
    filled = filled_numbers(table)
    train, test = filled.train.copy(), filled.test.copy()
    for column in range(raw.train.shape[1]):
        gap, new_gap = np.isnan(raw.train[:, column]), np.isnan(raw.test[:, column])
        if not gap.any() and not new_gap.any():
            continue
        others = np.delete(start.train[~gap], column, axis=1)
        middle = raw.train[~gap, column].mean()
        system = others.T @ others + 5 * np.eye(others.shape[1])
        slopes = np.linalg.solve(system, others.T @ (raw.train[~gap, column] - middle))
        train[gap, column] = middle + np.delete(start.train[gap], column, axis=1) @ slopes
        test[new_gap, column] = middle + np.delete(start.test[new_gap], column, axis=1) @ slopes
    return Design(train, test)


def squeezed(design: Design) -> Design:
    """Signed square roots around the median: long tails shortened."""
    middle = np.median(design.train, axis=0)
    return Design(*(np.sign(part - middle) * np.sqrt(np.abs(part - middle)) for part in (design.train, design.test)))
