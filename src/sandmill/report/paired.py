"""Paired difference of two sets of rollouts on the same tasks, with an interval that knows which tasks are related."""

from collections.abc import Sequence
from math import sqrt

import numpy as np
from numpy.typing import NDArray

from sandmill.fingerprint import fingerprint
from sandmill.models.base import Frozen
from sandmill.rng import Streams

RESAMPLES = 2_000
LEVEL = 0.95
_EQUAL = 1e-9
"""Means of a task that differ by less are equal."""
_DIGITS = 6
"""Of results, so that versions of numpy do not change them."""
_BLOCK = 200
"""Resamples at once, which bounds the memory."""


class PairedTask(Frozen):
    """One task that both sets have played."""

    task_id: str
    cluster: str
    """Design of the task. Replicates of one design are no independent evidence."""
    before: float
    """Mean over the rollouts of the first set."""
    after: float

    @property
    def difference(self) -> float:
        """How much the second set is above the first."""
        return self.after - self.before


class PairedDifference(Frozen):
    """Mean difference over tasks."""

    tasks: int
    clusters: int
    mean: float | None
    """None without common tasks."""
    low: float | None
    """Lower end of the 95 % interval. None with fewer than two clusters."""
    high: float | None
    better: int
    worse: int
    equal: int


def paired_difference(tasks: Sequence[PairedTask]) -> PairedDifference:
    """Return the mean difference with the percentile interval of a cluster bootstrap.

    Clusters are drawn with replacement, each with all of its tasks. The result depends on the tasks alone, not on their
    order. The percentiles are those of a t distribution, since plain ones are too narrow for few clusters (Hesterberg
    2015, doi 10.1080/00031305.2015.1089789).
    """
    ordered = sorted(tasks, key=lambda task: task.task_id)
    differences = [task.difference for task in ordered]
    better = sum(difference > _EQUAL for difference in differences)
    worse = sum(difference < -_EQUAL for difference in differences)
    sums: dict[str, list[float]] = {}
    for task in ordered:
        sums.setdefault(task.cluster, []).append(task.difference)
    low, high = _interval(sums, fingerprint([task.model_dump() for task in ordered])) if len(sums) > 1 else (None, None)
    return PairedDifference(
        tasks=len(ordered),
        clusters=len(sums),
        mean=round(float(np.mean(differences)), _DIGITS) if differences else None,
        low=low,
        high=high,
        better=better,
        worse=worse,
        equal=len(ordered) - better - worse,
    )


def _interval(clusters: dict[str, list[float]], identity: str) -> tuple[float, float]:
    from scipy.stats import norm, t

    totals = np.array([sum(values) for values in clusters.values()])
    sizes = np.array([float(len(values)) for values in clusters.values()])
    means = _resampled_means(totals, sizes, Streams(b"paired difference", identity).generator("clusters"))
    number = len(clusters)
    tail = float(norm.cdf(sqrt(number / (number - 1)) * t.ppf((1 - LEVEL) / 2, number - 1)))
    low, high = np.quantile(means, [tail, 1 - tail], method="inverted_cdf")
    return round(float(low), _DIGITS), round(float(high), _DIGITS)


def _resampled_means(
    totals: NDArray[np.float64], sizes: NDArray[np.float64], generator: np.random.Generator
) -> NDArray[np.float64]:
    number, means = len(totals), []
    for start in range(0, RESAMPLES, _BLOCK):
        drawn = generator.integers(0, number, (min(_BLOCK, RESAMPLES - start), number))
        means.append(totals[drawn].sum(axis=1) / sizes[drawn].sum(axis=1))
    return np.concatenate(means)
