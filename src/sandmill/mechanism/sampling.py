"""Draw rows of a mechanism. Row i depends only on the streams and on i, whatever range of rows it is drawn with.

Streams are named by the position of a column, not by its name, so renaming a column changes no number.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import reduce

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, gammaincinv, ndtri, pdtr, pdtrik, softmax

from sandmill.errors import ItemRejected
from sandmill.mechanism.child import Events, with_events
from sandmill.mechanism.columns import Floats, level_at, quantile, shift_of, standardize, unrounded, value_at
from sandmill.mechanism.limits import breaks_a_limit
from sandmill.mechanism.row_numbers import RowNumbers
from sandmill.mechanism.rule import HIDDEN, SUBGROUP, UNIT_EFFECT, latent_score
from sandmill.mechanism.units import as_written
from sandmill.models import links
from sandmill.models.base import Stage
from sandmill.models.columns import Categorical, Column, Identity, Unit
from sandmill.models.faults import Duplicates, LabelNoise, Missing, Outliers, UnitMixup
from sandmill.models.links import MultilabelLink, class_names, output_count
from sandmill.models.mechanism import Mechanism, Subgroup
from sandmill.rng import Streams

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
    of_units = {column.name for column in mechanism.columns if column.unit}
    of_units |= {UNIT_EFFECT, mechanism.unit_column() or UNIT_EFFECT}
    for attempt in range(1, _MOST_REDRAWS + 1):
        rows = np.flatnonzero(breaks_a_limit(mechanism, values))
        if not len(rows):
            return values
        again = RowNumbers(row_numbers.streams.child(f"redraw {attempt}"), row_numbers.numbers[rows])
        fixed = {name: values[name][rows] for name in values if name in of_units}
        for name, cells in _draw_of_rows(mechanism, again, fixed, is_train=is_train).items():
            values[name][rows] = cells
    raise ItemRejected(
        Stage.DESIGN, "impossible_limits", f"a row breaks a limit in {_MOST_REDRAWS} draws: limits fit too few rows"
    )


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


@dataclass(frozen=True)
class Draw:
    """Rows with their true cells, their visible cells and their target."""

    complete: Mapping[str, Floats]
    """True cells by column, with membership in the hidden subgroup (`SUBGROUP`) and unit effects (`UNIT_EFFECT`)."""
    observed: Mapping[str, Floats]
    """Cells as in the files: NaN where missing, wrong values where the mechanism declares faults."""
    target: Floats
    """Class codes or one number, shape (rows,). Labels as 0/1 or several numbers, shape (rows, outputs). Label noise is
    included if the mechanism applies it to these rows."""
    numbers: NDArray[np.int64]
    """Row number whose random numbers each row uses: its own, or that of the row it copies."""
    events: Events | None = None
    """Rows of the child table, if the mechanism has one."""

    def take(self, rows: slice | NDArray[np.intp]) -> "Draw":
        """Return the selected rows, in the order of the selection."""
        return Draw(
            {name: cells[rows] for name, cells in self.complete.items()},
            {name: cells[rows] for name, cells in self.observed.items()},
            self.target[rows],
            self.numbers[rows],
            self.events and self.events.take(rows),
        )

    def followed_by(self, other: "Draw") -> "Draw":
        """Return these rows followed by `other`, which has the same mechanism."""
        return Draw(
            {name: np.concatenate([cells, other.complete[name]]) for name, cells in self.complete.items()},
            {name: np.concatenate([cells, other.observed[name]]) for name, cells in self.observed.items()},
            np.concatenate([self.target, other.target]),
            np.concatenate([self.numbers, other.numbers]),
            self.events and other.events and self.events.followed_by(other.events),
        )


def draw_rows(mechanism: Mechanism, streams: Streams, rows: range, *, is_train: bool) -> Draw:
    """Draw consecutive rows.

    Args:
        mechanism: mechanism to draw from.
        streams: streams of this part. Train and test must not share them.
        rows: row numbers from 0 up, step 1.
        is_train: whether this is the training part, which has the copies, the label noise of the training part, and
            the dates before the cut of a temporal split.
    """
    row_numbers = _row_numbers(mechanism, streams, rows, is_train=is_train)
    complete, events = _draw_complete(mechanism, row_numbers, is_train=is_train)
    eta = np.broadcast_to(latent_score(mechanism, complete), (len(rows), output_count(mechanism.link)))
    target = draw_target(mechanism.link, eta, row_numbers)
    noise = mechanism.label_noise()
    if noise and (is_train or noise.where == "both"):
        target = _replace_labels(target, mechanism, noise, row_numbers)
    return Draw(complete, _apply_faults(mechanism, complete, row_numbers), target, row_numbers.numbers, events)


def draw_cells(mechanism: Mechanism, streams: Streams, rows: range, *, is_train: bool) -> dict[str, Floats]:
    """Draw the true cells alone: `complete` of the draw that `draw_rows` makes of these rows.

    The terms need not be standardised. Targets of such terms can be too large to draw.
    """
    row_numbers = _row_numbers(mechanism, streams, rows, is_train=is_train)
    return _draw_complete(mechanism, row_numbers, is_train=is_train)[0]


def _row_numbers(mechanism: Mechanism, streams: Streams, rows: range, *, is_train: bool) -> RowNumbers:
    row_numbers, copies = RowNumbers.of(streams, rows), mechanism.duplicates()
    return _with_copies(copies, row_numbers) if copies and is_train else row_numbers


def _draw_complete(
    mechanism: Mechanism, row_numbers: RowNumbers, *, is_train: bool
) -> tuple[dict[str, Floats], Events | None]:
    return with_events(mechanism, row_numbers, _draw_columns(mechanism, row_numbers, is_train=is_train))


def _with_copies(copies: Duplicates, row_numbers: RowNumbers) -> RowNumbers:
    """Give some rows the row number of an earlier row, so that they repeat its draws.

    A copy of a copy gets the row number of the original, which is in the files.
    """
    while True:
        hit = (row_numbers.uniforms("copy") < copies.rate) & (row_numbers.numbers > 0)
        if not hit.any():
            return row_numbers
        earlier = np.floor(row_numbers.uniforms("copied row") * row_numbers.numbers).astype(np.int64)
        row_numbers = RowNumbers(row_numbers.streams, np.where(hit, earlier, row_numbers.numbers))


def _draw_columns(mechanism: Mechanism, row_numbers: RowNumbers, *, is_train: bool) -> dict[str, Floats]:
    values = draw_columns(mechanism, row_numbers, is_train=is_train)
    if mechanism.subgroup:
        chance = subgroup_chance(mechanism.subgroup, values)
        values[SUBGROUP] = (row_numbers.uniforms("subgroup") < chance).astype(np.float64)
    return values


def _replace_labels(target: Floats, mechanism: Mechanism, noise: LabelNoise, row_numbers: RowNumbers) -> Floats:
    """Give noisy rows one of the other classes, each equally likely. Labels of a set are flipped independently."""
    if isinstance(mechanism.link, MultilabelLink):
        draws = [row_numbers.uniforms(f"label noise {place}") for place in range(target.shape[1])]
        return np.where(np.column_stack(draws) < noise.rate, 1 - target, target)
    classes = len(class_names(mechanism.link))
    wrong = row_numbers.uniforms("label noise") < noise.rate
    step = 1 + np.floor(row_numbers.uniforms("noisy label") * (classes - 1))
    return np.where(wrong, (target + step) % classes, target)


def subgroup_chance(subgroup: Subgroup, values: Mapping[str, Floats]) -> Floats:
    """Return the probability that each row belongs to the hidden subgroup."""
    return np.asarray(subgroup.shares, dtype=np.float64)[values[subgroup.by].astype(np.intp)]


def _apply_faults(mechanism: Mechanism, complete: Mapping[str, Floats], row_numbers: RowNumbers) -> dict[str, Floats]:
    observed = {name: cells for name, cells in complete.items() if name not in HIDDEN}
    names = [column.name for column in mechanism.columns]
    for fault in mechanism.cell_faults():
        place = names.index(fault.column)
        column, true = mechanism.columns[place], complete[fault.column]
        u = row_numbers.uniforms(f"fault {place}")
        match fault:
            case Missing(given=given, rate=rate, slope=slope):
                score = standardize(mechanism.column_by_name[given], complete[given])
                hit = u < expit(np.log(rate / (1 - rate)) + slope * score)
                written: Floats | float = np.nan
            case UnitMixup(factor=factor, rate=rate):
                hit = u < rate
                wrong = np.maximum(np.round(true * factor, column.decimals), 10.0**-column.decimals)
                written = as_written(column, wrong, complete)
            case Outliers(rate=rate, spread=spread):
                hit = u < rate
                error = spread * ndtri(row_numbers.uniforms(f"error {place}"))
                exact = unrounded(column) if column.conversion else column
                written = as_written(column, value_at(exact, error + shift_of(column, complete)), complete)
        observed[fault.column] = np.where(hit, written, true)
    return observed


def draw_target(link: links.Link, eta: Floats, row_numbers: RowNumbers) -> Floats:
    """Draw a target for each row from its latent scores, shape (rows, outputs).

    Returns:
        Class codes or one number, shape (rows,); zeros where targets are rendered. Labels as 0/1 or several numbers,
        shape (rows, outputs).
    """
    match link:
        case links.MultilabelLink(intercepts=intercepts):
            draws = [row_numbers.uniforms(f"target {place}") for place in range(eta.shape[1])]
            return (np.column_stack(draws) < expit(np.asarray(intercepts) + eta)).astype(np.float64)
        case links.NumbersLink(links=parts):
            draws = [row_numbers.uniforms(f"target {place}") for place in range(eta.shape[1])]
            return np.column_stack([draw_number(*column) for column in zip(parts, eta.T, draws, strict=True)])
        case links.BinaryLink(intercept=intercept):
            return (row_numbers.uniforms("target") < expit(intercept + eta[:, 0])).astype(np.float64)
        case links.MulticlassLink(intercepts=intercepts):
            cumulative = np.cumsum(softmax(np.asarray(intercepts) + eta, axis=1), axis=1)[:, :-1]
            return _codes(cumulative, row_numbers.uniforms("target"))
        case links.OrdinalLink(cuts=cuts):
            return _codes(expit(np.asarray(cuts) - eta), row_numbers.uniforms("target"))
        case links.GaussianLink() | links.PositiveLink():
            return draw_number(link, eta[:, 0], row_numbers.uniforms("target"))
        case links.RenderedLink():
            return np.zeros(len(eta))
        case links.CountLink(intercept=intercept, dispersion=dispersion):
            gamma = gammaincinv(1 / dispersion, row_numbers.uniforms("target rate")) * dispersion
            return _poisson(np.asarray(gamma * np.exp(intercept + eta[:, 0])), row_numbers.uniforms("target"))


def _codes(cumulative: Floats, u: Floats) -> Floats:
    return np.asarray((u[:, None] >= cumulative).sum(axis=1), dtype=np.float64)


def draw_number(link: links.NumberLink, eta: Floats, u: Floats) -> Floats:
    """Draw numbers from their latent scores and uniform random numbers."""
    score = eta + link.noise * ndtri(u)
    if isinstance(link, links.GaussianLink):
        return np.asarray(np.round(link.location + link.scale * score, link.decimals))
    value = np.round(link.median * np.exp(link.sigma * score), link.decimals)
    return np.asarray(np.maximum(value, 10.0**-link.decimals))


def _poisson(rate: Floats, u: Floats) -> Floats:
    """Return Poisson quantiles: the smallest count whose cumulative probability is at least u."""
    upper = np.ceil(pdtrik(u, rate))
    lower = np.maximum(upper - 1, 0)
    return np.asarray(np.where(pdtr(lower, rate) >= u, lower, upper))
