"""Fit laws of columns to what a profile says of a seed's column, within what the words of the column allow."""

from functools import cache, lru_cache

import numpy as np
from scipy.special import ndtri

from sandmill.mechanism.columns import Floats
from sandmill.models.columns import LogNormal, Normal, Quantiles, Uniform
from sandmill.models.domain import NumericWord
from sandmill.models.profile import SMALL_ROWS, ColumnProfile

EVEN_SAMPLE = (np.arange(SMALL_ROWS) + 0.5) / SMALL_ROWS
"""Probabilities of an even sample as large as those on which profiles measure shapes."""
_POINTS = np.concatenate([[0.0], EVEN_SAMPLE, [1.0]])
"""The same with both ends."""
_FINE = 3000
"""Points on which the shares of rounded values are counted."""
_KNOTS = np.array([0.0, 0.004, 0.012, 0.03, *np.linspace(0.06, 0.94, 23), 0.97, 0.988, 0.996, 1.0])
"""Probabilities of the points of a quantile function."""
_SPIKE = 1.6
"""A commonest value is a spike if it is so many times as common as the shape alone makes it."""
_LEAST_SPIKE = 0.04
_FEW = 40
"""Whole numbers with at most so many different values in a small sample start near 0, as counts do."""
_LOWEST = 0.04
"""Smallest value of a positive column, as a share of its median."""
FEWEST_FINE = 9
"""Different values in a small sample from which on cuts and curves of a column make sense."""
FINE_SHARE = FEWEST_FINE / SMALL_ROWS
"""The same as a share of the rows."""
_LOOSE_SKEW, _LOOSE_KURTOSIS = 0.35, 0.9
"""How far skewness and kurtosis may lie from those of a simple law that a column keeps."""
_LOOSE_DISTINCT = 0.3
"""How far the numbers of different values may lie apart, as a difference of logarithms."""
_MOST_SIGMA = 1.0
"""Largest sigma of a lognormal column that keeps its form: with more, ratios of columns have extreme values."""
_LEAST_LEVEL, _MOST_OF_LEAST_LEVELS = 0.012, 0.35
"""Least share of a level, and of all levels together if they were all that rare."""
_UNEVEN = 1.1
"""Factor that makes a whole distance between real numbers uneven."""
_CACHED = 4096
"""Fits that a process remembers: the designs of a slot ask for the same again."""
_GRIDS = tuple(step * 10.0**power for power in range(-6, 7) for step in (1, 2, 5))


@cache
def _shapes() -> tuple[Floats, Floats]:
    """Return standardised quantile functions of many shapes, on a fine grid of chances, and these chances.

    Skewed ones are g-and-h functions of a normal score; flat and hollow ones mix in an even and a U-shaped one.
    """
    chances = np.linspace(1 / 1200, 1 - 1 / 1200, 600)
    z = ndtri(chances)
    even, hollow = (chances - 0.5) * np.sqrt(12), -np.cos(np.pi * chances) * np.sqrt(2)
    rows = []
    for g in (0.0, 0.05, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.6, 0.75, 0.9, 1.1, 1.3, 1.6, 2.0):
        skewed = z if g == 0 else np.expm1(g * z) / g
        rows += [skewed * np.exp(h * z**2 / 2) for h in (0.0, 0.04, 0.08, 0.14, 0.2, 0.3, 0.45)]
        bounded = even if g == 0 else np.expm1(g * even) / g
        rows += [bounded, (z if g == 0 else np.expm1(g * z) / g) / 2 + bounded / 2]
        rows.append(hollow if g == 0 else np.expm1(g * hollow) / g)
    shapes = np.asarray(rows)
    shapes -= shapes.mean(axis=1, keepdims=True)
    shapes /= shapes.std(axis=1, keepdims=True)
    return shapes, chances


