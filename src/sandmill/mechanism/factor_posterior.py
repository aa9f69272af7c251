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
_USUAL, _FINE = {1: 5}, {1: 7, 2: 5, 3: 3}
"""Gauss-Hermite nodes for each dimension, by the number of dimensions. Fine: for rows with gaps, which are few."""
_MOST_SPHERICAL = 4
"""Dimensions up to which a rule of degree 5 with 2 d^2 + 1 points is used where no number of nodes is named."""
_INTERPOLATION = {True: (1, 6, 4, 4), False: (1, 4, 4, 3)}
"""Points for each hidden score between which the logarithm of an average is interpolated, by the number of scores."""
_MOST_DEVIATION = 4.0
"""Standard deviations of a hidden score up to which averages are interpolated."""
_LEAST_WEIGHT = 1e-5
"""Nodes of several dimensions with less weight are left out."""
_CELLS_PER_BLOCK = 300_000
"""Array cells computed at once, which bounds memory."""
_LOG_2PI = float(np.log(2 * np.pi))


@dataclass(frozen=True)
class SeenScore:
    """A standard score that was seen: load . factors + normal noise. All arrays have one number for each row."""

    load: Floats
    """Loadings, shape (factors,)."""
    value: Floats
    """The score without the shift of its column. Any finite number where nothing was seen."""
    variance: Floats
    """Variance of the noise and of the rounding; infinite where nothing was seen."""


@dataclass(frozen=True)
class SeenInterval:
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
    intervals: tuple[SeenInterval, ...]
    precisions: Floats
    linear: Floats
    """Sites of the intervals, shape (rows, intervals): exp(linear * t - precision * t^2 / 2) for t = load . factors."""

    def correction(
        self, directions: Sequence[Floats], deviations: Sequence[Floats], covariance: Floats, *, is_rare: bool
    ) -> Floats:
        """Return the average ratio of the intervals' likelihood to their sites, shape (rows, nodes).

        The average is over normal factors whose mean moves with the scores of hidden cells. Its logarithm is a smooth
        function of these scores, so it is computed at a few of them and interpolated.

        Args:
            directions: change of the mean with one standard deviation of each score, shape (rows, factors).
            deviations: the scores in standard deviations, shape (rows, nodes).
            covariance: of the factors given the scores, shape (rows, factors, factors).
            is_rare: whether the rows are few, so that a finer average costs little.
        """
        if not self.intervals:
            return np.ones((len(self.mean), 1))
        points = _INTERPOLATION[is_rare][min(len(directions), 3)]
        at = _MOST_DEVIATION * np.cos(np.pi * (np.arange(points) + 0.5) / points)
        places = np.indices((1, *(points,) * len(directions))).reshape(len(directions) + 1, -1)[1:]
        mean = np.repeat(self.mean[:, None, :], places.shape[1], axis=1)
        for place, direction in zip(places, directions, strict=True):
            mean += at[place][None, :, None] * direction[:, None, :]
        logs = np.log(np.maximum(self._averages(mean, covariance, is_rare=is_rare), 1e-300))
        grid = logs.reshape(len(logs), 1, *(points,) * len(directions))
        for deviation in deviations:
            grid = np.einsum("rnp...,rnp->rn...", grid, _lagrange(at, deviation))
        return np.asarray(np.exp(grid))

    def _averages(self, mean: Floats, covariance: Floats, *, is_rare: bool) -> Floats:
        """Return the average ratio for normal factors with means of shape (rows, nodes, factors)."""
        loads = np.stack([interval.load for interval in self.intervals])
        # With fewer intervals than factors, the average runs over their scores alone.
        basis = loads if len(loads) < loads.shape[1] else np.eye(loads.shape[1])
        spread = basis @ covariance @ basis.T
        root = np.linalg.cholesky(spread + 1e-12 * np.eye(len(basis)))
        if len(loads) >= loads.shape[1]:
            root = loads @ root
        x, weights = _normal_grid(len(basis), (_FINE if is_rare else _USUAL).get(len(basis)))
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


def infer_factors(
    rows: int, factors: int, scores: Sequence[SeenScore], intervals: Sequence[SeenInterval]
) -> FactorPosterior:
    """Compute the posterior of standard normal factors, given seen scores and intervals."""
    precision = np.tile(np.eye(factors), (rows, 1, 1))
    linear = np.zeros((rows, factors))
    for score in scores:
        precision += (1 / score.variance)[:, None, None] * np.outer(score.load, score.load)
        linear += (score.value / score.variance)[:, None] * score.load
    covariance = np.asarray(np.linalg.inv(precision), dtype=np.float64)
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
    mean: Floats, covariance: Floats, intervals: tuple[SeenInterval, ...]
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


def _site(interval: SeenInterval, middle: Floats, variance: Floats) -> tuple[Floats, Floats]:
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


def _lagrange(at: Floats, x: Floats) -> Floats:
    """Return the Lagrange polynomials of some points, shape (..., points). Numbers outside are moved to the ends."""
    inside = np.clip(x, -_MOST_DEVIATION, _MOST_DEVIATION)
    polynomials = np.empty((*x.shape, len(at)))
    for place, point in enumerate(at):
        others = np.delete(at, place)
        product = np.full(x.shape, 1 / np.prod(point - others))
        for other in others:
            product *= inside - other
        polynomials[..., place] = product
    return polynomials


@cache
def _normal_grid(dimensions: int, nodes: int | None) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return points, shape (points, dimensions), and weights that average over standard normal numbers.

    The points are a grid of Gauss-Hermite nodes, or a spherical rule of degree 5 if no number of nodes is given
    (McNamee and Stenger 1967).
    """
    if nodes is None and dimensions <= _MOST_SPHERICAL:
        return _spherical(dimensions)
    x, w = np.polynomial.hermite_e.hermegauss(nodes or 3)
    places = np.indices((len(x),) * dimensions).reshape(dimensions, -1)
    weights = np.prod(w[places] / w.sum(), axis=0)
    kept = weights > _LEAST_WEIGHT
    return x[places.T[kept]], weights[kept] / weights[kept].sum()


def _spherical(dimensions: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the centre, two points on every axis and four in every plane of two axes."""
    size = dimensions + 2
    unit = np.eye(dimensions)
    pairs = [(i, j) for i in range(dimensions) for j in range(i)]
    axes = [side * np.sqrt(size) * unit[i] for i in range(dimensions) for side in (-1, 1)]
    planes = [np.sqrt(size / 2) * (a * unit[i] + b * unit[j]) for i, j in pairs for a in (-1, 1) for b in (-1, 1)]
    weights = [2 / size, *[(4 - dimensions) / (2 * size**2)] * len(axes), *[1 / size**2] * len(planes)]
    return np.stack([np.zeros(dimensions), *axes, *planes]), np.asarray(weights)
