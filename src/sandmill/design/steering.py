"""Turn the hardness knob of a slot until the measured difficulty lies in the wanted band."""

from collections.abc import Sequence

import numpy as np

from sandmill.design.difficulty_curves import HARDNESS, difficulty_curve
from sandmill.models.base import Band
from sandmill.models.calibration import band_ends
from sandmill.models.structure import Structure

AIM = {Band.EASY: 0.22, Band.MEDIUM: 0.39, Band.HARD: 0.61, Band.EXPERT: 0.77}
"""Difficulty that a search heads for: inside the band, but drawn towards the middle of the scale.

Near 0 all solvers are as good as the oracle and near 1 none learns anything: thresholds would be ties.
"""

ACCEPTED = (0.15, 0.92)
"""Difficulties between which a search stops. Of 240 designs, 94 % of those from 0.35 to 0.75 became tasks, but 1 of 9
below 0.15 and 4 of 14 above 0.92: there medals seldom lie 2 % of the gap apart, or a constant wins one."""

NEAR = 0.02
"""Difficulty by which a band may be missed typically: so near, a search soon finds a design in it."""


def accepted_range(band: Band) -> tuple[float, float]:
    """Difficulties that a search for a band stops at, from the first up to the second."""
    low, high = band_ends(band)
    return max(low, ACCEPTED[0]), min(high, ACCEPTED[1])


def beyond_reach(structure: Structure, band: Band) -> float:
    """How far a band lies beyond what designs of a structure typically reach; 0 where the knob gets there."""
    curve = difficulty_curve(structure)
    low, high = accepted_range(band)
    return max(0.0, curve[0] - high - NEAR, low - NEAR - curve[-1])


def first_hardness(structure: Structure, band: Band) -> float:
    """Hardness at which designs of a structure typically lie where a search for the band heads."""
    return round(_typical_hardness(structure, AIM[band]), 3)


def steer(structure: Structure, band: Band, tried: Sequence[tuple[float, float]]) -> float:
    """Choose the next hardness: step as far as a typical design would need, and bisect where that has failed.

    It has failed once the band is straddled, or after two steps that did not reach it.

    Args:
        structure: the seed's, whose typical curve is followed.
        band: the wanted band.
        tried: (hardness, measured difficulty) of the design so far, none of them in the band.

    Returns:
        A hardness in 0..1 between the hardest design that was too easy and the easiest that was too hard.
    """
    least, _ = accepted_range(band)
    too_easy = [hardness for hardness, difficulty in tried if difficulty < least]
    too_hard = [hardness for hardness, difficulty in tried if difficulty >= least]
    low, high = max(too_easy, default=0.0), min(too_hard, default=1.0)
    hardness, difficulty = tried[-1]
    guess = hardness + _typical_hardness(structure, AIM[band]) - _typical_hardness(structure, difficulty)
    has_failed = bool(too_easy and too_hard) or len(tried) > 2
    return round(guess if low < guess < high and not has_failed else (low + high) / 2, 3)


def _typical_hardness(structure: Structure, difficulty: float) -> float:
    curve = difficulty_curve(structure)
    return float(np.interp(difficulty, curve, HARDNESS))
