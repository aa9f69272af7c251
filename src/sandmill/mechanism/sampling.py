"""Rows of a mechanism. Row i is a function of the streams and of i alone, whatever range it is drawn in."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from scipy.special import expit, ndtri, softmax

from sandmill.mechanism.columns import Floats, quantile, standardize, value_at
from sandmill.mechanism.rule import SUBGROUP, latent_score
from sandmill.models.mechanism import (
    BinaryLink,
    Column,
    GaussianLink,
    LabelNoise,
    Mechanism,
    Missing,
    MulticlassLink,
    Outliers,
    Subgroup,
    UnitMixup,
)
from sandmill.rng import Streams


@dataclass(frozen=True)
class Draw:
    """Rows as nature made them and as an agent sees them."""

    complete: Mapping[str, Floats]
    """Every true cell, and who belongs to the hidden subgroup."""
    observed: Mapping[str, Floats]
    """What the files show: NaN in gaps, errors where there are errors."""
    target: Floats
    """Class codes or numbers, label noise included where the mechanism puts it in these rows."""


def draw_rows(mechanism: Mechanism, streams: Streams, rows: range, *, is_train: bool) -> Draw:
    """Draw consecutive rows.

    Args:
        mechanism: what to draw from.
        streams: streams of this part; train and test must not share them.
        rows: row numbers from 0 up, step 1.
        is_train: whether label noise that is in the training part only applies.
    """
    complete = _draw_columns(mechanism, streams, rows)
    target = _draw_target(mechanism, complete, streams, rows)
    noise = mechanism.label_noise()
    if noise and (is_train or noise.where == "both"):
        target = _replace_labels(target, mechanism, noise, streams, rows)
    return Draw(complete, _apply_faults(mechanism, complete, streams, rows), target)


def shift_of(column: Column, values: Mapping[str, Floats]) -> Floats | float:
    """Standard deviations that a column's categorical parent moves it by, row by row."""
    if column.shift is None:
        return 0.0
    return np.asarray(column.shift.amounts, dtype=np.float64)[values[column.shift.by].astype(np.intp)]


def _draw_columns(mechanism: Mechanism, streams: Streams, rows: range) -> dict[str, Floats]:
    values: dict[str, Floats] = {}
    for column in sorted(mechanism.columns, key=lambda column: column.shift is not None):
        u = streams.uniforms(f"column {column.name}", rows)
        values[column.name] = quantile(column, u, shift_of(column, values))
    if mechanism.subgroup:
        chance = subgroup_chance(mechanism.subgroup, values)
        values[SUBGROUP] = (streams.uniforms("subgroup", rows) < chance).astype(np.float64)
    return values


def _draw_target(mechanism: Mechanism, values: Mapping[str, Floats], streams: Streams, rows: range) -> Floats:
    eta = np.broadcast_to(latent_score(mechanism, values), (len(rows), len(mechanism.terms[0].weights)))
    u = streams.uniforms("target", rows)
    match mechanism.link:
        case BinaryLink(intercept=intercept):
            return np.asarray(u < expit(intercept + eta[:, 0]), dtype=np.float64)
        case MulticlassLink(intercepts=intercepts):
            cumulative = np.cumsum(softmax(np.asarray(intercepts) + eta, axis=1), axis=1)[:, :-1]
            return np.asarray((u[:, None] >= cumulative).sum(axis=1), dtype=np.float64)
        case GaussianLink(location=location, scale=scale, noise=noise, decimals=decimals):
            return np.asarray(np.round(location + scale * (eta[:, 0] + noise * ndtri(u)), decimals))


def _replace_labels(target: Floats, mechanism: Mechanism, noise: LabelNoise, streams: Streams, rows: range) -> Floats:
    """Give noisy rows one of the other classes, each equally likely."""
    classes = class_count(mechanism)
    hit = streams.uniforms("label noise", rows) < noise.rate
    step = 1 + np.floor(streams.uniforms("noisy label", rows) * (classes - 1))
    return np.where(hit, (target + step) % classes, target)


def subgroup_chance(subgroup: Subgroup, values: Mapping[str, Floats]) -> Floats:
    """Chance of each row to belong to the hidden subgroup."""
    return np.asarray(subgroup.shares, dtype=np.float64)[values[subgroup.by].astype(np.intp)]


def _apply_faults(
    mechanism: Mechanism, complete: Mapping[str, Floats], streams: Streams, rows: range
) -> dict[str, Floats]:
    observed = {name: cells for name, cells in complete.items() if name != SUBGROUP}
    for fault in mechanism.cell_faults():
        column, true = mechanism.column_by_name[fault.column], complete[fault.column]
        u = streams.uniforms(f"fault {fault.column}", rows)
        match fault:
            case Missing(given=given, rate=rate, slope=slope):
                score = standardize(mechanism.column_by_name[given], complete[given])
                hit = u < expit(np.log(rate / (1 - rate)) + slope * score)
                written: Floats | float = np.nan
            case UnitMixup(factor=factor, rate=rate):
                hit = u < rate
                written = np.maximum(np.round(true * factor, column.decimals), 10.0**-column.decimals)
            case Outliers(rate=rate, spread=spread):
                hit = u < rate
                error = spread * ndtri(streams.uniforms(f"error {fault.column}", rows))
                written = value_at(column, error + shift_of(column, complete))
        observed[fault.column] = np.where(hit, written, true)
    return observed


def class_count(mechanism: Mechanism) -> int:
    """Number of classes of a mechanism with a class link.

    Raises:
        TypeError: if the target is a number.
    """
    match mechanism.link:
        case BinaryLink():
            return 2
        case MulticlassLink(classes=classes):
            return len(classes)
        case GaussianLink():
            raise TypeError("a number has no classes, so label noise does not apply to it")
