"""Units in which the files hold cells: written = factor * value + offset, rounded to the column's decimals.

The true value of a cell is the one that its written number stands for, so files and mechanism agree exactly.
"""

from collections.abc import Callable, Mapping

import numpy as np
from numpy.typing import NDArray

from sandmill.mechanism.columns import Floats
from sandmill.models.columns import Column, LogNormal

_TOLERANCE = 1e-6
"""Steps by which a value may miss the number that the files hold, from rounding of floats."""


def encode(column: Column, values: Floats, codes: Floats) -> Floats:
    """Return cells as the files hold them."""
    if column.conversion is None:
        return values
    factor, offset = _unit_of(column, codes)
    written = np.round(factor * values + offset, column.decimals)
    if isinstance(column.distribution, LogNormal):
        step = 10.0**-column.decimals
        written = np.maximum(written, np.round((np.floor(offset / step + 1e-9) + 1) * step, column.decimals))
    return np.asarray(written, dtype=np.float64)


def decode(column: Column, written: Floats, codes: Floats) -> Floats:
    """Return the values that written cells stand for: the inverse of `encode`."""
    if column.conversion is None:
        return written
    factor, offset = _unit_of(column, codes)
    return np.asarray((written - offset) / factor, dtype=np.float64)


def as_written(column: Column, values: Floats, cells: Mapping[str, Floats]) -> Floats:
    """Return the values that cells stand for once they are written; `cells` has the category that decides the unit."""
    if column.conversion is None:
        return values
    codes = cells[column.conversion.by]
    return decode(column, encode(column, values, codes), codes)


def step_of(column: Column, cells: Mapping[str, Floats]) -> Floats:
    """Return the distance between neighbouring values that the files can hold, for each row."""
    step = np.asarray(10.0**-column.decimals)
    return step if column.conversion is None else step / _unit_of(column, cells[column.conversion.by])[0]


def highest_within(column: Column, bound: Floats, cells: Mapping[str, Floats]) -> Floats:
    """Return the point halfway after the largest value that the files can hold and that is at most a bound."""
    return _beside(column, bound, cells, np.floor, 1)


def lowest_within(column: Column, bound: Floats, cells: Mapping[str, Floats]) -> Floats:
    """Return the point halfway before the smallest value that the files can hold and that is at least a bound."""
    return _beside(column, bound, cells, np.ceil, -1)


def _beside(
    column: Column, bound: Floats, cells: Mapping[str, Floats], nearest: Callable[[Floats], Floats], side: int
) -> Floats:
    step = 10.0**-column.decimals
    factor, offset = _unit_of(column, cells[column.conversion.by]) if column.conversion else (np.ones(1), np.zeros(1))
    steps = nearest((factor * bound + offset) / step + side * _TOLERANCE)
    return np.asarray(((steps + side / 2) * step - offset) / factor, dtype=np.float64)


def _unit_of(column: Column, codes: Floats) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    if column.conversion is None:
        raise TypeError(f"column {column.name} has no conversion")
    # A category without faults decides the unit, so codes are never NaN.
    code = np.asarray(codes).astype(np.intp)
    return np.asarray(column.conversion.factors)[code], np.asarray(column.conversion.offsets)[code]