def moments(values: Floats) -> tuple[Floats, Floats]:
    """Return skewness and excess kurtosis of each row."""
    rest = values - values.mean(axis=-1, keepdims=True)
    sd = np.maximum(rest.std(axis=-1), 1e-12)
    return (rest**2 * rest).mean(axis=-1) / sd**3, ((rest**2) ** 2).mean(axis=-1) / sd**4 - 3


def _fitted_shape(skew: float, kurtosis: float, spike: float) -> Floats:
    """Return quantiles at `_POINTS` of the nearest shape with a spike: below if the skew is positive, else above."""
    shapes, chances = _shapes()
    sign = 1.0 if skew >= 0 else -1.0
    inside = np.clip((_POINTS - spike) / (1 - spike), chances[0], chances[-1])
    places = np.interp(inside, chances, np.arange(len(chances)))
    low = np.floor(places).astype(np.intp)
    high, part = np.minimum(low + 1, len(chances) - 1), places - low
    values = shapes[:, low] * (1 - part) + shapes[:, high] * part
    seen_skew, seen_kurtosis = moments(values[:, 1:-1])
    miss = ((seen_skew - abs(skew)) / (0.25 + abs(skew) / 4)) ** 2
    miss += ((seen_kurtosis - kurtosis) / (0.6 + abs(kurtosis) / 3)) ** 2
    best = values[int(np.argmin(miss))]
    best = best if sign > 0 else -best[::-1]
    inner = best[1:-1]
    return np.asarray((best - inner.mean()) / inner.std(), dtype=np.float64)


def count_distinct(shares: Floats) -> float:
    """Return the expected number of different values in a small sample."""
    return float((1 - (1 - np.minimum(shares, 1.0)) ** SMALL_ROWS).sum())


def _distinct_on(values: Floats, grid: float) -> float:
    """Return the expected number of multiples of a grid in a small sample of a continuous law with these quantiles."""
    return count_distinct(_shares_on(values, grid)[1])


def _shares_on(values: Floats, grid: float) -> tuple[Floats, Floats]:
    """Return the multiples of a grid to which a law with these quantiles is rounded, and their shares."""
    fine = np.interp((np.arange(_FINE) + 0.5) / _FINE, _POINTS, values)
    codes, counts = np.unique(np.round(fine / grid), return_counts=True)
    return codes, counts / _FINE


def spread_of(word: NumericWord) -> tuple[float, float, bool]:
    """Return centre and standard deviation of a word's own law, and whether it never falls below 0."""
    match word.distribution:
        case Normal(mean=mean, sd=sd):
            return mean, sd, mean >= 4 * sd
        case LogNormal(median=median, sigma=sigma):
            return median, median * min(sigma, 0.8), True
        case Uniform(low=low, high=high):
            return (low + high) / 2, (high - low) / 12**0.5, low >= 0
        case cycle:
            return cycle.first + (cycle.period - 1) / 2, cycle.period / 12**0.5, cycle.first >= 0


@lru_cache(maxsize=_CACHED)
def distinct_of(word: NumericWord, decimals: int) -> float:
    """Return how many different values a small sample of a word shows, roughly."""
    sd = spread_of(word)[1]
    fine = np.interp(_POINTS, EVEN_SAMPLE, ndtri(EVEN_SAMPLE)) * sd
    return _distinct_on(fine, 10.0**-decimals)


def wanted_distinct(like: ColumnProfile) -> float:
    """Return how many different values a small sample of a seed's column shows."""
    return max(like.distinct_share * SMALL_ROWS, min(like.levels, 2), 1.0)


