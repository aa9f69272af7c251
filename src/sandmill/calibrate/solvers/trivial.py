"""What anyone can say without looking at the features."""

from typing import Any

import numpy as np

from sandmill.calibrate.solvers.decisions import class_shares
from sandmill.calibrate.solvers.table import Table, off_scale

ABSOLUTE = ("mae", "medae", "smape")
"""Metrics of plain distances, whose best constant is a median."""


def prior(table: Table) -> Any:
    """The same for every row: the mean or a median, or what the shares of the classes suggest."""
    rows = len(table.ids)
    if table.facts.classes:
        return np.tile(class_shares(table), (rows, 1))
    if table.facts.metric == "mape":
        # The number with the least mean error in per cent: a median in which small values count for more.
        values = np.sort(table.target)
        weights = 1 / np.maximum(np.abs(off_scale(values, table.scale)), 1e-9)
        return np.full(rows, values[np.searchsorted(weights.cumsum(), weights.sum() / 2)])
    middle = np.median(table.target) if table.facts.metric in ABSOLUTE else table.target.mean()
    return np.full(rows, middle)
