"""Evaluate the latent rule: the weighted sum of standardised motifs."""

from collections.abc import Mapping, Sequence
from functools import reduce

import numpy as np
from numpy.typing import NDArray

from sandmill.mechanism.columns import Floats, standardize
from sandmill.models import motifs
from sandmill.models.columns import Column
from sandmill.models.mechanism import Mechanism

SUBGROUP = "<subgroup>"
"""Key of the hidden membership (0 or 1) in dictionaries of cells by column. No column can have this name."""
UNIT_EFFECT = "<unit effect>"
"""Key of the hidden effect of a row's unit in the same dictionaries."""
EARTH_KM = 6371.0
"""Mean radius of the earth."""
LEAST_KM = 0.01
"""Places that are nearer to each other count as this far apart where a logarithm is taken."""
HIDDEN = (SUBGROUP, UNIT_EFFECT)


def evaluate_motif(motif: motifs.Motif, columns: Mapping[str, Column], values: Mapping[str, Floats]) -> Floats:
    """Return the raw value of a motif on true cells. Values broadcast, so a hidden cell may be a grid of values."""

    def score(name: str) -> Floats:
        return standardize(columns[name], values[name])

    match motif:
        case motifs.Linear(column=name):
            return score(name)
        case motifs.Curve(column=name):
            return np.square(score(name))
        case motifs.Saturation(column=name, steepness=steepness):
            return np.asarray(np.tanh(steepness * score(name)))
        case motifs.Threshold(column=name, cut=cut):
            return (values[name] > cut).astype(np.float64)
        case motifs.BetweenCuts(column=name, low=low, high=high):
            return ((values[name] > low) & (values[name] <= high)).astype(np.float64)
        case motifs.Periodic(column=name, period=period, phase=phase):
            return np.asarray(np.sin(2 * np.pi * values[name] / period + phase))
        case motifs.Ratio(numerator=top, denominator=bottom):
            return np.asarray(np.log(values[top]) - np.log(values[bottom]))
        case motifs.Difference(left=left, right=right):
            return score(left) - score(right)
        case motifs.Interaction(left=left, right=right):
            return score(left) * score(right)
        case motifs.Bottleneck(left=left, right=right):
            return np.minimum(score(left), score(right))
        case motifs.Lookup(column=name, effects=effects):
            return np.asarray(effects, dtype=np.float64)[_codes(values[name])]
        case (
            motifs.CrossedLookup(left=left, right=right, effects=table)
            | motifs.KnownUnit(left=left, right=right, effects=table)
        ):
            return np.asarray(table, dtype=np.float64)[_codes(values[left]), _codes(values[right])]
        case motifs.VaryingSlope(column=name, by=by, slopes=slopes):
            return np.asarray(slopes, dtype=np.float64)[_codes(values[by])] * score(name)
        case motifs.LocalRule(column=name):
            return values[SUBGROUP] * score(name)
        case motifs.Drift(column=name, starts=starts, levels=levels):
            return np.asarray(levels, dtype=np.float64)[np.searchsorted(starts, values[name])]
        case motifs.UnitEffect():
            return values[UNIT_EFFECT]
        case motifs.Formula():
            return _formula(motif, values)
        case motifs.Conditional(column=name, when=when):
            holds = reduce(np.multiply, (_holds(part, values[part.column]) for part in when))
            return holds * score(name) if name else holds
        case motifs.NormDistance(column=name, by=by, norms=norms):
            return np.abs(
                score(name) - standardize(columns[name], np.asarray(norms, dtype=np.float64))[_codes(values[by])]
            )
        case motifs.CodeValue(column=name, values=published):
            return np.asarray(published, dtype=np.float64)[_codes(values[name])]
        case motifs.Aggregate():
            return values[motif.key]
        case motifs.Distance():
            return _distance(motif, values)


def evaluate_term(term: motifs.Term, columns: Mapping[str, Column], values: Mapping[str, Floats]) -> Floats:
    """Return the standardised value of a term, before its weights."""
    return (evaluate_motif(term.motif, columns, values) - term.center) / term.scale


def latent_score(mechanism: Mechanism, values: Mapping[str, Floats]) -> Floats:
    """Return the latent score eta, the sum of the weighted terms.

    Returns:
        Array with the shape of the broadcast values and one more axis for the outputs of the link.
    """
    columns = mechanism.column_by_name
    eta: Floats = np.zeros(1)
    for term in mechanism.terms:
        eta = eta + evaluate_term(term, columns, values)[..., None] * np.asarray(term.weights)
    return eta


def _formula(motif: motifs.Formula, values: Mapping[str, Floats]) -> Floats:
    log = _log_product(motif.top, values) - _log_product(motif.bottom, values)
    if motif.above is not None:
        return np.asarray(log > np.log(motif.above), dtype=np.float64)
    return log if motif.norm is None else np.abs(log - np.log(motif.norm))


def _distance(motif: motifs.Distance, values: Mapping[str, Floats]) -> Floats:
    kilometres = great_circle_km(*(values[name] for name in (*motif.start, *motif.end)))
    if motif.above is not None:
        return np.asarray(kilometres > motif.above, dtype=np.float64)
    if motif.norm is None:
        return np.log1p(kilometres)
    return np.asarray(np.abs(np.log(np.maximum(kilometres, LEAST_KM)) - np.log(motif.norm)))


def great_circle_km(latitude: Floats, longitude: Floats, other_latitude: Floats, other_longitude: Floats) -> Floats:
    """Return distances on a sphere as large as the earth by the haversine formula, between places in degrees."""
    north, east = np.radians(other_latitude - latitude) / 2, np.radians(other_longitude - longitude) / 2
    part = np.sin(north) ** 2
    part = part + np.cos(np.radians(latitude)) * np.cos(np.radians(other_latitude)) * np.sin(east) ** 2
    return np.asarray(2 * EARTH_KM * np.arcsin(np.sqrt(np.minimum(part, 1.0))))


def _log_product(factors: Sequence[tuple[str, ...]], values: Mapping[str, Floats]) -> Floats:
    """Return the logarithm of a product of sums."""
    return reduce(np.add, (np.log(reduce(np.add, (values[name] for name in names))) for names in factors), np.zeros(1))


def _holds(condition: motifs.Condition, values: Floats) -> Floats:
    """Return 1 where a condition holds, else 0."""
    if condition.levels:
        return np.isin(values, condition.levels).astype(np.float64)
    low = -np.inf if condition.above is None else condition.above
    high = np.inf if condition.at_most is None else condition.at_most
    return ((values > low) & (values <= high)).astype(np.float64)


def _codes(values: Floats) -> NDArray[np.intp]:
    return values.astype(np.intp)
