"""Rounding of feedback scores. One answer reveals at most eight bits about the labels."""

from dataclasses import dataclass
from math import floor, isfinite, log10

from sandmill.errors import InputError, Problem
from sandmill.models.calibration import Calibration, Tier
from sandmill.models.structure import MetricName
from sandmill.scoring import get_metric

MOST_ANSWERS = 251
"""Number of different answers to a valid submission: 250 rounded scores and `below_baseline`. Just under 8 bits."""

_MIN_STEPS = 100
"""Smallest number of rounding steps from the baseline to a perfect score. With `_DIGITS` the largest number is 250."""
_DIGITS = (1, 2, 5)
"""First digits of a rounding step."""


@dataclass(frozen=True)
class Rounding:
    """A grid of scores from the trivial baseline to a perfect score.

    The grid depends only on the baseline's feedback score, which anyone can estimate from the training targets. A grid
    that depended on the oracle or on thresholds would reveal them.
    """

    step: float
    """Rounding step, a round number. Scores are shown as multiples of it."""
    baseline: int
    """Score of the trivial solver on the feedback part, in steps."""
    perfect: int
    """Best possible score, in steps."""

    def round(self, score: float) -> float | None:
        """Round a score. Returns None if it is not finite, or if the rounded score is no better than the baseline."""
        if not isfinite(score):
            return None
        steps, sign = round(score / self.step), 1 if self.perfect > self.baseline else -1
        if sign * steps <= sign * self.baseline:
            return None
        steps = sign * min(sign * steps, sign * self.perfect)
        return float(f"{steps * self.step:.10g}")


def rounding_of(calibration: Calibration, metric: MetricName) -> Rounding:
    """Return the rounding grid of a task. A leaderboard without a trivial solver is an `InputError`."""
    scores = [entry.feedback for entry in calibration.board if entry.tier is Tier.TRIVIAL]
    if not scores:
        problem = Problem("calibration.board", "no entry of the trivial tier", "an unchanged published task")
        raise InputError("feedback", [problem], "")
    is_lower_better = get_metric(metric).is_lower_better
    baseline = min(scores) if is_lower_better else max(scores)
    perfect = 0.0 if is_lower_better else 1.0
    largest = (abs(perfect - baseline) or 1.0) / _MIN_STEPS
    power = floor(log10(largest))
    digit = max(digit for digit in _DIGITS if digit * 10.0**power <= largest * (1 + 1e-9))
    step = float(f"{digit}e{power}")
    return Rounding(step, round(baseline / step), round(perfect / step))
