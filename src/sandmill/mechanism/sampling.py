"""Draw rows of a mechanism. Row i depends only on the streams and on i, whatever range of rows it is drawn with.

Streams are named by the position of a column, not by its name, so renaming a column changes no number.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, gammaincinv, ndtri, pdtr, pdtrik, softmax

from sandmill.mechanism.child import Events, with_events
from sandmill.mechanism.columns import Floats, shift_of, standardize, unrounded, value_at
from sandmill.mechanism.draw_columns import draw_columns
from sandmill.mechanism.row_numbers import RowNumbers
from sandmill.mechanism.rule import HIDDEN, SUBGROUP, latent_score
from sandmill.mechanism.units import as_written
from sandmill.models import links
from sandmill.models.faults import Duplicates, LabelNoise, Missing, Outliers, UnitMixup
from sandmill.models.links import MultilabelLink, class_names, output_count
from sandmill.models.mechanism import Mechanism, Subgroup
from sandmill.rng import Streams


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
            return np.column_stack([_number(*column) for column in zip(parts, eta.T, draws, strict=True)])
        case links.BinaryLink(intercept=intercept):
            return (row_numbers.uniforms("target") < expit(intercept + eta[:, 0])).astype(np.float64)
        case links.MulticlassLink(intercepts=intercepts):
            cumulative = np.cumsum(softmax(np.asarray(intercepts) + eta, axis=1), axis=1)[:, :-1]
            return _codes(cumulative, row_numbers.uniforms("target"))
        case links.OrdinalLink(cuts=cuts):
            return _codes(expit(np.asarray(cuts) - eta), row_numbers.uniforms("target"))
        case links.GaussianLink() | links.PositiveLink():
            return _number(link, eta[:, 0], row_numbers.uniforms("target"))
        case links.RenderedLink():
            return np.zeros(len(eta))
        case links.CountLink(intercept=intercept, dispersion=dispersion):
            gamma = gammaincinv(1 / dispersion, row_numbers.uniforms("target rate")) * dispersion
            return _poisson(np.asarray(gamma * np.exp(intercept + eta[:, 0])), row_numbers.uniforms("target"))


def _codes(cumulative: Floats, u: Floats) -> Floats:
    return np.asarray((u[:, None] >= cumulative).sum(axis=1), dtype=np.float64)


def _number(link: links.GaussianLink | links.PositiveLink, eta: Floats, u: Floats) -> Floats:
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
