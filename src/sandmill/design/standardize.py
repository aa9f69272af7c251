"""Fit what a design leaves open to a large draw of its own mechanism: motif scales and class shares."""

from collections.abc import Sequence

import numpy as np
from scipy.optimize import brentq
from scipy.special import expit, softmax

from sandmill.mechanism.columns import Floats
from sandmill.mechanism.rule import evaluate_motif, latent_score
from sandmill.mechanism.sampling import draw_rows
from sandmill.models.mechanism import BinaryLink, Mechanism, MulticlassLink
from sandmill.rng import Streams

_ROWS = 20_000
_ROUNDS = 30


def standardize_terms(mechanism: Mechanism, streams: Streams) -> Mechanism:
    """Give every motif mean 0 and variance 1 under the mechanism, so that weights compare across motifs."""
    values = draw_rows(mechanism, streams, range(_ROWS), is_train=False).complete
    columns = mechanism.column_by_name
    terms = []
    for term in mechanism.terms:
        raw = evaluate_motif(term.motif, columns, values)
        center, scale = float(f"{raw.mean():.6g}"), float(f"{raw.std():.6g}")
        terms.append(term.model_copy(update={"center": center, "scale": scale}))
    return mechanism.model_copy(update={"terms": tuple(terms)})


def fit_link(mechanism: Mechanism, shares: Sequence[float], streams: Streams) -> Mechanism:
    """Choose intercepts so that classes occur in the wanted shares; numbers need nothing."""
    values = draw_rows(mechanism, streams, range(_ROWS), is_train=False).complete
    eta = latent_score(mechanism, values)
    match mechanism.link:
        case BinaryLink():
            intercept = brentq(lambda b: float(expit(b + eta[:, 0]).mean()) - shares[1], -30, 30, xtol=1e-9)
            link: BinaryLink | MulticlassLink = BinaryLink(intercept=float(f"{intercept:.6g}"))
        case MulticlassLink(classes=classes):
            intercepts = _fit_softmax(eta, np.asarray(shares))
            link = MulticlassLink(classes=classes, intercepts=tuple(float(f"{b:.6g}") for b in intercepts))
        case _:
            return mechanism
    return mechanism.model_copy(update={"link": link})


def _fit_softmax(eta: Floats, shares: Floats) -> Floats:
    """Iterative proportional fitting of the class intercepts."""
    intercepts = np.zeros(len(shares))
    for _ in range(_ROUNDS):
        intercepts += np.log(shares) - np.log(softmax(intercepts + eta, axis=1).mean(axis=0))
    return np.asarray(intercepts - intercepts.mean())
