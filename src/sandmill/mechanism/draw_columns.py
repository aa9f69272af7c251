"""Draw the true cells of a mechanism's columns.

Streams are named by the position of a column, so renaming a column changes no number. Latent factors and the columns
that depend on them use streams of the row, or of the unit for columns that all rows of a unit share.
"""

from collections.abc import Mapping
from functools import reduce

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from sandmill.errors import ItemRejected
from sandmill.mechanism.columns import Floats, level_at, quantile, shift_of, unrounded, value_at
from sandmill.mechanism.limits import breaks_a_limit
from sandmill.mechanism.row_numbers import RowNumbers
from sandmill.mechanism.rule import UNIT_EFFECT
from sandmill.mechanism.units import as_written
from sandmill.models.base import Stage
from sandmill.models.columns import Categorical, Column, Identity, Unit
from sandmill.models.mechanism import Mechanism

_UNITS_PER_BLOCK = 16
"""Each block of consecutive rows draws its units at random from this many new units, so units differ in size."""
_OPERATIONS = {"sum": np.add, "difference": np.subtract, "product": np.multiply, "quotient": np.divide}
_MOST_REDRAWS = 200
"""Draws of a row that breaks a limit. With 9 of 10 rows broken, about one row in a billion breaks a limit so often."""


def draw_columns(mechanism: Mechanism, row_numbers: RowNumbers, *, is_train: bool) -> dict[str, Floats]:
    """Draw the true cells of all columns, and the unit effects. Rows that break a limit are drawn again.

    Raises:
        ItemRejected: `impossible_limits` if nearly all rows break a limit.
    """
    values = _draw_of_units(mechanism, row_numbers)
    values |= _draw_of_rows(mechanism, row_numbers, values, is_train=is_train)
    if not mechanism.limits:
        return values
    for attempt in range(1, _MOST_REDRAWS + 1):
        rows = np.flatnonzero(breaks_a_limit(mechanism, values))
        if not len(rows):
            return values
        again = RowNumbers(row_numbers.streams.child(f"redraw {attempt}"), row_numbers.numbers[rows])
        fixed = {name: values[name][rows] for name in values if name in _unit_level(mechanism)}
        for name, cells in _draw_of_rows(mechanism, again, fixed, is_train=is_train).items():
            values[name][rows] = cells
    raise ItemRejected(
        Stage.DESIGN, "impossible_limits", f"a row breaks a limit in {_MOST_REDRAWS} draws: limits fit too few rows"
    )


def _unit_level(mechanism: Mechanism) -> set[str]:
    """Return the keys of values that belong to units."""
    shared = {column.name for column in mechanism.columns if column.unit}
    return shared | {UNIT_EFFECT, mechanism.unit_column() or UNIT_EFFECT}


def _draw_of_units(mechanism: Mechanism, row_numbers: RowNumbers) -> dict[str, Floats]:
    """Draw each row's unit, the unit's effect, and the columns that all rows of a unit share."""
    name = mechanism.unit_column()
    if name is None:
        return {}
    values = {name: _draw_units(mechanism.column_by_name[name], row_numbers)}
    of_units = RowNumbers(row_numbers.streams.child("units"), values[name].astype(np.int64))
    values[UNIT_EFFECT] = ndtri(of_units.uniforms("unit effect"))
    shared = [(place, column) for place, column in enumerate(mechanism.columns) if column.unit]
    return values | _draw(shared, of_units, values, is_train=False)


def _draw_of_rows(
    mechanism: Mechanism, row_numbers: RowNumbers, fixed: Mapping[str, Floats], *, is_train: bool
) -> dict[str, Floats]:
    """Draw the columns that differ between the rows of a unit, and compute the identities."""
    own = [
        (place, column)
        for place, column in enumerate(mechanism.columns)
        if not column.unit and not isinstance(column.distribution, Unit | Identity)
    ]
    values = _draw(own, row_numbers, fixed, is_train=is_train)
    for column in mechanism.columns:
        if isinstance(column.distribution, Identity):
            cells = {**fixed, **values}
            values[column.name] = as_written(column, _compute(column, column.distribution, cells), cells)
    return values


def _draw(
    places: list[tuple[int, Column]], row_numbers: RowNumbers, fixed: Mapping[str, Floats], *, is_train: bool
) -> dict[str, Floats]:
    """Draw columns, those without a shift or trend first, since others may depend on them."""
    drawn: dict[str, Floats] = {}
    factors: list[Floats] = []
    for place, column in sorted(places, key=lambda item: item[1].shift is not None or item[1].trend is not None):
        while len(factors) < len(column.loadings):
            factors.append(ndtri(row_numbers.uniforms(f"factor {len(factors)}")))
        u, shift = row_numbers.uniforms(f"column {place}"), shift_of(column, {**fixed, **drawn})
        exact = unrounded(column) if column.conversion else column
        if column.loadings:
            drawn[column.name] = _depending(exact, u, factors, shift)
        else:
            drawn[column.name] = quantile(exact, u, shift, is_train=is_train)
    converted = [column for _, column in places if column.conversion]
    return drawn | {column.name: as_written(column, drawn[column.name], {**fixed, **drawn}) for column in converted}


def _depending(column: Column, u: NDArray[np.float64], factors: list[Floats], shift: Floats | float) -> Floats:
    """Return the cells of a column that depends on factors."""
    own = np.sqrt(1 - sum(load**2 for load in column.loadings))
    score: Floats = own * ndtri(u)
    for load, factor in zip(column.loadings, factors, strict=False):
        score = score + load * factor
    return level_at(column, score) if isinstance(column.distribution, Categorical) else value_at(column, score + shift)


def _compute(column: Column, law: Identity, values: Mapping[str, Floats]) -> Floats:
    """Return what the parts of an identity give, rounded as in the files unless the column has another unit."""
    result = reduce(_OPERATIONS[law.how], (values[part] for part in law.of))
    return result if column.conversion else np.asarray(np.round(result, column.decimals))


def _draw_units(column: Column, row_numbers: RowNumbers) -> Floats:
    """Draw the number of each row's unit."""
    if not isinstance(column.distribution, Unit):
        raise TypeError(f"column {column.name} is not a unit column")
    block = row_numbers.numbers // (_UNITS_PER_BLOCK * column.distribution.size)
    within = np.floor(row_numbers.uniforms("unit") * _UNITS_PER_BLOCK)
    return np.asarray(block * _UNITS_PER_BLOCK + within, dtype=np.float64)