@lru_cache(maxsize=_CACHED)
def law_like(word: NumericWord, like: ColumnProfile, *, is_free: bool) -> tuple[Quantiles | Normal | LogNormal, int]:
    """Return a law and decimals with the shape of a seed's column, at the place of the word's own law.

    Args:
        word: what the column means. Positive quantities stay positive, percentages below 100.
        like: the seed's column.
        is_free: whether the scale of the word says nothing, as for counts; they start at 0 or 1.
    """
    skew, kurtosis = like.skew or 0.0, like.kurtosis or 0.0
    wanted, is_whole = wanted_distinct(like), like.role == "whole"
    decimals = 0 if is_whole else max(word.decimals, 1)
    if not is_free and (simple := _simple(word, like, wanted, decimals)):
        return simple, decimals
    plain = _fitted_shape(skew, kurtosis, 0.0)
    top = _top(plain, wanted)
    spike = like.top_share if like.top_share > max(_LEAST_SPIKE, _SPIKE * top) else 0.0
    shape = _fitted_shape(skew, kurtosis, spike) if spike else plain
    if is_free and is_whole:
        return _counts(shape, wanted, like), 0
    centre, sd, is_positive = spread_of(word)
    values = _placed(shape, centre, sd, decimals if is_positive else None, word.name.endswith("_pct"))
    grid = _grid(values, wanted, 10.0**-decimals)
    values = np.maximum(values, grid) if is_positive else values
    return _quantiles(values, grid, decimals), decimals


def _simple(word: NumericWord, like: ColumnProfile, wanted: float, decimals: int) -> Normal | LogNormal | None:
    """Return the word's own kind of law with another spread, if it fits the seed's column."""
    skew, kurtosis, law = like.skew or 0.0, like.kurtosis or 0.0, word.distribution
    if like.top_share > 2.5 / max(wanted, 3.0) + 0.03:
        return None
    fitted: Normal | LogNormal | None = None
    if isinstance(law, Normal) and abs(skew) < _LOOSE_SKEW and abs(kurtosis) < _LOOSE_KURTOSIS:
        fitted = law
    if isinstance(law, LogNormal):
        sigmas = np.linspace(0.08, _MOST_SIGMA, 24)
        skews, kurtoses = moments(np.exp(sigmas[:, None] * ndtri(EVEN_SAMPLE)))
        best = int(np.argmin(np.abs(skews - skew)))
        is_near = abs(kurtoses[best] - kurtosis) < _LOOSE_KURTOSIS + abs(kurtosis) / 3
        if abs(skews[best] - skew) < _LOOSE_SKEW and is_near:
            fitted = LogNormal(median=law.median, sigma=round(float(sigmas[best]), 3))
    if fitted is None:
        return None
    distinct = distinct_of(word.model_copy(update={"distribution": fitted}), decimals)
    return fitted if abs(np.log((wanted + 1) / (distinct + 1))) < _LOOSE_DISTINCT else None


def _top(shape: Floats, wanted: float) -> float:
    """Return the share of the commonest value of a shape that shows so many different values."""
    if wanted >= 0.97 * SMALL_ROWS:
        return 1 / SMALL_ROWS
    grid = _grid(shape, wanted, 0.0)
    return float(_shares_on(shape, grid)[1].max())


def _grid(values: Floats, wanted: float, least: float) -> float:
    """Return the distance between values at which a small sample shows as many different ones as wanted; 0: none."""
    if wanted >= 0.97 * SMALL_ROWS:
        return 0.0
    # Multiples of a whole number would be whole numbers.
    grids = [grid * _UNEVEN if grid >= 1 > least > 0 else grid for grid in _GRIDS if grid >= least * 0.999]
    span = float(values[-1] - values[0])
    grids = [grid for grid in grids if span / 2000 < grid <= span] or [max(span / 2, least, 1e-6)]
    found = [_distinct_on(values, grid) for grid in grids]
    best = grids[int(np.argmin(np.abs(np.log(np.asarray(found)) - np.log(wanted))))]
    return 0.0 if best <= least * 1.001 else float(f"{best:.6g}")


def _counts(shape: Floats, wanted: float, like: ColumnProfile) -> Quantiles:
    """Return whole numbers from 0 or 1 on that show as many different values as the seed's column."""
    start = 0.0 if like.skew is None or like.skew > 0 else 1.0
    above = shape - shape[0]
    scales = np.geomspace(0.3, 30_000, 90)
    found = np.asarray([_distinct_on(above * scale, 1.0) for scale in scales])
    scale = float(scales[int(np.argmin(np.abs(np.log(found) - np.log(max(wanted, 2.0)))))])
    if wanted >= 0.97 * SMALL_ROWS:
        scale = max(scale, 400.0)
    return _quantiles(above * scale + start, 1.0, 0)


