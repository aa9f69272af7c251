"""Distributions of numbers: what is known of the latent score, and the noise that the link adds."""

import numpy as np
from scipy.special import gammaln, ndtr, ndtri

from sandmill.mechanism.columns import Floats
from sandmill.mechanism.hidden import Mixture
from sandmill.models.mechanism import CountLink, GaussianLink, PositiveLink
from sandmill.models.predictive import NumberPredictive

_BINS = 81
_REACH = 5.0
"""Standard deviations of noise that a grid goes beyond the outermost value."""
_NEGLIGIBLE = 1e-5
"""Probability below which a value does not widen a grid."""
_COUNTS_IN_FULL, _STRETCHED_COUNTS, _GROWTH = 60, 60, 1.1
"""Counts that stand for themselves, and how many more stand for ranges, each so many times as far as the last."""
_CELLS_AT_ONCE = 4_000_000


def predict_number(link: GaussianLink | PositiveLink | CountLink, latent: Mixture) -> NumberPredictive:
    """Turn a latent score's distribution into the target's: its mean in closed form, its grid when a rule asks."""
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
    """Latent score plus normal noise on a grid: equal probabilities where nothing is hidden, else even steps."""
    edges = ndtri(np.linspace(0, 1, _BINS + 1))
    density = np.exp(-(edges**2) / 2) / np.sqrt(2 * np.pi)
    centres = (density[:-1] - density[1:]) * _BINS
    values = latent.values[:, :1] + noise * centres
    weights = np.full(values.shape, 1 / _BINS)
    doubtful = np.flatnonzero(latent.weights[:, 0] < 1 - 1e-12)
    step = max(1, _CELLS_AT_ONCE // (_BINS * latent.values.shape[1]))
    for start in range(0, len(doubtful), step):
        rows = doubtful[start : start + step]
        values[rows], weights[rows] = _mixed(latent.values[rows], latent.weights[rows], noise)
    return values, weights


def _mixed(centres: Floats, mass: Floats, noise: float) -> tuple[Floats, Floats]:
    low = np.where(mass > _NEGLIGIBLE, centres, np.inf).min(axis=1) - _REACH * noise
    high = np.where(mass > _NEGLIGIBLE, centres, -np.inf).max(axis=1) + _REACH * noise
    edges = low[:, None] + (high - low)[:, None] * np.linspace(0, 1, _BINS + 1)
    below = np.einsum("rm,rme->re", mass, ndtr((edges[:, None, :] - centres[:, :, None]) / noise))
    weights = np.diff(below, axis=1)
    return (edges[:, 1:] + edges[:, :-1]) / 2, weights / weights.sum(axis=1, keepdims=True)


def _counts(means: Floats, mass: Floats, dispersion: float) -> tuple[Floats, Floats]:
    """Negative binomial probabilities, mixed over the possible means; far counts stand for the range around them."""
    far = _COUNTS_IN_FULL * _GROWTH ** np.arange(1, _STRETCHED_COUNTS + 1)
    counts = np.unique(np.round(np.concatenate([np.arange(_COUNTS_IN_FULL + 1), far])))
    shape = 1 / dispersion
    log_ways = gammaln(counts + shape) - gammaln(shape) - gammaln(counts + 1) + np.log(np.gradient(counts))
    weights = np.empty((len(means), len(counts)))
    step = max(1, _CELLS_AT_ONCE // (means.shape[1] * len(counts)))
    for start in range(0, len(means), step):
        mean = means[start : start + step, :, None]
        logs = log_ways + shape * np.log(shape / (shape + mean)) + counts * np.log(mean / (shape + mean))
        weights[start : start + step] = np.einsum("rm,rmc->rc", mass[start : start + step], np.exp(logs))
    return np.broadcast_to(counts, weights.shape), weights / weights.sum(axis=1, keepdims=True)
