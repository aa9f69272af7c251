"""What anyone can say without looking at the features."""

from typing import Any

import numpy as np

from sandmill.calibrate.solvers.answers import decide
from sandmill.calibrate.solvers.table import Table


def prior(table: Table) -> Any:
    """The same answer for every row: the mean, or the shares of the classes."""
    rows = len(table.ids)
    if not table.told.classes:
        return decide(np.full(rows, table.target.mean()), table)
    shares = np.bincount(table.target, minlength=len(table.told.classes)) / len(table.target)
    return decide(np.tile(shares, (rows, 1)), table)
