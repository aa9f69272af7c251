"""Fit scales of motifs, intercepts and cuts of a design to a large draw of its mechanism."""

from collections.abc import Mapping, Sequence

import numpy as np
from scipy.optimize import brentq
from scipy.special import expit, softmax

from sandmill.mechanism.columns import Floats
from sandmill.mechanism.rule import evaluate_motif, latent_score
from sandmill.mechanism.sampling import draw_rows
from sandmill.models.links import BinaryLink, Link, MulticlassLink, MultilabelLink, OrdinalLink
from sandmill.models.mechanism import Mechanism
from sandmill.models.motifs import UnitEffect
from sandmill.rng import Streams

_ROWS = 10_000
"""Rows drawn before and again after the cut of a temporal split; other splits draw them as well."""
_ITERATIONS = 30
_LEAST_SCALE = 1e-6


def standardize_terms(mechanism: Mechanism, streams: Streams) -> Mechanism:
    """Standardise every motif to mean 0 and variance 1, so that weights are comparable. Unit effects already are."""
    values = _draw(mechanism, streams)
    columns = mechanism.column_by_name
    terms = []
    for term in mechanism.terms:
        if isinstance(term.motif, UnitEffect):
            terms.append(term)
            continue
        raw = evaluate_motif(term.motif, columns, values)
        scale = max(_six_digits(raw.std()), _LEAST_SCALE)
        terms.append(term.model_copy(update={"center": _six_digits(raw.mean()), "scale": scale}))
    return mechanism.model_copy(update={"terms": tuple(terms)})


def fit_link(mechanism: Mechanism, shares: Sequence[float], streams: Streams) -> Mechanism:
    """Fit intercepts or cuts so that classes or labels have the wanted shares. Links of numbers stay as they are."""
    eta = latent_score(mechanism, _draw(mechanism, streams))
    return mechanism.model_copy(update={"link": _fitted(mechanism.link, eta, shares)})


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
        draw_rows(mechanism, streams.child(name), range(_ROWS), is_train=is_train).complete
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
    intercepts = np.zeros(len(shares))
    for _ in range(_ITERATIONS):
        intercepts += np.log(shares) - np.log(softmax(intercepts + eta, axis=1).mean(axis=0))
    return np.asarray(intercepts - intercepts.mean())
