"""Posterior of a row's latent factors given its visible cells.

Finely rounded numbers are Gaussian evidence, in closed form. Categories and coarsely rounded numbers say that a score
lies in an interval. Expectation propagation approximates these by Gaussian sites; the ratio of the true likelihood to
its sites is then averaged over Gauss-Hermite nodes, so the result does not depend on the approximation.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray
from scipy.special import log_ndtr, ndtr

from sandmill.mechanism.columns import Floats

_SWEEPS = 3
"""Passes of expectation propagation over the intervals."""
_NODES = {1: 7, 2: 5, 3: 4}
"""Gauss-Hermite nodes for each dimension, by the number of dimensions; 3 nodes for more."""
_LEAST_WEIGHT = 1e-5
"""Nodes of several dimensions with less weight are left out."""
_CELLS_PER_BLOCK = 1_000_000
"""Array cells computed at once, which bounds memory."""
_LOG_2PI = float(np.log(2 * np.pi))


@dataclass(frozen=True)
class Score:
    """A standard score that was seen: load . factors + normal noise. All arrays have one number for each row."""

    load: Floats
    """Loadings, shape (factors,)."""
    value: Floats
    """The score without the shift of its column. Any finite number where nothing was seen."""
    variance: Floats
    """Variance of the noise and of the rounding; infinite where nothing was seen."""


@dataclass(frozen=True)
class Interval:
    """A standard score of which an interval was seen."""

    load: Floats
    own: float
    """Standard deviation of the noise."""
    low: Floats
    high: Floats
    """Ends of the interval for each row, without the shift; infinite where nothing was seen."""


@dataclass(frozen=True)
class FactorPosterior:
    """Gaussian approximation of the factors' posterior, with what corrects it."""

    mean: Floats
    """Shape (rows, factors)."""
    covariance: Floats
    """Shape (rows, factors, factors)."""
    log_scale: Floats
    """Logarithm of the evidence's likelihood, but for the average of the correction, shape (rows,)."""
    intervals: tuple[Interval, ...]
    precisions: Floats
    linear: Floats
    """Sites of the intervals, shape (rows, intervals): exp(linear * t - precision * t^2 / 2) for t = load . factors."""

    def correction(self, mean: Floats, covariance: Floats) -> Floats:
        """Return the average ratio of the intervals' likelihood to their sites, shape (rows, nodes).

        Args:
            mean: means of normal distributions of the factors, shape (rows, nodes, factors).
            covariance: their covariance, shape (rows, factors, factors).
        """
        if not self.intervals:
            return np.ones(mean.shape[:2])
        loads = np.stack([interval.load for interval in self.intervals])
        # With fewer intervals than factors, the average runs over their scores alone.
        basis = loads if len(loads) < loads.shape[1] else np.eye(loads.shape[1])
        spread = basis @ covariance @ basis.T
        root = np.linalg.cholesky(spread + 1e-12 * np.eye(len(basis)))
        if len(loads) >= loads.shape[1]:
            root = loads @ root
        x, weights = hermite_grid(len(basis))
        averages = np.empty(mean.shape[:2])
        step = max(1, _CELLS_PER_BLOCK // (mean.shape[1] * len(weights)))
        for start in range(0, len(mean), step):
            rows = slice(start, start + step)
            ratio = self._ratio(rows, mean[rows] @ loads.T, root[rows] @ x.T)
            averages[rows] = ratio @ weights
        return averages

    def _ratio(self, rows: slice, centres: Floats, steps: Floats) -> Floats:
        """Return the likelihood over its sites, shape (rows, nodes, grid).

        The intervals' scores are centres, shape (rows, nodes, intervals), plus steps, shape (rows, intervals, grid).
        """
        log_sites: Floats = np.zeros(1)
        product: Floats = np.ones(1)
        for place, interval in enumerate(self.intervals):
            at_mean = (self.mean[rows] @ interval.load)[:, None, None]
            sign, low, high = _facing_down(interval.low[rows], interval.high[rows], at_mean[:, 0, 0])
            t = centres[:, :, place, None] + steps[:, None, place, :]
            tau, nu = self.precisions[rows, place, None, None], self.linear[rows, place, None, None]
            log_sites = log_sites + nu * (t - at_mean) - tau / 2 * (t**2 - at_mean**2)
            scaled = t * (sign / interval.own)[:, None, None]
            above = ndtr((high / interval.own)[:, None, None] - scaled)
            if np.isfinite(low).any():
                above = above - ndtr((low / interval.own)[:, None, None] - scaled)
            product = product * above
        return np.asarray(product * np.exp(-log_sites))


def infer_factors(rows: int, factors: int, scores: Sequence[Score], intervals: Sequence[Interval]) -> FactorPosterior:
    """Compute the posterior of standard normal factors, given seen scores and intervals."""
    precision = np.tile(np.eye(factors), (rows, 1, 1))
    linear = np.zeros((rows, factors))
    for score in scores:
        precision += (1 / score.variance)[:, None, None] * np.outer(score.load, score.load)
        linear += (score.value / score.variance)[:, None] * score.load
    covariance = np.linalg.inv(precision)
    mean = np.einsum("rij,rj->ri", covariance, linear)
    active = tuple(one for one in intervals if np.isfinite(one.low).any() or np.isfinite(one.high).any())
    mean, covariance, sites = _propagate(mean, covariance, active)
    log_scale = np.linalg.slogdet(covariance)[1] / 2 - np.square(mean).sum(axis=1) / 2
    for score in scores:
        rest, seen = score.value - mean @ score.load, np.isfinite(score.variance)
        variance = np.where(seen, score.variance, 1.0)
        log_scale -= np.where(seen, (rest**2 / variance + np.log(variance) + _LOG_2PI) / 2, 0.0)
    return FactorPosterior(mean, covariance, log_scale, active, *sites)


def _propagate(
    mean: Floats, covariance: Floats, intervals: tuple[Interval, ...]
) -> tuple[Floats, Floats, tuple[Floats, Floats]]:
    """Approximate the likelihood of every interval by a Gaussian site, and return the moments with all sites."""
    precisions, linears = np.zeros((len(mean), len(intervals))), np.zeros((len(mean), len(intervals)))
    for _ in range(_SWEEPS if len(intervals) > 1 else min(1, len(intervals))):
        for place, interval in enumerate(intervals):
            along = covariance @ interval.load
            centre, variance = mean @ interval.load, np.maximum(along @ interval.load, 1e-12)
            rest = 1 / np.maximum(1 / variance - precisions[:, place], 1e-9)
            middle = rest * (centre / variance - linears[:, place])
            precision, linear = _site(interval, middle, rest)
            more, further = precision - precisions[:, place], linear - linears[:, place]
            covariance = covariance - (more / (1 + more * variance))[:, None, None] * (
                along[:, :, None] * along[:, None, :]
            )
            mean = mean + (covariance @ interval.load) * (further - more * centre)[:, None]
            precisions[:, place], linears[:, place] = precision, linear
    return mean, covariance, (precisions, linears)


def _site(interval: Interval, middle: Floats, variance: Floats) -> tuple[Floats, Floats]:
    """Return the Gaussian site that gives the interval's own moments to a normal number with these moments."""
    total = variance + interval.own**2
    sign, low, high = _facing_down(interval.low, interval.high, middle)
    root = np.sqrt(total)
    shift, shrink = _truncated((low - sign * middle) / root, (high - sign * middle) / root)
    mean = middle + sign * variance / root * shift
    left = np.maximum(variance * (1 - variance / total * (1 - shrink)), variance * 1e-6)
    precision = np.maximum(1 / left - 1 / variance, 0.0)
    return precision, mean * (precision + 1 / variance) - middle / variance


def _truncated(low: Floats, high: Floats) -> tuple[Floats, Floats]:
    """Return mean and variance of a standard normal number between two ends, the interval not far above 0."""
    upper, lower = log_ndtr(high), log_ndtr(low)
    log_mass = upper + np.log1p(-np.exp(np.minimum(lower - upper, -1e-12)))
    at_low, at_high = (np.exp(-(end**2) / 2 - _LOG_2PI / 2 - log_mass) for end in (low, high))
    mean = at_low - at_high
    ends = [np.where(np.isfinite(end), end, 0.0) * at for end, at in ((low, at_low), (high, at_high))]
    return mean, np.clip(1 + ends[0] - ends[1] - mean**2, 1e-6, 1.0)


def _facing_down(low: Floats, high: Floats, centre: Floats) -> tuple[Floats, Floats, Floats]:
    """Mirror intervals that lie above the centre, since small upper tails lose digits. Return the sign as well."""
    with np.errstate(invalid="ignore"):
        is_above = low + high > 2 * centre
    return np.where(is_above, -1.0, 1.0), np.where(is_above, -high, low), np.where(is_above, -low, high)


@cache
def hermite_grid(dimensions: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return nodes, shape (nodes, dimensions), and weights for standard normal numbers."""
    x, w = np.polynomial.hermite_e.hermegauss(_NODES.get(dimensions, 3))
    places = np.indices((len(x),) * dimensions).reshape(dimensions, -1)
    weights = np.prod(w[places] / w.sum(), axis=0)
    kept = weights > _LEAST_WEIGHT
    return x[places.T[kept]], weights[kept] / weights[kept].sum()
