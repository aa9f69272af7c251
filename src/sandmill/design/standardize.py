"""Fit scales of motifs, intercepts and cuts of a design to a large draw of its mechanism."""

from collections.abc import Mapping, Sequence

import numpy as np
from scipy.optimize import brentq
from scipy.special import expit, softmax

from sandmill.mechanism.columns import Floats
from sandmill.mechanism.rule import evaluate_motif, latent_score
from sandmill.mechanism.sampling import draw_cells
from sandmill.models.columns import Column, Identity
from sandmill.models.links import BinaryLink, Link, MulticlassLink, MultilabelLink, OrdinalLink
from sandmill.models.mechanism import Mechanism
from sandmill.models.motifs import ToldMotif, UnitEffect
from sandmill.rng import Streams

_ROWS = 10_000
"""Rows drawn before and again after the cut of a temporal split; other splits draw them as well."""
_ITERATIONS = 30
_LEAST_SCALE = 1e-6


def standardize(mechanism: Mechanism, shares: Sequence[float], streams: Streams) -> Mechanism:
    """Standardise terms, then fit the link.

    Args:
        mechanism: rule and link of which only the weights are final.
        shares: wanted shares of classes or labels; empty for links of numbers, which stay as they are.
        streams: name the random numbers of the draw that both fits read.
    """
    values = _draw(mechanism, streams)
    standardized = _with_standard_terms(mechanism, values)
    link = _fitted(standardized.link, latent_score(standardized, values), shares)
    return standardized.model_copy(update={"link": link})


def _with_standard_terms(mechanism: Mechanism, values: Mapping[str, Floats]) -> Mechanism:
    """Standardise every motif to mean 0 and variance 1, so that weights are comparable. Unit effects already are.

    Identities get their mean and standard deviation. Where columns depend on each other, all weights are multiplied by
    one number, so that the sum of the terms has the variance that it would have with independent terms.
    """
    mechanism = mechanism.model_copy(update={"columns": tuple(_fitted_law(c, values) for c in mechanism.columns)})
    columns = mechanism.column_by_name
    terms = []
    for term in mechanism.terms:
        if isinstance(term.motif, UnitEffect):
            terms.append(term)
            continue
        raw = evaluate_motif(term.motif, columns, values)
        scale = max(_six_digits(raw.std()), _LEAST_SCALE)
        terms.append(term.model_copy(update={"center": _six_digits(raw.mean()), "scale": scale}))
    standardized = mechanism.model_copy(update={"terms": tuple(terms)})
    return _with_wanted_variance(standardized, values) if _is_dependent(mechanism) else standardized


def _fitted_law(column: Column, values: Mapping[str, Floats]) -> Column:
    law = column.distribution
    if not isinstance(law, Identity):
        return column
    cells = values[column.name]
    fitted = {"center": _six_digits(cells.mean()), "scale": max(_six_digits(cells.std()), _LEAST_SCALE)}
    return column.model_copy(update={"distribution": law.model_copy(update=fitted)})


def _is_dependent(mechanism: Mechanism) -> bool:
    """Return whether terms can be correlated, by factors, identities, limits or stated forms over several columns."""
    has_identity = any(isinstance(column.distribution, Identity) for column in mechanism.columns)
    is_stated = any(isinstance(term.motif, ToldMotif) for term in mechanism.terms)
    return bool(mechanism.factors or mechanism.limits) or has_identity or is_stated


def _with_wanted_variance(mechanism: Mechanism, values: Mapping[str, Floats]) -> Mechanism:
    """Scale all weights so that the outputs' total variance is the sum of the terms' variances."""
    wanted = sum(weight**2 for term in mechanism.terms for weight in term.weights)
    found = float(latent_score(mechanism, values).var(axis=0).sum())
    factor = np.sqrt(wanted / found)
    terms = [
        term.model_copy(update={"weights": tuple(round(float(factor * weight), 5) for weight in term.weights)})
        for term in mechanism.terms
    ]
    return mechanism.model_copy(update={"terms": tuple(terms)})


def _fitted(link: Link, eta: Floats, shares: Sequence[float]) -> Link:
    match link:
        case BinaryLink():
            return BinaryLink(intercept=_intercept(eta[:, 0], shares[1]))
        case MulticlassLink(classes=classes):
            fitted = _fit_softmax(eta, np.asarray(shares))
            return MulticlassLink(classes=classes, intercepts=tuple(map(_six_digits, fitted)))
        case OrdinalLink(classes=classes):
            below = np.cumsum(shares)[:-1]
            return OrdinalLink(classes=classes, cuts=tuple(_intercept(-eta[:, 0], float(share)) for share in below))
        case MultilabelLink(labels=labels):
            intercepts = [_intercept(scores, share) for scores, share in zip(eta.T, shares, strict=True)]
            return MultilabelLink(labels=labels, intercepts=tuple(intercepts))
        case _:
            return link


def _draw(mechanism: Mechanism, streams: Streams) -> Mapping[str, Floats]:
    parts = [
        draw_cells(mechanism, streams.child(name), range(_ROWS), is_train=is_train)
        for name, is_train in (("early", True), ("late", False))
    ]
    return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}


def _intercept(scores: Floats, share: float) -> float:
    """Return the b for which logistic(b + score) has the wanted mean."""
    return _six_digits(brentq(lambda b: float(expit(b + scores).mean()) - share, -60, 60, xtol=1e-9))


def _six_digits(number: float) -> float:
    return float(f"{number:.6g}")


def _fit_softmax(eta: Floats, shares: Floats) -> Floats:
    """Fit class intercepts by iterative proportional fitting."""
    intercepts, scores = np.zeros(len(shares)), np.ascontiguousarray(eta.T)
    for _ in range(_ITERATIONS):
        intercepts += np.log(shares) - np.log(softmax(intercepts[:, None] + scores, axis=0).mean(axis=1))
    return np.asarray(intercepts - intercepts.mean())