def _placed(shape: Floats, centre: float, sd: float, decimals: int | None, is_percent: bool) -> Floats:
    """Scale a shape to a word's centre and spread; with decimals, its values stay above 0."""
    middle = float(np.median(shape))
    scale = sd
    if decimals is not None and shape[0] < middle:
        lowest = max(_LOWEST * centre, 10.0**-decimals)
        scale = min(scale, max(centre - lowest, 0.1 * centre) / (middle - float(shape[0])))
    if is_percent and shape[-1] > middle:
        scale = min(scale, (99.0 - centre) / (float(shape[-1]) - middle))
    values = centre + scale * (shape - middle)
    return np.maximum(values, 10.0**-decimals) if decimals is not None else values


def _quantiles(values: Floats, grid: float, decimals: int) -> Quantiles:
    """Make a quantile function of an even sample. Where values are few, every one gets the share that it has."""
    step = max(grid, 10.0**-decimals)
    codes, shares = _shares_on(values, step)
    if grid and len(codes) <= _FEW:
        chances = np.concatenate([[0.0], np.cumsum(shares)[:-1], [1.0]])
        edges = np.concatenate([[codes[0]], (codes[1:] + codes[:-1]) / 2, [codes[-1]]]) * step
        return _law(chances, edges, grid, float((codes * shares).sum()) * step, values)
    points = np.interp(_KNOTS, _POINTS, values)
    return _law(_KNOTS, points, grid, float(values.mean()), values)


def _law(chances: Floats, values: Floats, grid: float, centre: float, sample: Floats) -> Quantiles:
    rounded = np.maximum.accumulate([float(f"{value:.7g}") for value in values])
    return Quantiles(
        chances=tuple(round(float(chance), 6) for chance in chances),
        values=tuple(map(float, rounded)),
        grid=grid,
        center=float(f"{centre:.6g}"),
        scale=max(float(f"{sample[1:-1].std():.6g}"), 1e-6),
    )


def two_values(chance: float) -> Quantiles:
    """Return the law of a 0 or 1 that is 1 with this chance."""
    chance = min(max(round(chance, 4), 0.01), 0.99)
    return Quantiles(
        chances=(0.0, round(1 - chance, 4), 1.0),
        values=(0.0, 0.5, 1.0),
        grid=1.0,
        center=chance,
        scale=round(float(np.sqrt(chance * (1 - chance))), 6),
    )


def level_shares(count: int, top: float, wanted: float) -> tuple[float, ...]:
    """Return shares of levels, largest first, so that a small sample shows as many levels as wanted.

    Args:
        count: number of levels.
        top: share of the commonest.
        wanted: levels in a small sample.
    """
    top = min(max(top, 1 / count), 0.97)
    floor = min(_LEAST_LEVEL, _MOST_OF_LEAST_LEVELS / count)
    best, least = np.full(count, 1 / count), np.inf
    for ratio in (1.0, 0.97, 0.94, 0.9, 0.85, 0.8, 0.7, 0.6, 0.5, 0.4):
        rest = ratio ** np.arange(count - 1)
        shares = np.concatenate([[top], np.maximum((1 - top) * rest / rest.sum(), floor)])
        shares = np.minimum(shares, top) / np.minimum(shares, top).sum()
        miss = abs(count_distinct(shares) - wanted)
        if miss < least - 1e-9:
            best, least = shares, miss
    return tuple(float(share) for share in best)


def is_fine(law: Quantiles) -> bool:
    """Return whether a column has values enough for cuts and curves."""
    return not law.grid or (law.values[-1] - law.values[0]) / law.grid >= FEWEST_FINE
