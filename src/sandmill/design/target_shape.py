"""Fit the distribution of a number to predict to the seed's, on a draw of the rule: skewness and repeated values."""

from collections.abc import Sequence
from itertools import product

import numpy as np

from sandmill.design.laws import moments
from sandmill.mechanism.columns import Floats
from sandmill.models.links import CountLink, GaussianLink, Link, NumbersLink, PositiveLink
from sandmill.models.profile import SMALL_ROWS, TableProfile

_SPREADS = np.linspace(0.04, 1.0, 41)
"""Standard deviations of the logarithm of a number. With more, a few rows decide squared errors."""
_SHIFTS, _FACTORS = np.linspace(-2.0, 2.0, 17), (1.0, 0.8, 0.6, 0.45)
"""Changes of the logarithm of a count, and factors of the rule."""
_MOST_ZEROS = 0.5
"""Largest share of zeros. With more, no model learns enough from 200 rows for an easy task."""
_LEAST_DISPERSION, _LEAST_SPREAD = 0.02, 0.25
"""Least dispersion of a count, and least standard deviation of its rule."""
_SKEW_UNIT, _SHARE_UNIT = 0.6, 0.1
"""Tolerances of the two traits, which make their misses comparable."""


def fit_shape(
    link: Link, eta: Floats, profile: TableProfile, rng: np.random.Generator, *, may_turn: bool = False
) -> tuple[Link, float]:
    """Return the link with which small samples have the seed's skewness and its share of the commonest value.

    Noise relative to the rule, and with it the best possible score, stays as it is.

    Args:
        link: of numbers; others are returned unchanged.
        eta: latent scores of a draw of training rows, shape (rows, outputs).
        profile: of the seed's table.
        rng: draws the noise of the sample.
        may_turn: whether all weights may change their signs.

    Returns:
        The link, and a factor for all weights.
    """
    if profile.target_skew is None:
        return link, 1.0
    rows = len(eta) // SMALL_ROWS * SMALL_ROWS
    match link:
        case NumbersLink(links=parts):
            fitted = tuple(_fit_number(part, eta[:rows, at], profile, rng, (1,))[0] for at, part in enumerate(parts))
            return link.model_copy(update={"links": fitted}), 1.0
        case GaussianLink() | PositiveLink():
            return _fit_number(link, eta[:rows, 0], profile, rng, (1, -1) if may_turn else (1,))
        case CountLink():
            return _fit_count(link, eta[:rows, 0], profile, rng)
        case _:
            return link, 1.0


def _fit_number(
    link: GaussianLink | PositiveLink,
    eta: Floats,
    profile: TableProfile,
    rng: np.random.Generator,
    signs: Sequence[int],
) -> tuple[GaussianLink | PositiveLink, float]:
    score = (eta + link.noise * rng.standard_normal(len(eta))).reshape(-1, SMALL_ROWS)
    sigmas = [round(float(spread / score.std()), 4) for spread in _SPREADS]
    sigmas = sigmas if isinstance(link, PositiveLink) else [0.0, *sigmas]
    choices = [(sign, sigma) for sign in signs for sigma in sigmas]
    misses = [_skew_miss(np.exp(sign * sigma * score) if sigma else sign * score, profile) for sign, sigma in choices]
    sign, sigma = choices[int(np.argmin(misses))]
    if sigma:
        median = link.location if isinstance(link, GaussianLink) else link.median
        link = PositiveLink(median=median, sigma=sigma, noise=link.noise, decimals=link.decimals)
    return _with_repeats(link, sign * score, profile), sign


def _with_repeats(
    link: GaussianLink | PositiveLink, score: Floats, profile: TableProfile
) -> GaussianLink | PositiveLink:
    """Choose the decimals, at most the usual ones, with which the commonest value is as common as in the seed."""
    if profile.target_top_share is None:
        return link
    is_normal = isinstance(link, GaussianLink)
    values = link.location + link.scale * score if is_normal else link.median * np.exp(link.sigma * score)
    shares = []
    for decimals in range(link.decimals + 1):
        rounded = np.round(values, decimals)
        shares.append(_top_share(rounded if is_normal else np.maximum(rounded, 10.0**-decimals)))
    misses = np.abs(np.array(shares) - profile.target_top_share)
    return link.model_copy(update={"decimals": int(np.argmin(misses.round(2)))})


def _fit_count(
    link: CountLink, eta: Floats, profile: TableProfile, rng: np.random.Generator
) -> tuple[CountLink, float]:
    """Choose typical count and spread of the rule; dispersion then gives the noise that the spread goes with."""
    noise, best, found = link.dispersion + np.exp(-link.intercept), np.inf, (link, 1.0)
    for factor, intercept in product(_FACTORS, link.intercept + _SHIFTS):
        dispersion = round(float(factor**2 * noise - np.exp(-intercept)), 3)
        if dispersion < _LEAST_DISPERSION or factor * eta.std() < _LEAST_SPREAD:
            continue
        rate = rng.gamma(1 / dispersion, dispersion, len(eta)) * np.exp(intercept + factor * eta)
        counts = rng.poisson(rate).astype(np.float64).reshape(-1, SMALL_ROWS)
        top = _top_share(counts) - (profile.target_top_share or 0.0)
        miss = np.hypot(_skew_miss(counts, profile) / _SKEW_UNIT, top / _SHARE_UNIT)
        if miss < best and (counts == 0).mean() <= _MOST_ZEROS:
            update = {"intercept": round(float(intercept), 4), "dispersion": dispersion}
            best, found = float(miss), (link.model_copy(update=update), factor)
    return found


def _skew_miss(samples: Floats, profile: TableProfile) -> float:
    """Return how far the skewness of small samples lies from that of the seed: root mean square, both as asinh."""
    apart = np.arcsinh(moments(samples)[0]) - np.arcsinh(profile.target_skew)
    return float(np.sqrt(np.mean(apart**2)))


def _top_share(samples: Floats) -> float:
    return float(np.mean([np.unique(one, return_counts=True)[1].max() for one in samples]) / samples.shape[1])
