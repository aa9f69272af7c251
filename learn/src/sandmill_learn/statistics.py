"""Intervals and tests whose unit is a family of tasks: draws and samples of one table are no independent evidence."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from sandmill.errors import InputError, Problem
from sandmill.models.base import Frozen
from sandmill.models.reports import Medal
from sandmill_learn.results import Scored

Value = Callable[[Scored], float]
"""What is measured of a row."""

RESAMPLES = 10_000
LEVEL = 0.95

_BLOCK = 2_000
"""Resamples at once, which bounds the memory."""


class ConfidenceInterval(Frozen):
    """An estimate with its confidence interval."""

    estimate: float
    low: float
    high: float
    families: int
    """Families that both arms have."""

    def __str__(self) -> str:
        return f"{self.estimate:+.3f} [{self.low:+.3f}, {self.high:+.3f}]"


class SignTest(Frozen):
    """How often one arm is better than another."""

    wins: int
    losses: int
    ties: int
    p_value: float
    """Two-sided, of the binomial test without ties; 1 if there are only ties."""


def gap(row: Scored) -> float:
    """Return the share of the gap."""
    return row.gap


def any_medal(row: Scored) -> float:
    """Return 1 for a medal of any colour."""
    return float(row.medal is not None)


def gold_medal(row: Scored) -> float:
    """Return 1 for gold."""
    return float(row.medal is Medal.GOLD)


def is_valid(row: Scored) -> float:
    """Return 1 for a valid submission."""
    return float(row.valid)


def unit_means(rows: Iterable[Scored], value: Value = gap) -> dict[int, dict[str, float]]:
    """Return the mean of each family by seed: first over the samples of a task, then over the tasks of a family."""
    tasks: dict[tuple[int, str, str], list[float]] = defaultdict(list)
    for row in rows:
        tasks[row.seed, row.family, row.task_id].append(value(row))
    families: dict[tuple[int, str], list[float]] = defaultdict(list)
    for (seed, family, _), values in sorted(tasks.items()):
        families[seed, family].append(float(np.mean(values)))
    means: dict[int, dict[str, float]] = defaultdict(dict)
    for (seed, family), values in families.items():
        means[seed][family] = float(np.mean(values))
    return dict(means)


def family_means(rows: Iterable[Scored], value: Value = gap) -> dict[str, float]:
    """Return the mean of each family over all seeds."""
    by_family: dict[str, list[float]] = defaultdict(list)
    for means in unit_means(rows, value).values():
        for family, mean in means.items():
            by_family[family].append(mean)
    return {family: float(np.mean(values)) for family, values in sorted(by_family.items())}


def mean_of(rows: Iterable[Scored], value: Value = gap) -> float:
    """Return the mean over families; not a number without rows."""
    means = family_means(rows, value)
    return float(np.mean(list(means.values()))) if means else float("nan")


def mean_interval(
    rows: Sequence[Scored], value: Value = gap, *, seed: int = 0, resamples: int = RESAMPLES
) -> ConfidenceInterval:
    """Return the mean of one arm over families, with its interval."""
    table, names = _table(rows, value, None)
    means, estimate = _resample_means([table], seed, resamples)
    low, high = _percentiles(means[0], len(names))
    return ConfidenceInterval(estimate=float(estimate[0]), low=low, high=high, families=len(names))


def paired_difference(
    arm: Sequence[Scored],
    other: Sequence[Scored],
    value: Value = gap,
    *,
    seed: int = 0,
    resamples: int = RESAMPLES,
) -> ConfidenceInterval:
    """Return the mean difference of two arms over their common families, with its interval.

    Families are resampled together for both arms, training seeds of each arm apart. The interval is the expanded
    percentile interval (Hesterberg 2015, doi 10.1080/00031305.2015.1089789), since plain percentiles are too narrow
    for few families.

    Raises:
        InputError: the arms have fewer than two families in common.
    """
    (means, estimates), families = _paired(arm, other, value, seed, resamples)
    low, high = _percentiles(means[0] - means[1], families)
    return ConfidenceInterval(estimate=float(estimates[0] - estimates[1]), low=low, high=high, families=families)


def sign_test(arm: Sequence[Scored], other: Sequence[Scored], value: Value = gap, *, tie: float = 1e-9) -> SignTest:
    """Count the families on which an arm is better, worse and equal. Differences up to `tie` are equal."""
    from scipy.stats import binomtest

    first, second = family_means(arm, value), family_means(other, value)
    differences = [first[family] - second[family] for family in first.keys() & second.keys()]
    wins = sum(difference > tie for difference in differences)
    losses = sum(difference < -tie for difference in differences)
    p_value = float(binomtest(wins, wins + losses).pvalue) if wins + losses else 1.0
    return SignTest(wins=wins, losses=losses, ties=len(differences) - wins - losses, p_value=p_value)


def gap_given_valid(rows: Iterable[Scored]) -> float:
    """Return the mean gap of valid submissions, over families that have one."""
    return mean_of((row for row in rows if row.valid), gap)


def _table(
    rows: Sequence[Scored], value: Value, families: Sequence[str] | None
) -> tuple[NDArray[np.float64], list[str]]:
    """Return means as seeds x families. Families that a seed lacks are left out.

    Raises:
        InputError: there are fewer than two families.
    """
    means = unit_means(rows, value)
    shared = set.intersection(*(set(one) for one in means.values())) if means else set()
    names = sorted(shared if families is None else shared.intersection(families))
    if len(names) < 2:
        problem = Problem("families", str(len(names)), "two or more that both arms were scored on")
        raise InputError("statistics", [problem], "")
    return np.array([[one[name] for name in names] for _, one in sorted(means.items())]), names


def _paired(
    arm: Sequence[Scored], other: Sequence[Scored], value: Value, seed: int, resamples: int
) -> tuple[tuple[NDArray[np.float64], NDArray[np.float64]], int]:
    names = _table(arm, value, None)[1]
    second, names = _table(other, value, names)
    first, names = _table(arm, value, names)
    return _resample_means([first, second], seed, resamples), len(names)


def _resample_means(
    tables: Sequence[NDArray[np.float64]], seed: int, resamples: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return resampled means as arms x resamples, and the mean of each arm."""
    generator = np.random.default_rng([seed, RESAMPLES])
    families = tables[0].shape[1]
    blocks = []
    for start in range(0, resamples, _BLOCK):
        size = min(_BLOCK, resamples - start)
        weights = generator.multinomial(families, np.full(families, 1 / families), size) / families
        blocks.append([((_seed_weights(len(one), size, generator) @ one) * weights).sum(axis=1) for one in tables])
    return np.concatenate([np.array(block) for block in blocks], axis=1), np.array([one.mean() for one in tables])


def _seed_weights(seeds: int, size: int, generator: np.random.Generator) -> NDArray[np.float64]:
    """Return weights of resampled seeds, spread so that their variance has no bias.

    Plain resampling of 3 seeds would lack a third of the variance.
    """
    if seeds == 1:
        return np.ones((size, 1))
    drawn = generator.multinomial(seeds, np.full(seeds, 1 / seeds), size) / seeds
    spread: NDArray[np.float64] = 1 / seeds + np.sqrt(seeds / (seeds - 1)) * (drawn - 1 / seeds)
    return spread


def _percentiles(values: NDArray[np.float64], families: int) -> tuple[float, float]:
    """Return the ends of the expanded percentile interval."""
    from scipy.stats import norm, t

    tail = (1 - LEVEL) / 2
    wider = float(norm.cdf(np.sqrt(families / (families - 1)) * t.ppf(tail, families - 1)))
    low, high = np.quantile(values, [wider, 1 - wider], method="inverted_cdf")
    return float(low), float(high)
