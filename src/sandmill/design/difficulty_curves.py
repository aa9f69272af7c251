"""Typical difficulty of grammar designs as a function of hardness, for every supported pair of target and metric."""

from collections.abc import Mapping
from importlib.resources import files
from itertools import accumulate
from math import log

import yaml

from sandmill.design.known import FITS, HARDNESS, Aim
from sandmill.design.laws import FINE_SHARE
from sandmill.design.shape import shape_of
from sandmill.kinds.table import TABLE
from sandmill.models.base import Band
from sandmill.models.kind import kind_of
from sandmill.models.structure import MetricName, Structure, TargetKind

_MEASURED: dict[str, dict[str, list[float]]] = yaml.safe_load(
    files("sandmill.design").joinpath("difficulty_curves.yaml").read_text("utf-8")
)
DIFFICULTY_CURVES: Mapping[tuple[TargetKind, MetricName], tuple[float, ...]] = {
    (TargetKind(target), MetricName(metric)): tuple(curve)
    for target, curves in _MEASURED.items()
    for metric, curve in curves.items()
}
"""Median difficulty of designs without stated facts at each position of `HARDNESS`, made non-decreasing. A search for a
band starts and steps by it. A wrong curve makes a search longer, not worse.
"""

STATED, STATED_EASY = (0.14, 0.20, 0.16, 0.09, 0.05), (0.05, 0.07, 0.08, 0.07, 0.04)
"""How much harder designs that state facts are at each position, mean over all pairs: those for other bands than easy,
and those for the easy band, which state one fact of a small share."""


_APART = 0.2
"""Distance from which on the scores of two models on a seed count apart: designs cannot have both."""
_WIDE, _RARE, _LACKING = 0.065, 0.08, 0.22
"""Change of difficulty with the logarithms of the number of columns and of the rarer class, and with the share of
numbers that a rule lacks at hardness 1. Fitted to 189 pilots of 66 seeds, of which they explain a third of the variance
that the curves leave."""
_USUAL_COLUMNS, _USUAL_RARE, _LEAST_RARE = 10, 0.3, 0.05
_ENOUGH_NUMBERS = 8
"""Numbers of many values that a rule needs to have every motif. With fewer, most hidden motifs are missing."""


def difficulty_curve(structure: Structure, band: Band) -> tuple[float, ...]:
    """Return the typical difficulty of designs for a band at each position of `HARDNESS`.

    Pairs of target and metric that were never measured get a straight line. Where the columns of a seed are known, the
    curve is that of tables of their number and kind.
    """
    kind, pair = kind_of(structure), (structure.target, structure.metric)
    if kind is not None and kind.tasks is not None:
        return kind.tasks.get(pair, HARDNESS)
    curve = DIFFICULTY_CURVES.get(pair)
    if curve is None:
        return HARDNESS
    stated = STATED_EASY if band is Band.EASY else STATED
    parts = zip(curve, stated, _moved_by_columns(structure), strict=True)
    whole = aim.curve if (aim := aim_of(structure, band)) else map(sum, parts)
    return tuple(accumulate((round(min(max(one, 0.0), 1.0), 2) for one in whole), max))


def aim_of(structure: Structure, band: Band) -> Aim | None:
    """Return how well the targets of designs for a band can be known; None if the scores of a seed are not known."""
    profile, fit = structure.profile, FITS.get(structure.target)
    curve = DIFFICULTY_CURVES.get((structure.target, structure.metric))
    if not (profile and profile.boosting_score is not None and fit and curve and shape_of(structure, TABLE)):
        return None
    linear, boosting = profile.linear_score or 0.0, profile.boosting_score
    seen = (linear + boosting) / 2 if abs(linear - boosting) <= _APART else boosting
    usual = DIFFICULTY_CURVES[structure.target, fit.usual]
    uneven = fit.uneven * max(profile.class_shares, default=0.0) * len(profile.class_shares)
    moved = [a - b + c + uneven for a, b, c in zip(curve, usual, _moved_by_columns(structure), strict=True)]
    return Aim.at(fit, seen, band, moved)


def _moved_by_columns(structure: Structure) -> tuple[float, ...]:
    """Return how much harder designs are than usual at each position, from the columns of their seed."""
    shape = shape_of(structure, TABLE)
    if shape is None:
        return (0.0,) * len(HARDNESS)
    fine = sum(like is None or like.distinct_share >= FINE_SHARE for like in shape.numbers)
    lacking = 1 - min(fine, _ENOUGH_NUMBERS) / _ENOUGH_NUMBERS
    moved = _WIDE * log(max(shape.count, 3) / _USUAL_COLUMNS)
    if structure.target is TargetKind.BINARY and structure.positive_share is not None:
        rare = max(min(structure.positive_share, 1 - structure.positive_share), _LEAST_RARE)
        moved += _RARE * log(_USUAL_RARE / rare)
    return tuple(round(moved - _LACKING * lacking * hardness, 3) for hardness in HARDNESS)
