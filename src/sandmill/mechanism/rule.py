"""The latent rule: motifs of visible columns, standardised, weighted and added up."""

from collections.abc import Mapping

import numpy as np

from sandmill.mechanism.columns import Floats, standardize
from sandmill.models.mechanism import (
    Column,
    Interaction,
    Linear,
    Lookup,
    Mechanism,
    Motif,
    Periodic,
    Ratio,
    Term,
    Threshold,
)


def evaluate_motif(motif: Motif, columns: Mapping[str, Column], values: Mapping[str, Floats]) -> Floats:
    """Raw value of a motif on complete cells; values broadcast, so hidden cells may be grids."""
    match motif:
        case Linear(column=name):
            return standardize(columns[name], values[name])
        case Ratio(numerator=top, denominator=bottom):
            return np.asarray(np.log(values[top]) - np.log(values[bottom]))
        case Interaction(left=left, right=right):
            return standardize(columns[left], values[left]) * standardize(columns[right], values[right])
        case Threshold(column=name, cut=cut):
            return (values[name] > cut).astype(np.float64)
        case Periodic(column=name, period=period, phase=phase):
            return np.asarray(np.sin(2 * np.pi * values[name] / period + phase))
        case Lookup(column=name, effects=effects):
            return np.asarray(effects, dtype=np.float64)[values[name].astype(np.intp)]


def columns_of(motif: Motif) -> tuple[str, ...]:
    """Names of the columns that a motif reads."""
    match motif:
        case Ratio(numerator=top, denominator=bottom):
            return (top, bottom)
        case Interaction(left=left, right=right):
            return (left, right)
        case Linear(column=name) | Threshold(column=name) | Periodic(column=name) | Lookup(column=name):
            return (name,)


def evaluate_term(term: Term, columns: Mapping[str, Column], values: Mapping[str, Floats]) -> Floats:
    """Standardised value of a term before its weights."""
    return (evaluate_motif(term.motif, columns, values) - term.center) / term.scale


def latent_score(mechanism: Mechanism, values: Mapping[str, Floats]) -> Floats:
    """Eta: the sum of weighted terms.

    Returns:
        Shape of the broadcast values with one more axis, the outputs of the link.
    """
    columns = mechanism.column_by_name
    eta: Floats = np.zeros(1)
    for term in mechanism.terms:
        eta = eta + evaluate_term(term, columns, values)[..., None] * np.asarray(term.weights)
    return eta
