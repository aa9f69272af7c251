"""Give the numbers of a design correlations as strong and as common as those of its seed."""

from collections.abc import Sequence

import numpy as np

from sandmill.models.columns import Column, LogNormal, Normal, Quantiles, Uniform
from sandmill.models.profile import TableProfile
from sandmill.rng import Streams

_MOST_LOAD = 0.955
"""Largest loading, so that the squares of a column leave something to chance."""
_NOISE = 0.065
"""Mean absolute correlation of independent columns in a small sample."""
_LEAST_STRONG = 0.36
"""Correlation within a group of correlated columns, at least: it is then above .3 in most samples."""
_JITTER = 0.05
_FACTORS = 3


def load_like(columns: Sequence[Column], profile: TableProfile, streams: Streams) -> tuple[Column, ...]:
    """Return columns whose numbers depend on factors as much as those of the seed do.

    Groups of columns follow one factor each. The sizes of the groups give the share of strong pairs, the loadings
    their mean. Signs are those of the domain's factors where it has an opinion. Categories keep their loadings.
    """
    numbers = [column for column in columns if _is_number(column)]
    if profile.rho_share is None or profile.rho_mean is None or len(numbers) < 2:
        return tuple(columns)
    rng = streams.generator("strength")
    sizes = _sizes(len(numbers), profile.rho_share)
    strongest = {column.name: max(map(abs, column.loadings), default=0.0) for column in numbers}
    order = sorted(numbers, key=lambda one: (-strongest[one.name], streams.key(f"strength {one.name}")))
    strong, weak = _loads(len(numbers), sizes, profile.rho_mean)
    loads: dict[str, tuple[float, ...]] = {}
    start = 0
    for factor, size in enumerate(sizes):
        for column in order[start : start + size]:
            loads[column.name] = _along(factor, strong + float(rng.uniform(-_JITTER, _JITTER)), column)
        start += size
    for place, column in enumerate(order[start:]):
        loads[column.name] = _along(place % _FACTORS, weak, column) if weak else ()
    return tuple(
        column.model_copy(update={"loadings": loads[column.name]}) if column.name in loads else column
        for column in columns
    )


def _is_number(column: Column) -> bool:
    law = column.distribution
    is_bit = isinstance(law, Quantiles) and law.grid == 1 and law.values[-1] <= 1
    return isinstance(law, Normal | LogNormal | Uniform | Quantiles) and not is_bit


def _sizes(count: int, share: float) -> list[int]:
    """Return the sizes of up to three groups within which pairs are strong, so that their share is as wanted."""
    pairs = np.arange(count + 1) * (np.arange(count + 1) - 1) / 2
    best, least = [0], np.inf
    for one in range(count + 1):
        for two in range(min(one, count - one) + 1):
            three_most = min(two, count - one - two)
            three = int(np.argmin(np.abs((pairs[one] + pairs[two] + pairs[: three_most + 1]) / pairs[-1] - share)))
            miss = abs((pairs[one] + pairs[two] + pairs[three]) / pairs[-1] - share)
            miss += 0.002 * (two == 0) * (share > 0.2)
            if miss < least - 1e-12:
                best, least = [size for size in (one, two, three) if size > 1], miss
    return best


def _loads(count: int, sizes: Sequence[int], rho_mean: float) -> tuple[float, float]:
    """Return the loading within groups for which the mean correlation is as wanted, and that of all other columns.

    The second is above 0 if nearly all pairs are a little correlated.
    """
    pairs, inside = count * (count - 1) / 2, sum(size * (size - 1) / 2 for size in sizes)
    strong = weak = 0.0
    if inside:
        wanted = (rho_mean - (pairs - inside) / pairs * _NOISE * 1.4) * pairs / inside
        strong = float(np.sqrt(np.clip(wanted, _LEAST_STRONG, _MOST_LOAD**2 - 0.02)))
    if sum(sizes) < count:
        rest = (rho_mean * pairs - inside * 0.5) / max(pairs - inside, 1.0)
        weak = float(np.sqrt(np.clip(rest - _NOISE, 0.0, 0.2)))
    return strong, weak


def _along(factor: int, load: float, column: Column) -> tuple[float, ...]:
    """Return loadings on one factor, with the sign of the column's strongest loading so far."""
    strongest = max(column.loadings, key=abs, default=1.0)
    size = int(min(max(load, 0.0), _MOST_LOAD) * 1e4) / 1e4
    return tuple((size if strongest >= 0 else -size) if place == factor else 0.0 for place in range(_FACTORS))
