"""The informed solver: it knows the form of every feature and learns only their weights from the training rows."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import numpy as np

from sandmill.calibrate.conditions import solver_conditions
from sandmill.calibrate.panel import Panel, PanelRun, loader
from sandmill.mechanism.columns import Floats, standardize
from sandmill.mechanism.rule import evaluate_motif
from sandmill.models.calibration import Tier
from sandmill.models.columns import Categorical, Column
from sandmill.models.mechanism import Mechanism
from sandmill.models.motifs import (
    CrossedLookup,
    Drift,
    KnownUnit,
    LocalRule,
    Lookup,
    Motif,
    Periodic,
    UnitEffect,
    VaryingSlope,
    columns_of,
)

INFORMED = "informed"
FACTORS = (0.5, 1.0, 2.0, 4.0)
"""How much less effects of levels are shrunk than weights of plain features, in penalty's square root."""
_REACH = 8.0
"""Standard deviations beyond which a feature of a test row is cut, as in the panel's designs."""


def informed_run(
    panel: Panel, mechanism: Mechanism, train_observed: Mapping[str, Floats], test_observed: Mapping[str, Floats]
) -> PanelRun:
    """Solve the task with features of the true form: how much is lost by not knowing the weights alone.

    It never joins the board: no honest agent is told so much. The tier of the run says nothing.
    """
    load = partial(_load, mechanism, train_observed, test_observed)
    with solver_conditions():
        return panel.without_cache().run_solver(INFORMED, Tier.SEARCH, load, loader("decisions", "decide"))


def _load(mechanism: Mechanism, train: Mapping[str, Floats], test: Mapping[str, Floats]) -> Callable[[Any], Any]:
    def informed(table: Any) -> Any:
        """Tuned linear model on the true features, one column of the target at a time."""
        from sandmill.calibrate.solvers.designs import Design
        from sandmill.calibrate.solvers.linear import linear_scores, responses, weighed

        kept = {name: cells[table.kept] for name, cells in train.items()}
        straight, levels = Design.empty(table), Design.empty(table)
        for term in mechanism.terms:
            made = [motif_features(term.motif, mechanism, cells) for cells in (kept, test)]
            if is_in_levels(term.motif):
                levels = levels.beside(Design(*centred(*made, scale=False)))
            else:
                straight = straight.beside(Design(*centred(*made, scale=True)))
        design = straight.beside(levels)
        is_of_level = np.arange(design.train.shape[1]) >= straight.train.shape[1]
        design, _, penalty = weighed(
            design, is_of_level, responses(table), FACTORS if is_of_level.any() else FACTORS[:1]
        )
        return linear_scores(design, table, penalty)

    return informed


def motif_features(motif: Motif, mechanism: Mechanism, cells: Mapping[str, Floats]) -> Floats:
    """Evaluate a motif with its true shape, shape (rows, features), NaN where a cell that it reads is missing.

    Effects of levels and of periods become one 0/1 column each, a wave its sine and cosine. A local rule is a slope for
    each level that makes membership likely or not. The effect that the rows of a unit share has no feature.

    Raises:
        ValueError: if the mechanism of a local rule has no subgroup.
    """
    columns = mechanism.column_by_name
    gap = np.zeros(len(next(iter(cells.values()))), dtype=bool)
    for name in columns_of(motif):
        gap |= np.isnan(cells[name])
    match motif:
        case UnitEffect(column=name):
            return np.zeros((len(cells[name]), 0))
        case Lookup(column=name):
            made = level_flags_of(columns[name], cells[name])
        case CrossedLookup(left=left, right=right) | KnownUnit(left=left, right=right):
            made = crossed(level_flags_of(columns[left], cells[left]), level_flags_of(columns[right], cells[right]))
        case VaryingSlope(column=name, by=by):
            made = slopes_of(columns, name, by, cells)
        case LocalRule(column=name):
            if mechanism.subgroup is None:
                raise ValueError("a local rule needs a hidden subgroup")
            made = slopes_of(columns, name, mechanism.subgroup.by, cells)
        case Periodic(column=name, period=period):
            angle = 2 * np.pi * cells[name] / period
            made = np.column_stack([np.sin(angle), np.cos(angle)])
        case Drift(column=name, starts=starts):
            made = np.eye(len(starts) + 1)[np.searchsorted(starts, cells[name])]
        case _:
            # A missing category has no code, so rows with gaps are left out.
            made = np.full((len(gap), 1), np.nan)
            made[~gap, 0] = evaluate_motif(motif, columns, {name: values[~gap] for name, values in cells.items()})
    return np.where(gap[:, None], np.nan, made)


def slopes_of(columns: Mapping[str, Column], name: str, by: str, cells: Mapping[str, Floats]) -> Floats:
    """The standardised value of a column, in the column of the row's level."""
    return level_flags_of(columns[by], cells[by]) * standardize(columns[name], cells[name])[:, None]


def level_flags_of(column: Column, codes: Floats) -> Floats:
    """One 0/1 column for each level, all 0 where the cell is missing.

    Raises:
        TypeError: if the column has no levels.
    """
    if not isinstance(column.distribution, Categorical):
        raise TypeError(f"column {column.name} has no levels")
    return np.equal.outer(codes, np.arange(len(column.distribution.levels))).astype(np.float64)


def crossed(left: Floats, right: Floats) -> Floats:
    """One 0/1 column for each pair of levels."""
    return (left[:, :, None] * right[:, None, :]).reshape(len(left), -1)


def is_in_levels(motif: Motif) -> bool:
    """Whether a motif has one feature for each level, pair or period, each with few rows."""
    return isinstance(motif, Lookup | CrossedLookup | KnownUnit | VaryingSlope | LocalRule | Drift)


def centred(train: Floats, test: Floats, *, scale: bool) -> tuple[Floats, Floats]:
    """Centre on the training mean, which gaps become; scale to the training deviation if asked."""
    known = ~np.isnan(train)
    middle = np.where(known, train, 0).sum(axis=0) / np.maximum(known.sum(axis=0), 1)
    spread = np.ones(train.shape[1])
    if scale:
        deviation = np.sqrt(np.where(known, np.square(train - middle), 0).mean(axis=0))
        spread = np.where(deviation > 1e-9, deviation, np.inf)
    moved = [np.nan_to_num((part - middle) / spread) for part in (train, test)]
    return moved[0], np.clip(moved[1], -_REACH, _REACH)
