"""Fit the distribution of a number to predict to the seed's, on a draw of the rule: skewness and repeated values."""

from itertools import product

import numpy as np

from sandmill.design.laws import moments
from sandmill.mechanism.columns import Floats
from sandmill.mechanism.rule import latent_score
from sandmill.mechanism.sampling import draw_cells, draw_number
from sandmill.models.links import CountLink, GaussianLink, NumberLink, NumbersLink, PositiveLink
from sandmill.models.mechanism import Mechanism
from sandmill.models.profile import SMALL_ROWS, TableProfile
from sandmill.rng import Streams

_SPREADS = np.linspace(0.04, 1.0, 41)
"""Standard deviations of the logarithm of a target that are tried. Above 1, a few rows would decide squared errors."""
_SHIFTS, _FACTORS = np.linspace(-2.0, 2.0, 17), (1.0, 0.8, 0.6, 0.45, 1.3, 1.7)
"""Changes of the logarithm of a count, and factors of the spread of its rule."""
_LEAST_DISPERSION, _LEAST_SPREAD, _MOST_SPREAD, _MOST_ZEROS = 0.02, 0.25, 1.25, 0.5
"""Bounds of counts. With more zeros, no model learns enough from 200 rows for an easy task."""
_SAME_SKEW, _SHARE_BY_SKEW = 0.05, 6.0
"""Differences from the seed's skewness up to the first count as equal. For counts, a difference in the share of the
commonest value weighs the second times as much as one in skewness, which is the ratio of their tolerances."""


def with_shape(mechanism: Mechanism, like: TableProfile | None, streams: Streams, *, may_turn: bool) -> Mechanism:
    """Return the mechanism with a link and a spread of the rule with which small samples look like the seed's table.

    The best possible score stays as it is, and so do classes. `may_turn`: whether all weights may change their signs.
    """
    if like is None or like.target_skew is None:
        return mechanism
    eta = latent_score(mechanism, draw_cells(mechanism, streams, range(60 * SMALL_ROWS), is_train=True))
    rng, factor, drawn = streams.generator("shape"), 1.0, [one.reshape(-1, SMALL_ROWS) for one in eta.T]
    changed, link, u = mechanism.link, mechanism.link, rng.random(drawn[0].shape)
    match link:
        case NumbersLink(links=parts):
            fitted = [_fit_number(*part, like, u, 1)[0] for part in zip(parts, drawn, strict=True)]
            changed = link.model_copy(update={"links": tuple(fitted)})
        case GaussianLink() | PositiveLink():
            changed, factor = _fit_number(link, drawn[0], like, u, *((1, -1) if may_turn else (1,)))
        case CountLink():
            changed, factor = _fit_count(link, drawn[0], like, rng)
        case _:
            return mechanism
    weights = [tuple(round(factor * weight, 5) for weight in term.weights) for term in mechanism.terms]
    terms = [term.model_copy(update={"weights": own}) for term, own in zip(mechanism.terms, weights, strict=True)]
    return mechanism.model_copy(update={"link": changed, "terms": tuple(terms)})


def _fit_number(link: NumberLink, eta: Floats, like: TableProfile, u: Floats, *signs: int) -> tuple[NumberLink, int]:
    """Choose form and sign by the skewness, then decimals, at most the usual ones, by the commonest value."""
    links = list[NumberLink]([link] if isinstance(link, GaussianLink) else [])
    median = link.location if isinstance(link, GaussianLink) else link.median
    plain = PositiveLink(median=median, sigma=1, noise=link.noise, decimals=link.decimals)
    for spread in _SPREADS / np.hypot(eta.std(), link.noise):
        links.append(plain.model_copy(update={"sigma": round(float(spread), 4)}))
    missed = {one: _misses(draw_number(one[0], one[1] * eta, u), like)[0] for one in product(links, signs)}
    near = [one for one, miss in missed.items() if miss <= min(missed.values()) + _SAME_SKEW]
    places = range(link.decimals + 1)
    choices = [(one.model_copy(update={"decimals": most}), sign) for (one, sign), most in product(near, places)]
    return min(choices, key=lambda one: round(_misses(draw_number(one[0], one[1] * eta, u), like)[1], 2))


def _fit_count(link: CountLink, eta: Floats, like: TableProfile, rng: np.random.Generator) -> tuple[CountLink, float]:
    """Choose typical count and spread of the rule; dispersion gives the noise that goes with the spread."""
    noise, found = link.dispersion + np.exp(-link.intercept), [(np.inf, link, 1.0)]
    for factor, intercept in product(_FACTORS, link.intercept + _SHIFTS):
        dispersion = round(float(factor**2 * noise - np.exp(-intercept)), 3)
        if dispersion >= _LEAST_DISPERSION and _LEAST_SPREAD <= factor * eta.std() <= _MOST_SPREAD:
            rates = rng.gamma(1 / dispersion, dispersion, eta.shape) * np.exp(intercept + factor * eta)
            counts = rng.poisson(rates).astype(np.float64)
            skew, share = _misses(counts, like) if (counts == 0).mean() <= _MOST_ZEROS else (np.inf, 0.0)
            changed = link.model_copy(update={"intercept": round(float(intercept), 4), "dispersion": dispersion})
            found.append((skew + _SHARE_BY_SKEW * share, changed, factor))
    return min(found, key=lambda one: one[0])[1:]


def _misses(samples: Floats, like: TableProfile) -> tuple[float, float]:
    """Return how far samples lie from the seed: skewness, as root mean square of asinh, and share of repeats."""
    apart = np.arcsinh(moments(samples)[0]) - np.arcsinh(like.target_skew or 0.0)
    most = np.mean([np.unique(one, return_counts=True)[1].max() for one in samples]) / SMALL_ROWS
    return float(np.sqrt(np.mean(apart**2))), float(abs(most - (like.target_top_share or 0.0)))
