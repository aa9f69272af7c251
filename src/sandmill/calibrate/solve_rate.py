"""How often agents solve a task: the share of them that reach bronze, and the share of scripts that reach silver."""

from collections.abc import Sequence
from math import comb

import numpy as np

from sandmill.calibrate.measure import band_of
from sandmill.calibrate.panel import PanelRun, Rows
from sandmill.calibrate.pipelines import PIPELINES_VERSION
from sandmill.models.calibration import Calibration, MedalHardness, SolveRate
from sandmill.scoring import Metric
from sandmill.scoring.base import SCORE_DECIMALS, Array, Floats

ATTEMPTS = 3
RESAMPLES = 1000
GROUP = 8
"""Scripts of a group for medal hardness. A single script of the distribution seldom reaches silver, so its share alone
would call every task expert."""


def solve_rate(
    runs: Sequence[PanelRun],
    truth: Array,
    feedback_rows: Rows,
    final_rows: Rows,
    bronze: float,
    metric: Metric,
    rng: np.random.Generator,
) -> SolveRate:
    """Measure the share of agents that reach bronze: three pipelines each, the best on feedback submitted.

    Exact over all triples of the pipelines that were run. The interval, 5 % to 95 %, is what other draws of as many
    pipelines would have given.

    Raises:
        ValueError: for fewer runs than an agent makes.
    """
    if len(runs) < ATTEMPTS:
        raise ValueError(f"{len(runs)} runs; an agent tries {ATTEMPTS}")
    sign = -1 if metric.is_lower_better else 1
    feedback = [sign * _score(run, truth, feedback_rows, metric) for run in runs]
    final = [sign * _score(run, truth, final_rows, metric) for run in runs]
    order = np.argsort(-np.nan_to_num(feedback, nan=-np.inf), kind="stable")
    reached = (np.nan_to_num(final, nan=-np.inf) >= sign * bronze)[order]
    chances = choice_chances(len(runs), ATTEMPTS)
    drawn = np.sort(rng.integers(len(runs), size=(RESAMPLES, len(runs))), axis=1)
    low, high = np.quantile(reached[drawn] @ chances, (0.05, 0.95))
    value = round(float(reached @ chances), 6)
    return SolveRate(
        value=value,
        low=round(min(float(low), value), 6),
        high=round(min(max(float(high), value), 1.0), 6),
        pipelines=len(runs),
        attempts=ATTEMPTS,
        version=PIPELINES_VERSION,
    )


def reaches_silver(run: PanelRun, truth: Array, rows: Rows, metric: Metric, measured: Calibration) -> bool:
    """Whether a run reaches silver on some final rows."""
    if not run.has_run:
        return False
    score, silver = round(metric.score(truth, run.on(rows)), SCORE_DECIMALS), measured.thresholds.silver
    return score <= silver if measured.is_lower_better else score >= silver


def medal_hardness(reached: Sequence[Sequence[bool]], rng: np.random.Generator) -> MedalHardness:
    """Measure the chance that no script of a group reaches silver, by which scripts reach it on each training draw."""
    reaching = np.array(reached, dtype=float).mean(axis=0)
    drawn = reaching[rng.integers(len(reaching), size=(RESAMPLES, len(reaching)))].mean(axis=1)
    share = float(reaching.mean())
    value = round((1 - share) ** GROUP, 6)
    low, high = np.quantile((1 - drawn) ** GROUP, (0.05, 0.95))
    return MedalHardness(
        value=value,
        low=round(min(float(low), value), 6),
        high=round(max(float(high), value), 6),
        band=band_of(value),
        share=round(share, 6),
        scripts=GROUP,
        draws=len(reached),
        version=PIPELINES_VERSION,
    )


def choice_chances(items: int, attempts: int) -> Floats:
    """Share of all samples of a given size in which the item of each rank is the best one."""
    sets = comb(items, attempts)
    return np.array([comb(items - 1 - rank, attempts - 1) / sets for rank in range(items)])


def _score(run: PanelRun, truth: Array, rows: Rows, metric: Metric) -> float:
    """Score at the precision at which medals are decided, by the fast way; NaN for what failed or has no score."""
    if not run.has_run:
        return float("nan")
    return round(metric.score(truth[rows], run.on(rows)), SCORE_DECIMALS)
