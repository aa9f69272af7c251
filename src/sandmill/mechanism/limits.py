"""Limits: what never occurs in a row, and what that leaves open for a hidden cell."""

from collections.abc import Iterable, Mapping, Set
from functools import reduce

import numpy as np
from numpy.typing import NDArray

from sandmill.mechanism.columns import Floats
from sandmill.mechanism.units import highest_within, lowest_within
from sandmill.models.columns import Column
from sandmill.models.knowledge import Order
from sandmill.models.mechanism import Limit, Mechanism, columns_of_limit


def breaks_a_limit(mechanism: Mechanism, values: Mapping[str, Floats]) -> NDArray[np.bool_]:
    """Return whether each row of true cells breaks a limit of the mechanism, which must have limits."""
    return reduce(np.logical_or, (breaks(limit, values) for limit in mechanism.limits))


def breaks(limit: Limit, values: Mapping[str, Floats]) -> NDArray[np.bool_]:
    """Return where cells break a limit. Values broadcast, so a hidden cell may be a grid of values."""
    if isinstance(limit, Order):
        return np.asarray(values[limit.lower] > values[limit.upper])
    is_excluded = np.isin(values[limit.by], limit.levels)
    low = -np.inf if limit.below is None else limit.below
    high = np.inf if limit.above is None else limit.above
    return is_excluded & ((values[limit.column] < low) | (values[limit.column] > high))


def open_range(
    column: Column, limits: Iterable[Limit], is_open: Set[str], cells: Mapping[str, Floats]
) -> tuple[Floats, Floats]:
    """Return the lowest and highest unrounded value that limits leave to a hidden number, given the other cells.

    Bounds lie halfway between two values that the files can hold. Limits that read a second cell in `is_open` are
    skipped: they bind when that cell is filled.
    """
    low, high = np.full((1, 1), -np.inf), np.full((1, 1), np.inf)
    for limit in limits:
        if column.name not in (pair := columns_of_limit(limit)) or is_open & {*pair} - {column.name}:
            continue
        if isinstance(limit, Order):
            if limit.lower == column.name:
                high = np.minimum(high, highest_within(column, cells[limit.upper], cells))
            else:
                low = np.maximum(low, lowest_within(column, cells[limit.lower], cells))
            continue
        is_excluded = np.isin(cells[limit.by], limit.levels)
        if limit.below is not None:
            least = lowest_within(column, np.array([limit.below]), cells)
            low = np.maximum(low, np.where(is_excluded, least, -np.inf))
        if limit.above is not None:
            most = highest_within(column, np.array([limit.above]), cells)
            high = np.minimum(high, np.where(is_excluded, most, np.inf))
    return low, high
