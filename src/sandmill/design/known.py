"""How well the target of a design can be known, so that usual models score as on its seed as far as the band allows.

Difficulty depends on the best score and on how much usual models miss, so a seed's score goes with more than one band.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from math import exp, sqrt

import numpy as np
import yaml
from scipy.special import expit, logit

from sandmill.design.prior_graph import spread_of
from sandmill.mechanism.columns import Floats
from sandmill.mechanism.sampling import draw_rows
from sandmill.models.base import Band, Frozen
from sandmill.models.columns import Categorical, Unit
from sandmill.models.links import BinaryLink, CountLink, Link, class_names
from sandmill.models.mechanism import Mechanism
from sandmill.models.profile import SMALL_ROWS
from sandmill.models.structure import MetricName, TargetKind
from sandmill.rng import Streams
from sandmill.seeds.profile import Cells, scores_of

AIM = {Band.EASY: 0.22, Band.MEDIUM: 0.39, Band.HARD: 0.61, Band.EXPERT: 0.77}
"""Difficulty that a search aims at: inside the band, but drawn towards the middle of the scale. Near 0 all solvers
score like the oracle, and near 1 none learns anything: thresholds would be ties."""
HARDNESS = (0.0, 0.25, 0.5, 0.75, 1.0)
"""Hardness values at which difficulty was measured."""
_TOLERATED = 0.1
"""Distance of two scores that count as equal."""
_ODDS, _POSITIONS = np.meshgrid(np.linspace(-1.4, 5.0, 33), np.linspace(0.0, 1.0, 21))
"""Log-odds of the best possible score, and positions of hardness, that designs may have."""
_FALL = 2.0
"""How far the log-odds of the best score fall from hardness 0 to 1, so that hardness reaches other bands if need be."""
_OF_DIFFICULTY, _OF_HARDNESS = 2.0, 0.05
"""Costs of a miss of the wanted difficulty and of a step from hardness 0 to 1, relative to a miss of the score."""
_MOST_SPREAD, _COUNT_SPREADS = 14.0, (0.3, 1.2)
"""Largest standard deviation of the rule for classes, in log-odds; least and largest for counts, in log counts."""


class Fit(Frozen):
    """Difficulty and score of usual models on designs for one kind of target. The file explains the numbers."""

    usual: MetricName
    difficulty: tuple[float, float, float, float]
    reached: tuple[float, float, float]
    uneven: float

    def difficulty_at(self, odds: Floats, hardness: Floats, moved: Sequence[float]) -> Floats:
        """Return the typical difficulty at some log-odds of the best score and some hardness."""
        constant, by_hardness, by_odds, by_square = self.difficulty
        plain = constant + by_hardness * hardness + by_odds * odds + by_square * odds**2
        return np.asarray(plain + np.interp(hardness, HARDNESS, moved))


FITS: Mapping[TargetKind, Fit] = {
    TargetKind(target): Fit(**numbers)
    for target, numbers in yaml.safe_load(files("sandmill.design").joinpath("known.yaml").read_text("utf-8")).items()
}
"""Kinds of targets whose designs have the score of their seed."""


_REACH, _STEPS = 2.0, 4
"""How far the log-odds of the best score may lie from those that bands ask for, and halvings of this distance."""
_NEAR, _SAMPLES = 0.02, 4
"""Distance of two scores, or of log-odds, at which the search ends, and small samples on which models are scored."""


@dataclass(frozen=True)
class Aim:
    """Best possible score of the designs of a slot, and their typical difficulty, at each position of `HARDNESS`."""

    odds: Sequence[float]
    """Log-odds of the best score, from trivial (0) to perfect (1)."""
    curve: tuple[float, ...]
    miss: float
    """How far the expected score of usual models lies from that on the seed's table, beyond what counts as equal."""

    @classmethod
    def at(cls, fit: Fit, seen: float, band: Band, moved: Sequence[float]) -> "Aim":
        """Choose best score and hardness with which usual models score in a band as on the seed's table, `seen`.

        `moved` says how much harder designs are than the fit, at each position of `HARDNESS`.
        """
        difficulty = fit.difficulty_at(_ODDS, _POSITIONS, moved)
        constant, by_difficulty, by_odds = fit.reached
        miss = np.abs(expit(_ODDS) * (constant + by_difficulty * difficulty + by_odds * _ODDS) - seen)
        best = np.argmin(miss + _OF_DIFFICULTY * np.abs(difficulty - AIM[band]) + _OF_HARDNESS * _POSITIONS)
        odds = _ODDS.flat[best] - _FALL * (np.array(HARDNESS) - _POSITIONS.flat[best])
        odds = np.clip(odds, _ODDS.min(), _ODDS.max())
        curve = fit.difficulty_at(odds, np.array(HARDNESS), moved)
        return cls(odds.tolist(), tuple(curve.tolist()), max(0.0, float(miss.flat[best]) - _TOLERATED))

    def score_at(self, hardness: float) -> float:
        """Return the best possible score at a hardness, from trivial (0) to perfect (1)."""
        return round(float(expit(np.interp(hardness, HARDNESS, self.odds))), 4)


def rule_spread(link: Link, score: float, shares: Sequence[float]) -> float:
    """Return the standard deviation of the rule with which the best score is as wanted; 1 where links declare noise.

    Scores of classes, which have these shares, are twice the area under the ROC curve less one.
    """
    if class_names(link):
        share = shares[1] if isinstance(link, BinaryLink) else float(np.mean(shares))
        return spread_of((1 + score) / 2, share, _MOST_SPREAD)
    if isinstance(link, CountLink):
        known = (link.dispersion + exp(-link.intercept)) * score / (1 - score)
        return round(float(np.clip(sqrt(known), *_COUNT_SPREADS)), 4)
    return 1.0


def score_like(usual: float, wanted: float, scored: Callable[[float], float]) -> float:
    """Return the best score, not too far from the usual one, at which a model scores as wanted.

    `scored` says how models score at a best score.
    """
    odds, step = float(logit(usual)), _REACH / 2
    for _ in range(_STEPS):
        miss = wanted - scored(float(expit(odds)))
        moved = float(np.clip(odds + step * np.sign(miss), _ODDS.min(), _ODDS.max()))
        if abs(miss) <= _NEAR or abs(moved - odds) <= _NEAR:
            break
        odds, step = moved, step / 2
    return round(float(expit(odds)), 4)


def linear_score(mechanism: Mechanism, target: TargetKind, rows: int, streams: Streams) -> float:
    """Return the score of a linear model on the training rows of a mechanism, measured as on tables of seeds."""
    samples = np.arange(_SAMPLES * min(rows, SMALL_ROWS)).reshape(_SAMPLES, -1)
    draw = draw_rows(mechanism, streams, range(samples.size), is_train=True)
    words = {fault.column for fault in mechanism.mixed_types()}
    words |= {one.name for one in mechanism.columns if isinstance(one.distribution, Categorical | Unit)}
    names = [one.name for one in mechanism.columns if not one.in_text]
    cells = [Cells.of_numbers(draw.observed[name], is_code=name in words) for name in names]
    return scores_of(cells, [Cells.of_numbers(draw.target)], target, list(samples), 1)[0] or 0.0
