"""Posterior of numeric targets: the distribution of the latent score, widened by the noise of the link."""

import numpy as np
from scipy.special import gammaln, ndtr, ndtri

from sandmill.mechanism.columns import Floats
from sandmill.mechanism.hidden import Mixture
from sandmill.models.links import CountLink, GaussianLink, PositiveLink
from sandmill.models.predictive import NumberPredictive

_BINS = 81
"""Grid points for each row."""
_MARGIN = 5.0
"""Standard deviations of noise by which a grid extends beyond the outermost latent value."""
_NEGLIGIBLE = 1e-5
"""Latent values of lower probability do not extend the grid."""
_SINGLE_COUNTS, _RANGE_COUNTS, _GROWTH = 60, 60, 1.1
"""Counts up to the first number are grid points of their own. Above, the second number of points each represents a
range, and each lies the third number times as far from 0 as the one before."""
_CELLS_PER_BLOCK = 4_000_000
"""Array cells computed at once, which bounds memory."""


def predict_number(link: GaussianLink | PositiveLink | CountLink, latent: Mixture) -> NumberPredictive:
    """Return the posterior of a numeric target. The mean is in closed form; the grid is built on first use."""
    v, w = latent.values, latent.weights
    match link:
        case GaussianLink(location=location, scale=scale, noise=noise):
            mean = location + scale * (w * v).sum(axis=1)

            def grid() -> tuple[Floats, Floats]:
                values, weights = _noisy(latent, noise)
                return location + scale * values, weights

        case PositiveLink(median=median, sigma=sigma, noise=noise):
            mean = median * np.exp((sigma * noise) ** 2 / 2) * (w * np.exp(sigma * v)).sum(axis=1)

            def grid() -> tuple[Floats, Floats]:
                values, weights = _noisy(latent, noise)
                return median * np.exp(sigma * values), weights

        case CountLink(intercept=intercept, dispersion=dispersion):
            means = np.exp(intercept + v)
            mean = (w * means).sum(axis=1)

            def grid() -> tuple[Floats, Floats]:
                return _counts(means, w, dispersion)

    return NumberPredictive(np.asarray(mean, dtype=np.float64), make=grid)


def _noisy(latent: Mixture, noise: float) -> tuple[Floats, Floats]:
    """Return the latent score plus normal noise on a grid.

    Grid points have equal probabilities in rows with one latent value, and equal steps in all others.
    """
    edges = ndtri(np.linspace(0, 1, _BINS + 1))
    density = np.exp(-(edges**2) / 2) / np.sqrt(2 * np.pi)
    centres = (density[:-1] - density[1:]) * _BINS
    values = latent.values[:, :1] + noise * centres
    weights = np.full(values.shape, 1 / _BINS)
    uncertain = np.flatnonzero(latent.weights[:, 0] < 1 - 1e-12)
    step = max(1, _CELLS_PER_BLOCK // (_BINS * latent.values.shape[1]))
    for start in range(0, len(uncertain), step):
        rows = uncertain[start : start + step]
        values[rows], weights[rows] = _mixed(latent.values[rows], latent.weights[rows], noise)
    return values, weights


def _mixed(centres: Floats, mass: Floats, noise: float) -> tuple[Floats, Floats]:
    low = np.where(mass > _NEGLIGIBLE, centres, np.inf).min(axis=1) - _MARGIN * noise
    high = np.where(mass > _NEGLIGIBLE, centres, -np.inf).max(axis=1) + _MARGIN * noise
    edges = low[:, None] + (high - low)[:, None] * np.linspace(0, 1, _BINS + 1)
    below = np.einsum("rm,rme->re", mass, ndtr((edges[:, None, :] - centres[:, :, None]) / noise))
    weights = np.diff(below, axis=1)
    return (edges[:, 1:] + edges[:, :-1]) / 2, weights / weights.sum(axis=1, keepdims=True)


def _counts(means: Floats, mass: Floats, dispersion: float) -> tuple[Floats, Floats]:
    """Return counts and their negative binomial probabilities, mixed over the possible means.

    A large count represents the range of counts around it.
    """
    far = _SINGLE_COUNTS * _GROWTH ** np.arange(1, _RANGE_COUNTS + 1)
    counts = np.unique(np.round(np.concatenate([np.arange(_SINGLE_COUNTS + 1), far])))
    shape = 1 / dispersion
    log_ways = gammaln(counts + shape) - gammaln(shape) - gammaln(counts + 1) + np.log(np.gradient(counts))
    weights = np.empty((len(means), len(counts)))
    step = max(1, _CELLS_PER_BLOCK // (means.shape[1] * len(counts)))
    for start in range(0, len(means), step):
        mean = means[start : start + step, :, None]
        logs = log_ways + shape * np.log(shape / (shape + mean)) + counts * np.log(mean / (shape + mean))
        weights[start : start + step] = np.einsum("rm,rmc->rc", mass[start : start + step], np.exp(logs))
    return np.broadcast_to(counts, weights.shape), weights / weights.sum(axis=1, keepdims=True)
